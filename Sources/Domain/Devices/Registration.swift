/// What the app backend knows about one device: its tokens and what it shows. The value of `rouse.devices`; a null value
/// there forgets the device.
public struct Registration: Equatable, Sendable {
  /// The Kafka key and the unit of budget accounting: one app install on one device in one APNs environment.
  public var device: String
  /// Bundle id of the app.
  public var app: String
  public var environment: Environment
  /// `iOS`, `iPadOS`, `macOS`, `watchOS`, `visionOS`, as the publisher spells it.
  public var platform: String
  public var osVersion: OSVersion
  /// IANA time zone id, already checked against the time zone database.
  public var timeZone: String
  /// WidgetKit Developer Mode: the device ignores budgets, so nothing is charged and nothing is learnt from it.
  public var developerMode: Bool
  public var tokens: Tokens
  public var widgets: [Widget]
  public var controls: [Control]
  public var activities: [Activity]
  public var pushToStart: [PushToStart]
  public var updatedAt: Timestamp

  public init(
    device: String, app: String, environment: Environment, platform: String, osVersion: OSVersion, timeZone: String,
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

  /// The instance id that stands for the push-to-start token of a kind, in decisions and ledgers.
  public static func starterID(kind: String) -> String { "start/" + kind }

  /// The APNs environment; one device id belongs to one.
  public enum Environment: String, Sendable, CaseIterable { case production, sandbox }

  /// Push tokens of the app install, hexadecimal as APNs wants them.
  public struct Tokens: Equatable, Sendable {
    /// From WidgetKit's push handler (OS 26 and later): reloads every push-enabled widget of the app.
    public var widgets: String?
    /// The app's remote notification token, for background pushes.
    public var background: String?
    public init(widgets: String? = nil, background: String? = nil) {
      self.widgets = widgets
      self.background = background
    }
  }

  /// One placed widget.
  public struct Widget: Equatable, Sendable {
    /// Unique among the instances of the device.
    public var id: String
    public var kind: String
    public var family: String?
    /// Whether its configuration has a push handler. Default true.
    public var pushEnabled: Bool
    public var interests: [String]
    /// When its timeline reloads by itself, if it said so.
    public var nextReload: Timestamp?
    public init(
      id: String, kind: String, family: String? = nil, pushEnabled: Bool = true, interests: [String],
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

  /// One placed control; it has a token of its own.
  public struct Control: Equatable, Sendable {
    public var id: String
    public var kind: String
    public var token: String
    public var interests: [String]
    public init(id: String, kind: String, token: String, interests: [String]) {
      self.id = id
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }

  /// One running Live Activity, reached by its own token or by a broadcast channel.
  public struct Activity: Equatable, Sendable {
    public var id: String
    public var kind: String
    public var address: Address
    public var interests: [String]
    public var startedAt: Timestamp
    /// The person allows frequent updates. Default false.
    public var frequentPushes: Bool
    public init(
      id: String, kind: String, address: Address, interests: [String], startedAt: Timestamp,
      frequentPushes: Bool = false
    ) {
      self.id = id
      self.kind = kind
      self.address = address
      self.interests = interests
      self.startedAt = startedAt
      self.frequentPushes = frequentPushes
    }
    public enum Address: Equatable, Sendable { case token(String), channel(String) }
  }

  /// A token that can start Live Activities of one attributes type.
  public struct PushToStart: Equatable, Sendable {
    public var kind: String
    public var token: String
    public var interests: [String]
    public init(kind: String, token: String, interests: [String]) {
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }
}

/// `26.1` as numbers: compares the way releases do.
public struct OSVersion: Hashable, Comparable, Sendable {
  public var major: UInt16
  public var minor: UInt16
  public init(major: UInt16, minor: UInt16 = 0) {
    self.major = major
    self.minor = minor
  }
  /// Reads `26`, `26.1` or `26.1.2` (the patch level is dropped); nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let major = UInt16(parts[0]) else { return nil }
    var minor: UInt16 = 0
    if parts.count > 1 {
      guard let value = UInt16(parts[1]) else { return nil }
      minor = value
    }
    if parts.count > 2, UInt16(parts[2]) == nil { return nil }
    self.init(major: major, minor: minor)
  }
  public static func < (a: OSVersion, b: OSVersion) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}

extension OSVersion: CustomStringConvertible {
  public var description: String { "\(major).\(minor)" }
}
