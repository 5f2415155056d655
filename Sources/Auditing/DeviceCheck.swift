import Domain

/// All that was decided about one device, and all commands to it, in the order of the log: each against the others.
struct DeviceCheck {
  private var decisions: [CheckedDecision] = []
  private var commands: [CheckedCommand] = []

  /// Of the same id the first counts; that it came again is another check's.
  mutating func add(_ record: CheckedRecord) {
    switch record {
    case .decision(let decision): if decisions.last?.id != decision.id { decisions.append(decision) }
    case .command(let command): if commands.last?.id != command.id { commands.append(command) }
    }
  }

  /// One event for one instance.
  private struct Case: Hashable {
    var event: String
    var instance: String
  }
  private struct Standing {
    var final: RecordId?
    var defers = 0
  }

  func check(into replay: inout LedgerReplay) {
    close(&replay.report)
    var links: [RecordId: [CheckedDecision]] = [:]
    var kinds: [String: String] = [:]
    for decision in decisions {
      if let command = decision.command { links[command, default: []].append(decision) }
      kinds[decision.instance] = decision.kind
    }
    let known = Set(commands.map(\.id))
    for id in links.keys.sorted(by: RecordId.inLogOrder) where !known.contains(id) {
      let first = links[id]?.first?.name ?? ""
      replay.report.add(.missingCommand, "\(id.text(prefix: "c")) is named by \(first) and is not there for its device")
    }
    for command in commands {
      Self.compare(command, with: links[command.id] ?? [], into: &replay.report)
      for charge in command.charged where charge.ledger != .app {
        replay.charge(command.charge(charge), kind: kinds[charge.owner])
      }
    }
    replay.closeBooks()
  }

  /// What each decision says by itself, and what becomes of each event.
  private func close(_ report: inout LedgerReport) {
    var cases: [Case: Standing] = [:]
    for decision in decisions {
      let what = Case(event: decision.event, instance: decision.instance)
      var standing = cases[what] ?? Standing()
      if decision.code.final {
        if let first = standing.final {
          report.add(
            .decidedTwice,
            "\(first.text(prefix: "d")) and \(decision.name) both close event \(what.event) for "
              + "\(decision.device)/\(what.instance)")
        } else {
          standing.final = decision.id
          report.closed += 1
        }
      } else if decision.verdict == .defer {
        standing.defers += 1
      }
      cases[what] = standing
      let delivers = decision.verdict == .emit || decision.verdict == .coalesce
      if decision.code.final != decision.reason.isFinal(with: decision.verdict)
        || delivers != (decision.command != nil)
      {
        report.add(
          .inconsistent,
          "\(decision.name): \(decision.verdict.rawValue) \(decision.reason.rawValue), final \(decision.code.final), "
            + "command \(decision.command?.text(prefix: "c") ?? "none")")
      }
    }
    for standing in cases.values where standing.final == nil {
      if standing.defers > 0 { report.open += 1 } else { report.repeatedDeliveries += 1 }
    }
  }

  /// What the command says that it serves against what the decisions say.
  private static func compare(
    _ command: CheckedCommand, with links: [CheckedDecision], into report: inout LedgerReport
  ) {
    let served = command.serves.filter { $0.reason != .endedQuiet }
    let causes = links.filter { $0.verdict == .emit }
    if causes.count != (served.isEmpty ? 0 : 1) {
      let names = causes.map(\.name).joined(separator: ", ")
      report.add(
        .unexplainedCommand,
        "\(command.name) is named by \(causes.count) emit decisions\(names.isEmpty ? "" : ": " + names)")
    }
    var byInstance = Dictionary(grouping: links, by: \.instance)
    for serves in served {
      let found = byInstance.removeValue(forKey: serves.instance) ?? []
      if found.map({ LedgerCheck.hash($0.event) }).sorted() != serves.events {
        report.add(
          .servesDiffer,
          "\(command.name) serves \(serves.instance) with \(serves.events.count) events, its decisions name \(found.count)"
        )
      }
      for link in found {
        let emitDiffers = link.verdict == .emit && (link.reason != serves.reason || link.events != serves.events)
        if emitDiffers || link.kind != serves.kind {
          report.add(.servesDiffer, "\(command.name) and \(link.name) differ about \(serves.instance)")
        }
      }
    }
    for (instance, links) in byInstance.sorted(by: { $0.key < $1.key }) {
      report.add(
        .servesDiffer,
        "\(links[0].name) says that \(command.name) serves \(instance), which the command does not")
    }
  }
}
