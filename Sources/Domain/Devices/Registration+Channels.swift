/// Broadcast channels. One push to a channel reaches every device that subscribed to it, so a channel is planned once,
/// as if it were a separate device that shows one Live Activity. Intake derives the registrations of channels from
/// those of devices, and appends each to the log partition of the channel.
extension Registration {
  /// The prefix of device ids that denote channels. The id of a real device must not begin with it.
  public static let channelPrefix: Identifier = "channel/"

  /// Whether the registration is that of a channel.
  public var isChannel: Bool { device.hasPrefix(Self.channelPrefix) }

  /// Returns one registration for each channel that an activity of this device listens to.
  public func channels() -> [Registration] {
    if isChannel { return [] }
    return activities.compactMap { activity in
      guard case .channel(let channel) = activity.address else { return nil }
      var subscribed = activity
      subscribed.id = "activity"
      subscribed.frequentPushes = false
      return Registration(
        device: "\(Self.channelPrefix)\(app)/\(environment.rawValue)/\(channel)", app: app, environment: environment,
        platform: platform, osVersion: osVersion, timeZone: "GMT", activities: [subscribed], updatedAt: updatedAt)
    }
  }

  /// Whether a planner plans an activity under this registration. An activity that listens to a channel is planned under the
  /// registration of the channel.
  /// - Parameter activity: an activity of this registration.
  public func plansActivity(_ activity: Activity) -> Bool {
    if isChannel { return true }
    if case .channel = activity.address { return false }
    return true
  }

  /// The ids of all instances that a planner plans under this registration.
  public var plannedInstanceIDs: Set<Identifier> {
    Set(
      widgets.map(\.id) + controls.map(\.id) + activities.filter(plansActivity).map(\.id)
        + pushToStart.map { Self.starterID(kind: $0.kind) })
  }

  /// Rejects a public device id that has the channel prefix.
  /// - Parameters:
  ///   - id: the id.
  ///   - path: the place of the id, for the message.
  /// - Throws: `DomainError` if the id has the channel prefix.
  public static func requireDevice(_ id: Identifier, path: String) throws(DomainError) {
    guard id.hasPrefix(channelPrefix) else { return }
    throw DomainError(
      .invalidValue, path: path,
      message: "\"\(channelPrefix)…\" stands for broadcast channels; expected another device id")
  }
}
