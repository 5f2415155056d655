/// The state of one device as the app backend knows it: its tokens, and the widgets, controls and Live Activities that
/// it shows. This is the value of a record of `rouse.devices`; a null value there forgets the device.
public struct Registration: Equatable, Sendable {
  /// The id: one app install on one device in one APNs environment. It is the Kafka key, and budgets are counted per device.
  public var device: Identifier
  /// The bundle id of the app.
  public var app: Identifier
  /// The APNs environment of the tokens.
  public var environment: Environment
  /// `iOS`, `iPadOS`, `macOS`, `watchOS`, `visionOS`, as the publisher spells it.
  public var platform: String
  /// The version of the operating system.
  public var osVersion: OSVersion
  /// The IANA time zone id, already checked against the time zone database.
  public var timeZone: String
  /// Whether WidgetKit Developer Mode is on. The device then ignores budgets, so nothing is charged and nothing is learnt.
  public var developerMode: Bool
  /// The push tokens of the app install.
  public var tokens: Tokens
  /// The placed widgets.
  public var widgets: [Widget]
  /// The placed controls.
  public var controls: [Control]
  /// The running Live Activities.
  public var activities: [Activity]
  /// The tokens that can start Live Activities, one for each kind.
  public var pushToStart: [PushToStart]
  /// The instant at which the app backend last heard from the app.
  public var updatedAt: Timestamp

  /// Creates a registration from its parts. Nothing is checked.
  public init(
    device: Identifier, app: Identifier, environment: Environment, platform: String, osVersion: OSVersion,
    timeZone: String,
    developerMode: Bool = false, tokens: Tokens = Tokens(), widgets: [Widget] = [], controls: [Control] = [],
    activities: [Activity] = [], pushToStart: [PushToStart] = [], updatedAt: Timestamp
  ) {
    self.device = device
    self.app = app
    self.environment = environment
    self.platform = platform
    self.osVersion = osVersion
    self.timeZone = timeZone
    self.developerMode = developerMode
    self.tokens = tokens
    self.widgets = widgets
    self.controls = controls
    self.activities = activities
    self.pushToStart = pushToStart
    self.updatedAt = updatedAt
  }

  /// Returns the instance id that decisions and ledgers use for the push-to-start token of a kind.
  /// - Parameter kind: the attributes type of the Live Activities.
  public static func starterID(kind: Identifier) -> Identifier { "start/\(kind)" }

  /// An environment of APNs. A device id belongs to one of them.
  public enum Environment: String, Sendable, CaseIterable { case production, sandbox }

  /// The push tokens of an app install, in hexadecimal digits as APNs wants them.
  public struct Tokens: Equatable, Sendable {
    /// The token of WidgetKit's push handler (OS 26 and later). A push to it reloads every push-enabled widget of the app.
    public var widgets: String?
    /// The app's remote notification token, for background pushes.
    public var background: String?

    /// Creates the tokens. Nil means that the app has not registered the token.
    public init(widgets: String? = nil, background: String? = nil) {
      self.widgets = widgets
      self.background = background
    }
  }

  /// One placed widget.
  public struct Widget: Equatable, Sendable {
    /// The id, unique among the instances of the device.
    public var id: Identifier
    /// The WidgetKit kind.
    public var kind: Identifier
    /// The widget family, such as `systemSmall`.
    public var family: String?
    /// Whether the widget's configuration has a push handler. Default true.
    public var pushEnabled: Bool
    /// The interest keys that the widget subscribes to.
    public var interests: [Identifier]
    /// The instant at which the widget's timeline reloads by itself; nil if it is not known.
    public var nextReload: Timestamp?

    /// Creates a widget. Nothing is checked.
    public init(
      id: Identifier, kind: Identifier, family: String? = nil, pushEnabled: Bool = true, interests: [Identifier],
      nextReload: Timestamp? = nil
    ) {
      self.id = id
      self.kind = kind
      self.family = family
      self.pushEnabled = pushEnabled
      self.interests = interests
      self.nextReload = nextReload
    }
  }

  /// One placed control, which has its own token.
  public struct Control: Equatable, Sendable {
    /// The id, unique among the instances of the device.
    public var id: Identifier
    /// The control kind.
    public var kind: Identifier
    /// The push token, in hexadecimal digits.
    public var token: String
    /// The interest keys that the control subscribes to.
    public var interests: [Identifier]

    /// Creates a control. Nothing is checked.
    public init(id: Identifier, kind: Identifier, token: String, interests: [Identifier]) {
      self.id = id
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }

  /// One running Live Activity, reached by its own token or by a broadcast channel.
  public struct Activity: Equatable, Sendable {
    /// The id, unique among the instances of the device.
    public var id: Identifier
    /// The attributes type.
    public var kind: Identifier
    /// The token or channel that pushes go to.
    public var address: PushTarget
    /// The interest keys that the activity subscribes to. The first one is its subject.
    public var interests: [Identifier]
    /// The instant at which the activity started.
    public var startedAt: Timestamp
    /// Whether the person allows frequent updates. Default false.
    public var frequentPushes: Bool

    /// Creates a Live Activity. Nothing is checked.
    public init(
      id: Identifier, kind: Identifier, address: PushTarget, interests: [Identifier], startedAt: Timestamp,
      frequentPushes: Bool = false
    ) {
      self.id = id
      self.kind = kind
      self.address = address
      self.interests = interests
      self.startedAt = startedAt
      self.frequentPushes = frequentPushes
    }
  }

  /// A token that can start Live Activities of one attributes type.
  public struct PushToStart: Equatable, Sendable {
    /// The attributes type.
    public var kind: Identifier
    /// The push-to-start token, in hexadecimal digits.
    public var token: String
    /// The interest keys whose events may start an activity.
    public var interests: [Identifier]

    /// Creates a push-to-start token. Nothing is checked.
    public init(kind: Identifier, token: String, interests: [Identifier]) {
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }
}

extension Registration.Environment: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number that stands for this environment in files. Never reused for another environment.
  public var number: UInt8 {
    switch self {
    case .production: 0
    case .sandbox: 1
    }
  }
}
