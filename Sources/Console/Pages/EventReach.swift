import Auditing
import Domain
import Policies

/// The devices that an event would reach by a policy, as far as the registrations are known.
struct EventReach {
  private var byKind: [Identifier: Int] = [:]
  /// The number of devices, or the reason why it is not known, in words.
  private(set) var words: [PageCell]

  /// Counts the devices.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - policy: The policy.
  ///   - devices: The registrations; nil if the console does not know them.
  init(_ event: DomainEvent, _ policy: Policy, _ devices: (any ListeningDevices)?) {
    guard let devices else {
      words = .withoutView("How many devices these are is not known here. The console counts them if ")
      return
    }
    let groups = policy.kinds.compactMap { kind -> (name: Identifier, keys: [String])? in
      guard let rule = kind.rule(for: event) else { return nil }
      var keys: [String] = []
      for key in rule.interests.compactMap({ $0.key(for: event)?.text }) where !keys.contains(key) { keys.append(key) }
      return (kind.name, keys)
    }
    do throws(ListeningDevicesError) {
      let counts = try devices.count(groups.map { ($0.name.text, $0.keys) })
      guard let age = counts.ageSeconds else {
        words = ["How many devices these are is not known yet: the copy of the registrations is being filled."]
        return
      }
      for (group, count) in zip(groups, counts.kinds) { byKind[group.name] = count }
      words = [
        PageCell("It would reach \(Figure.count(counts.devices, "device"))", tone: counts.devices > 0 ? .good : .bad),
        PageCell(
          ", by the registrations as they were \(age) s ago (rouse.devices). Whether each of them reloads also depends on what it shows, on its tokens and on its limits."
        ),
      ]
    } catch {
      words = [PageCell("How many devices these are is not known: \(error).", tone: .bad)]
    }
  }

  /// Returns the number of devices with an instance of a kind that listens; nil if it is not known, or if no rule of the kind matches.
  func devices(of kind: Identifier) -> Int? { byKind[kind] }
}
