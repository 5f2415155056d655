import Domain

/// Compares the instances that the commands to one device charge with those that their pushes reload.
///
/// A background push reloads every widget of the kinds that its payload names. Registrations are not read: the kind of an instance
/// is known from the decisions about it and from the lists of commands, and a widget is known to be registered while an event waits
/// on it. A charge to an instance of an unknown kind is not checked. An instance without tokens may be left out, so an instance
/// counts as left out only if the next decision about it says that it still has tokens, and no more than before.
struct ReloadCheck {
  /// The events that wait on a widget.
  private struct WaitingWidget {
    var kind: Identifier
    var events: Set<Identifier> = []
    /// The tokens of the instance in the last decision about it; negative if it does not say it.
    var left = -1
    /// The finding that a command has left the instance out, unless it has no tokens; nil if there is none.
    var suspicion: Suspicion?
  }

  /// A command that may have left an instance out.
  private struct Suspicion {
    var text: String
    var at: Timestamp
    /// The tokens of the instance before the command.
    var left: Int
  }

  /// The time in which the next decision about an instance must come to tell its tokens at a command.
  private static let suspicionLife = TimeSpan.hours(1)

  /// The kinds that each instance has had. An instance may be registered again with another kind.
  private var kinds: [Identifier: Set<Identifier>] = [:]
  private var waiting: [Identifier: WaitingWidget] = [:]
  private let hasBackgroundPushes: Bool

  /// - Parameters:
  ///   - decisions: all decisions about the device.
  ///   - commands: all commands to the device.
  init(_ decisions: [CheckedDecision], _ commands: [CheckedCommand]) {
    hasBackgroundPushes = commands.contains { $0.named != nil }
    guard hasBackgroundPushes else { return }
    for decision in decisions { kinds[decision.instance, default: []].insert(decision.kind) }
    for command in commands {
      for serves in command.serves { kinds[serves.instance, default: []].insert(serves.kind) }
    }
  }

  /// Notes the next decision in the order of the log.
  mutating func note(_ decision: CheckedDecision, _ report: inout LedgerReport) {
    guard hasBackgroundPushes, decision.isWidget else { return }
    if decision.left >= 0, let suspicion = waiting[decision.instance]?.suspicion {
      waiting[decision.instance]?.suspicion = nil
      if 1...max(1, suspicion.left) ~= decision.left, decision.at - suspicion.at < Self.suspicionLife {
        report.add(.chargesDiffer, suspicion.text)
      }
    }
    defer { if decision.left >= 0 { waiting[decision.instance]?.left = decision.left } }
    if decision.verdict == .defer {
      waiting[decision.instance, default: WaitingWidget(kind: decision.kind)].kind = decision.kind
      waiting[decision.instance]?.events.insert(decision.event)
    } else if decision.final {
      waiting[decision.instance]?.events.remove(decision.event)
    }
  }

  /// Checks a command. All decisions before it must have been noted.
  mutating func check(_ command: CheckedCommand, _ report: inout LedgerReport) {
    let charged = command.charged.filter { $0.ledger == .instance }.map(\.owner)
    // Pushes to a device in developer mode, and pushes of Live Activities, charge no instance.
    if charged.isEmpty { return }
    for serves in command.serves where !charged.contains(serves.instance) {
      report.add(.chargesDiffer, "\(command.name) serves \(serves.instance) and does not charge it")
    }
    guard let named = command.named else { return }
    let payload = "the payload of \(command.name) names \(named.map(\.text).joined(separator: ", "))"
    for serves in command.serves where !named.contains(serves.kind) {
      report.add(.chargesDiffer, "\(payload), but the command serves \(serves.instance) of kind \(serves.kind)")
    }
    for instance in charged {
      guard let had = kinds[instance], had.isDisjoint(with: named) else { continue }
      let kind = had.map(\.text).sorted().joined(separator: ", ")
      report.add(.chargesDiffer, "\(payload), but the command charges \(instance) of kind \(kind)")
    }
    for (instance, waits) in waiting.sorted(by: { $0.key < $1.key }) {
      guard !waits.events.isEmpty, named.contains(waits.kind), !charged.contains(instance) else { continue }
      waiting[instance]?.suspicion = Suspicion(
        text: "\(payload), but the command does not charge \(instance) of kind \(waits.kind), on which events wait",
        at: command.at, left: waits.left)
    }
  }
}
