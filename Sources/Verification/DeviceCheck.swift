import Domain

/// The decisions about one device and the commands to it. Checks them against each other, and enters the charges of the
/// commands in the books.
struct DeviceCheck {
  private var decisions: [CheckedDecision] = []
  private var commands: [CheckedCommand] = []

  /// Adds the next record in the order of the log. Of records with the same id only the first one is used; `LedgerCheck` reports
  /// repeated ids.
  mutating func add(_ record: CheckedRecord) {
    switch record {
    case .decision(let decision): if decisions.last?.id != decision.id { decisions.append(decision) }
    case .command(let command): if commands.last?.id != command.id { commands.append(command) }
    }
  }

  /// Checks everything that was added.
  /// - Parameter replay: takes the charges and the findings. All its books are closed by this call.
  func check(into replay: inout LedgerReplay) {
    checkInvariants()
    checkDecisions(&replay.report)
    var links: [RecordId: [CheckedDecision]] = [:]
    var kinds: [Identifier: Identifier] = [:]
    for decision in decisions {
      if let command = decision.command { links[command, default: []].append(decision) }
      kinds[decision.instance] = decision.kind
    }
    let known = Set(commands.map(\.id))
    for id in links.keys.sorted(by: RecordId.inLogOrder) where !known.contains(id) {
      let first = links[id]?.first?.name.text ?? ""
      replay.report.add(
        .missingCommand, "\(first) names \(id.text(of: .command)), which is not among the commands to its device")
    }
    for command in commands {
      let links = links[command.id] ?? []
      Self.checkCause(of: command, links, &replay.report)
      Self.checkServed(by: command, links, &replay.report)
      for charge in command.charged where charge.ledger != .app {
        replay.charge(command.charge(charge), kind: kinds[charge.owner])
      }
    }
    replay.closeBooks()
    checkCharged(&replay.report)
  }

  /// Checks that the commands charge the instances that their pushes reload, as far as decisions and commands tell.
  private func checkCharged(_ report: inout LedgerReport) {
    var reloads = ReloadCheck(decisions, commands)
    var next = 0
    for command in commands {
      while next < decisions.count, RecordId.inLogOrder(decisions[next].id, command.id) {
        reloads.note(decisions[next], &report)
        next += 1
      }
      reloads.check(command, &report)
    }
    for decision in decisions[next...] { reloads.note(decision, &report) }
  }

  /// The key of the decisions about one event for one instance.
  private struct Case: Hashable {
    var event: Identifier
    var instance: Identifier
  }

  /// The decisions of one case so far.
  private struct CaseDecisions {
    var final: RecordId?
    var defers = 0
  }

  /// Checks each decision by itself and that no case has two final ones, and counts the cases.
  private func checkDecisions(_ report: inout LedgerReport) {
    var cases: [Case: CaseDecisions] = [:]
    for decision in decisions {
      let what = Case(event: decision.event, instance: decision.instance)
      var standing = cases[what] ?? CaseDecisions()
      if decision.final {
        // A planner that no longer remembers an event closes its repeat as stale once more.
        if standing.final != nil, decision.reason == .staleEvent {
          report.repeatedDeliveries += 1
        } else if let first = standing.final {
          report.add(
            .decidedTwice,
            "\(first.text(of: .decision)) and \(decision.name) both close event \(what.event) for "
              + "\(decision.device)/\(what.instance)")
        } else {
          standing.final = decision.id
          report.closed += 1
        }
      } else if decision.verdict == .defer {
        standing.defers += 1
      }
      cases[what] = standing
      Self.checkConsistency(of: decision, &report)
    }
    for standing in cases.values where standing.final == nil {
      if standing.defers > 0 { report.open += 1 } else { report.repeatedDeliveries += 1 }
    }
  }

