import Domain

/// Computes the instances that are interested in each event, from the log alone and without a planner.
struct InterestFold {
  private struct Device {
    var updatedAt: Int64
    var instances: [(id: Identifier, interests: [Identifier])]
    /// The start of a channel's newest activity and the end of the last one, in µs since 1970.
    var startedAt: Int64 = .min
    var endsAt: Int64 = .max
  }
  private var devices: [Identifier: Device] = [:]
  private var seen: Set<Identifier> = []
  /// The longest life of an activity, in µs; source: Apple, Displaying live data with Live Activities.
  private static let activityLife: Int64 = 8 * 3_600_000_000

  /// Takes the next record of the log.
  ///
  /// - Returns: Whether an event comes for the first time, the instances that it reaches, and the push-to-start tokens that it may reach:
  ///   the policy says what starts an activity.
  mutating func take(_ content: LogRecord.Content, now: Int64) -> (
    Bool, [ReferencePlanner.Interested], starters: [ReferencePlanner.Interested]
  ) {
    for (device, state) in devices where state.endsAt <= now { devices[device] = nil }
    switch content {
    case .registration(let registration): register(registration, now: now)
    case .forget(let device): devices[device] = nil
    case .event(let event):
      let found = interested(event)
      return (
        seen.insert(event.id).inserted, found.filter { !Self.isStarter($0) }, starters: found.filter(Self.isStarter)
      )
    case .signal, .policy, .claims, .tick: break
    }
    return (false, [], starters: [])
  }

  private static func isStarter(_ one: ReferencePlanner.Interested) -> Bool { one.instance.text.hasPrefix("start/") }

  private mutating func register(_ registration: Registration, now: Int64) {
    let known = devices[registration.device]
    guard registration.updatedAt.microseconds >= known?.updatedAt ?? .min else { return }
    var device = Device(updatedAt: min(registration.updatedAt.microseconds, now), instances: [])
    device.instances += registration.widgets.map { ($0.id, $0.interests) }
    device.instances += registration.controls.map { ($0.id, $0.interests) }
    for activity in registration.activities {
      // An activity that listens to a channel is planned once for all devices, under the channel's own registration.
      if !registration.isChannel, case .channel = activity.address { continue }
      device.instances.append((activity.id, activity.interests))
      guard registration.isChannel else { continue }
      device.startedAt = max(min(activity.startedAt.microseconds, now), known?.startedAt ?? .min)
      device.endsAt = max(device.startedAt + Self.activityLife, now + 1)
    }
    device.instances += registration.pushToStart.map { (Registration.starterID(kind: $0.kind), $0.interests) }
    devices[registration.device] = device
  }

  private func interested(_ event: DomainEvent) -> [ReferencePlanner.Interested] {
    var found: [ReferencePlanner.Interested] = []
    for (device, state) in devices.sorted(by: { $0.key < $1.key }) {
      // Regardless of the rules of its kind: an event that no rule wants is decided too.
      for instance in state.instances where instance.interests.contains(event.subject) {
        found.append(ReferencePlanner.Interested(event: event.id, device: device, instance: instance.id))
      }
    }
    return found
  }
}
