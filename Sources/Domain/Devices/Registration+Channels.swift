/// Broadcast channels: one push to a channel reaches every device that subscribed, so a channel is planned once, as a
/// device of its own that shows one Live Activity. Whoever feeds planners derives these registrations from those of the
/// devices and hands each to the partition of the channel.
extension Registration {
  /// Begins the device id of a channel. No device may be named like this.
  public static let channelPrefix = "channel/"

  /// Whether this stands for a channel.
  public var isChannel: Bool { device.utf8.starts(with: Self.channelPrefix.utf8) }

  /// One registration for each channel that an activity of this device listens to.
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

  /// Whether a planner plans an activity under this registration: one that listens to a channel is planned by the channel.
  public func plansActivity(_ activity: Activity) -> Bool {
    if isChannel { return true }
    if case .channel = activity.address { return false }
    return true
  }

  /// Ids of every instance that a planner plans under this registration.
  public var plannedInstanceIDs: Set<String> {
    Set(
      widgets.map(\.id) + controls.map(\.id) + activities.filter(plansActivity).map(\.id)
        + pushToStart.map { Self.starterID(kind: $0.kind) })
  }

  /// Refuses an id from outside that would stand for a channel.
  public static func requireDevice(_ id: String, path: String) throws(DomainError) {
    guard id.utf8.starts(with: channelPrefix.utf8) else { return }
    throw DomainError(
      .invalidValue, path: path,
      message: "\"\(channelPrefix)…\" stands for broadcast channels; expected another device id")
  }
}