  /// Checks that a decision's verdict, its `final` and its command agree.
  private static func checkConsistency(of decision: CheckedDecision, _ report: inout LedgerReport) {
    let delivers = decision.verdict == .emit || decision.verdict == .coalesce
    let isFinal = decision.reason.isFinal(with: decision.verdict)
    guard decision.final != isFinal || delivers != (decision.command != nil) else { return }
    report.add(
      .inconsistent,
      "\(decision.name): \(decision.verdict.rawValue) \(decision.reason.rawValue), final \(decision.final), "
        + "command \(decision.command?.text(of: .command) ?? "none")")
  }

  /// Returns the instances that a command serves because of events. Instances that it reloads without an event have no
  /// decision.
  private static func served(by command: CheckedCommand) -> [CheckedCommand.ServedInstance] {
    command.serves.filter { $0.reason.outcome != .onCommands }
  }

  /// Checks that exactly one decision to emit names the command, or none if no event caused the command.
  /// - Parameter links: the decisions that name the command.
  private static func checkCause(
    of command: CheckedCommand, _ links: [CheckedDecision], _ report: inout LedgerReport
  ) {
    let causes = links.filter { $0.verdict == .emit }
    guard causes.count != (served(by: command).isEmpty ? 0 : 1) else { return }
    let names = causes.map(\.name.text).joined(separator: ", ")
    report.add(
      .unexplainedCommand,
      "\(command.name) is named by \(causes.count) emit decisions\(names.isEmpty ? "" : ": " + names)")
  }

  /// Checks that a command lists the instances and events of the decisions that name it. Events that joined it at its
  /// log time are not in its list (`own`).
  /// - Parameter links: the decisions that name the command.
  private static func checkServed(
    by command: CheckedCommand, _ links: [CheckedDecision], _ report: inout LedgerReport
  ) {
    var byInstance = Dictionary(grouping: links, by: \.instance)
    for serves in served(by: command) {
      let found = byInstance.removeValue(forKey: serves.instance) ?? []
      let own = Self.own(found, of: command)
      if !serves.standsFor(own.map({ FNV1a.of($0.event) }).sorted()) {
        let leftOut = serves.eventsLeftOut == 0 ? "" : " and \(serves.eventsLeftOut) more"
        report.add(
          .servesDiffer,
          "\(command.name) serves \(serves.instance) with \(serves.events.count) events\(leftOut), its decisions name \(own.count)"
        )
      }
      for link in found {
        let emitDiffers = link.verdict == .emit && (link.reason != serves.reason || !serves.standsFor(link.events))
        if emitDiffers || link.kind != serves.kind {
          report.add(.servesDiffer, "\(command.name) and \(link.name) differ about \(serves.instance)")
        }
      }
    }
    for (instance, links) in byInstance.sorted(by: { $0.key < $1.key }) {
      let reloads = command.charged.contains { $0.ledger == .instance && $0.owner == instance }
      guard let other = reloads ? own(links, of: command).first : links[0] else { continue }
      report.add(
        .servesDiffer,
        "\(other.name) says that \(command.name) serves \(instance), but the command does not")
    }
  }

  /// Returns the decisions about one instance that the command's list of events stands for. A push shows the state of its
  /// instant. So events of the same log time that come after it are closed as merged into it, and are not in its list.
  /// - Parameter links: the decisions about the instance that name the command.
  private static func own(_ links: [CheckedDecision], of command: CheckedCommand) -> [CheckedDecision] {
    let causes = links.first { $0.verdict == .emit }?.events
    return links.filter { link in
      guard link.reason == .emittedCoalesced, link.at == command.at else { return true }
      return causes?.contains(FNV1a.of(link.event)) ?? false
    }
  }

  /// Stops a debug build unless the records came in the order of the log and are of one device.
  func checkInvariants() {
    for (a, b) in zip(decisions, decisions.dropFirst()) {
      assert(RecordId.inLogOrder(a.id, b.id), "decisions come in the order of the log, each id once")
      assert(a.device == b.device, "all decisions are about one device")
    }
    for (a, b) in zip(commands, commands.dropFirst()) {
      assert(RecordId.inLogOrder(a.id, b.id), "commands come in the order of the log, each id once")
      assert(a.device == b.device, "all commands are to one device")
    }
  }
}
