import Domain

/// The stream of changes that one measured instance could show, in the order of the log.
struct InstanceStream: Sendable {
  /// The id of the device.
  let device: Identifier
  /// The bundle id of the app.
  let app: Identifier
  /// The id of the instance.
  let instance: Identifier
  /// The name of the kind.
  let kind: Identifier
  /// The IANA id of the device's time zone.
  let zone: String
  /// The pushes that reload the instance.
  let reach: Reach
  /// The visible changes, in the order of the log. A change that looks like the one before it is left out.
  var arrivals: [Arrival] = []
  /// The truth that the instance displays, and its changes.
  var screen = ScreenStream(measures: [])

  /// The kind of push that reloads an instance.
  enum Reach: Sendable {
    /// A widget push, which reloads all push-enabled widgets of the device.
    case widgetPush
    /// A background push that names the kind.
    case backgroundPush
    /// A background push that names the kind, and every widget push to the device.
    case both
    /// A push to the control's own token.
    case control
  }
}
