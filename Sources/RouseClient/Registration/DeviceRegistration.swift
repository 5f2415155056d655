public import Foundation

/// The state of the device that Rouse needs: its tokens, and the widgets, controls and Live Activities that it shows.
///
/// A registration replaces the one before as a whole. `schemas/registration.schema.json` has the bounds of each field; the gateway refuses
/// what is beyond them.
public struct DeviceRegistration: Sendable, Equatable, Codable {
  /// The platform: `iOS`, `iPadOS`, `macOS`, `watchOS` or `visionOS`.
  public var platform: String
  /// The version of the system, such as `26.1`.
  public var osVersion: String
  /// The IANA id of the time zone. Budget days and quiet hours follow it.
  public var timeZone: String
  /// Whether WidgetKit Developer Mode is on: no budgets apply, and nothing is learnt from the device.
  public var developerMode = false
  /// The tokens of the app install.
  public var tokens = InstallTokens()
  /// The placed widgets.
  public var widgets: [PlacedWidget] = []
  /// The placed controls.
  public var controls: [PlacedControl] = []
  /// The running Live Activities.
  public var activities: [RunningActivity] = []
  /// The tokens that can start Live Activities.
  public var pushToStart: [StartToken] = []

  /// Makes a registration of a device that shows nothing yet.
  ///
  /// - Parameters:
  ///   - platform: The platform; by default the one that the app was built for. An app on an iPad names `iPadOS`.
  ///   - osVersion: The version of the system; by default the one that runs.
  ///   - timeZone: The time zone; by default the one of the system.
  public init(
    platform: String = DeviceRegistration.builtFor, osVersion: String = DeviceRegistration.running,
    timeZone: String = TimeZone.current.identifier
  ) {
    self.platform = platform
    self.osVersion = osVersion
    self.timeZone = timeZone
  }

  /// The platform that the app was built for.
  public static var builtFor: String {
    #if os(macOS)
      "macOS"
    #elseif os(watchOS)
      "watchOS"
    #elseif os(visionOS)
      "visionOS"
    #elseif os(iOS)
      "iOS"
    #else
      "Linux"
    #endif
  }

  /// The version of the system that runs, such as `26.1`.
  public static var running: String {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return "\(version.majorVersion).\(version.minorVersion)"
  }
}

extension DeviceRegistration {
  /// The tokens of an app install.
  public struct InstallTokens: Sendable, Equatable, Codable {
    /// The token of WidgetKit's push handler (OS 26 and later).
    public var widgets: PushToken?
    /// The token of remote notifications, for background pushes.
    public var background: PushToken?

    /// Makes tokens.
    ///
    /// - Parameters:
    ///   - widgets: The token of WidgetKit's push handler.
    ///   - background: The token of remote notifications.
    public init(widgets: PushToken? = nil, background: PushToken? = nil) {
      self.widgets = widgets
      self.background = background
    }
  }

  /// A placed widget.
  public struct PlacedWidget: Sendable, Equatable, Codable {
    /// The id, unique among all instances of the device.
    public var id: String
    /// The WidgetKit kind.
    public var kind: String
    /// The family, such as `systemSmall`; nil if it does not matter.
    public var family: String?
    /// Whether the widget's configuration has a push handler.
    public var pushEnabled: Bool
    /// The interest keys: the subjects of the events that the widget is about.
    public var interests: [String]
    /// The time at which the timeline reloads by itself; nil if it is unknown.
    public var nextReload: Date?

    /// Makes a widget.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - kind: The WidgetKit kind.
    ///   - family: The family.
    ///   - pushEnabled: Whether the configuration has a push handler.
    ///   - interests: The interest keys.
    ///   - nextReload: The time at which the timeline reloads by itself.
    public init(
      id: String, kind: String, family: String? = nil, pushEnabled: Bool = true, interests: [String],
      nextReload: Date? = nil
    ) {
      self.id = id
      self.kind = kind
      self.family = family
      self.pushEnabled = pushEnabled
      self.interests = interests
      self.nextReload = nextReload
    }
  }

  /// A placed control.
  public struct PlacedControl: Sendable, Equatable, Codable {
    /// The id, unique among all instances of the device.
    public var id: String
    /// The kind of the control.
    public var kind: String
    /// The control's own token.
    public var token: PushToken
    /// The interest keys.
    public var interests: [String]

    /// Makes a control.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - kind: The kind.
    ///   - token: The control's own token.
    ///   - interests: The interest keys.
    public init(id: String, kind: String, token: PushToken, interests: [String]) {
      self.id = id
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }

  /// A running Live Activity, reached by a token or by a broadcast channel.
  public struct RunningActivity: Sendable, Equatable, Codable {
    /// The id, unique among all instances of the device.
    public var id: String
    /// The attributes type.
    public var kind: String
    /// The activity's own token; nil if it listens to a channel.
    public private(set) var token: PushToken?
    /// The broadcast channel; nil if it has a token.
    public private(set) var channel: String?
    /// The interest keys.
    public var interests: [String]
    /// The time at which the activity started.
    public var startedAt: Date
    /// Whether the person allows frequent updates.
    public var frequentPushes: Bool

    /// Makes an activity with a token.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - kind: The attributes type.
    ///   - token: The activity's own token.
    ///   - interests: The interest keys.
    ///   - startedAt: The time at which the activity started.
    ///   - frequentPushes: Whether the person allows frequent updates.
    public init(
      id: String, kind: String, token: PushToken, interests: [String], startedAt: Date, frequentPushes: Bool = false
    ) {
      self.id = id
      self.kind = kind
      self.token = token
      self.interests = interests
      self.startedAt = startedAt
      self.frequentPushes = frequentPushes
    }

    /// Makes an activity that listens to a broadcast channel.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - kind: The attributes type.
    ///   - channel: The channel.
    ///   - interests: The interest keys.
    ///   - startedAt: The time at which the activity started.
    public init(id: String, kind: String, channel: String, interests: [String], startedAt: Date) {
      self.id = id
      self.kind = kind
      self.channel = channel
      self.interests = interests
      self.startedAt = startedAt
      frequentPushes = false
    }
  }

  /// A token that can start Live Activities of a kind.
  public struct StartToken: Sendable, Equatable, Codable {
    /// The attributes type.
    public var kind: String
    /// The push-to-start token.
    public var token: PushToken
    /// The interest keys: an event that carries one of them may start an activity.
    public var interests: [String]

    /// Makes a push-to-start token.
    ///
    /// - Parameters:
    ///   - kind: The attributes type.
    ///   - token: The push-to-start token.
    ///   - interests: The interest keys.
    public init(kind: String, token: PushToken, interests: [String]) {
      self.kind = kind
      self.token = token
      self.interests = interests
    }
  }
}
