import Domain
import Policies

/// The devices' side of Live Activities under one planner: an activity that a push started hands over its update token by
/// registering, if it does; one that ended is registered no more.
struct ModelledActivities {
  /// Of devices that can start activities by push.
  private var registrations: [String: Registration] = [:]
  private let policy: Policy
  private let model: DeviceModel
  private var started = 0
  /// Starts whose activity handed over no token: nobody can update or end it.
  private(set) var startsWithoutToken = 0

  init(_ policy: Policy, model: DeviceModel) {
    self.policy = policy
    self.model = model
  }

  mutating func register(_ registration: Registration) {
    if !registration.pushToStart.isEmpty { registrations[registration.device] = registration }
  }

  /// What the device registers after an activity was started on it because of an event.
  mutating func started(by command: Command, event: DomainEvent?) -> Registration? {
    guard let event, let kind = command.serves.first?.kind, var registration = registrations[command.device],
      let starter = registration.pushToStart.first(where: { $0.kind == kind }),
      let rule = policy.kind(named: kind)?.rule(forType: event.type)
    else { return nil }
    var random = model.random("token", command.device, command.command)
    if model.hasBudgets, random.unit() >= DeviceModel.startsWithToken.value {
      startsWithoutToken += 1
      return nil
    }
    var interests: [String] = []
    for template in rule.interests {
      if let key = template.key(for: event), starter.interests.contains(key), !interests.contains(key) {
        interests.append(key)
      }
    }
    started += 1
    let token = String(started, radix: 16)
    registration.activities.append(
      Registration.Activity(
        id: "started-\(started)", kind: kind, address: .token(String(repeating: "0", count: 32 - token.count) + token),
        interests: interests, startedAt: command.at))
    return update(registration, at: command.at)
  }

  /// What the device registers after an activity of its has ended.
  mutating func ended(by command: Command) -> Registration? {
    guard let instance = command.serves.first?.instance, var registration = registrations[command.device],
      registration.activities.contains(where: { $0.id == instance })
    else { return nil }
    registration.activities.removeAll { $0.id == instance }
    return update(registration, at: command.at)
  }

  private mutating func update(_ given: Registration, at time: Timestamp) -> Registration {
    var registration = given
    // The system ends an activity after eight hours. Source: Apple, Displaying live data with Live Activities.
    registration.activities.removeAll { time.microseconds - $0.startedAt.microseconds >= 8 * LocalDays.hour }
    registration.updatedAt = max(time, registration.updatedAt)
    registrations[registration.device] = registration
    return registration
  }
}
