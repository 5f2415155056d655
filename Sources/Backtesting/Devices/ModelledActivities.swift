import Domain
import Policies
import Replay

/// The devices' side of Live Activities under one planner. After a push starts an activity, the device registers it with
/// its update token, or fails to. After a push ends it, the device registers without it.
struct ModelledActivities {
  /// The latest registrations of devices on which a push can start activities.
  private var registrations: [Identifier: Registration] = [:]
  private let policy: Policy
  private let model: DeviceModel
  private var started = 0
  /// The number of starts whose activity has no registered update token. Such an activity can be neither updated nor ended.
  private(set) var startsWithoutToken = 0

  /// Prepares the activities of one replay.
  init(_ policy: Policy, model: DeviceModel) {
    self.policy = policy
    self.model = model
  }

  /// Notes the registration of a device.
  mutating func register(_ registration: Registration) {
    if !registration.pushToStart.isEmpty { registrations[registration.device] = registration }
  }

  /// Returns the registration that a device sends after a push has started an activity.
  /// - Parameters:
  ///   - command: The command that starts the activity.
  ///   - event: The event of the record with which it was sent; nil if that has none.
  /// - Returns: Nil if the device registers no token for the activity, or does not know its kind.
  mutating func started(by command: Command, event: DomainEvent?) -> Registration? {
    guard let served = command.serves.first, let subject = command.subject,
      var registration = registrations[command.device],
      let starter = registration.pushToStart.first(where: { $0.kind == served.kind })
    else { return nil }
    // A start that makes up for an earlier event serves none; a timer may have sent it with the record of another event.
    let (kind, event) = (served.kind, served.events.isEmpty ? nil : event)
    var random = model.random("token", command.device, command.command)
    if model.hasBudgets, random.unit() >= DeviceModel.startsWithToken.value {
      startsWithoutToken += 1
      return nil
    }
    var interests: [Identifier] = starter.interests.contains(subject) ? [subject] : []
    for template in event.flatMap({ policy.kind(named: kind)?.rule(for: $0)?.interests }) ?? [] {
      if let event, let key = template.key(for: event), starter.interests.contains(key), !interests.contains(key) {
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

  /// Returns the registration that a device sends after a push has ended an activity; nil if the device has none of that
  /// id.
  mutating func ended(by command: Command) -> Registration? {
    guard let instance = command.serves.first?.instance, var registration = registrations[command.device],
      registration.activities.contains(where: { $0.id == instance })
    else { return nil }
    registration.activities.removeAll { $0.id == instance }
    return update(registration, at: command.at)
  }

  /// Dates a registration, drops activities that are over, and keeps it.
  private mutating func update(_ given: Registration, at time: Timestamp) -> Registration {
    var registration = given
    // The system ends an activity after eight hours. Source: Apple, Displaying live data with Live Activities.
    registration.activities.removeAll { time.microseconds - $0.startedAt.microseconds >= 8 * LocalDays.hour }
    registration.updatedAt = max(time, registration.updatedAt)
    registrations[registration.device] = registration
    return registration
  }
}
