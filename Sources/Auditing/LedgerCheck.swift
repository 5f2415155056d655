import Domain
import JSON

/// Recomputes the books from decisions and commands alone: what a planner remembers, and how it works, plays no part.
///
/// Records may come in any order and more than once; the same id with the same bytes is one record. Holds every record
/// in memory, without the requests for APNs.
public struct LedgerCheck {
  private let limits: [String: LedgerLimits]
  private let refundsAllowed: Bool
  private let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
  private var report = LedgerReport()
  private var names = Names()
  private var contents: [RecordId: UInt64] = [:]
  private var commandContents: [RecordId: UInt64] = [:]
  private var cases: [Case: Standing] = [:]
  private var links: [RecordId: [Link]] = [:]
  private var commands: [RecordId: Command] = [:]
  private var kinds: [Place: UInt32] = [:]
  /// Set when the oldest records are gone: ledgers are then checked from where they are known.
  public var historyIsCut = false

  /// One event for one instance.
  private struct Case: Hashable { var event, device, instance: UInt32 }
  /// One instance of one device.
  private struct Place: Hashable { var device, instance: UInt32 }
  private struct Standing {
    var final: RecordId?
    var defers = 0
  }
  /// A decision that names a command.
  private struct Link {
    var id: RecordId
    var what: Case
    var events: [UInt32]
    var verdict: Verdict
    var reason: Reason
    var kind: UInt32
  }

  /// Texts as small numbers.
  private struct Names {
    private var numbers: [String: UInt32] = [:]
    private(set) var texts: [String] = []
    mutating func number(_ text: String) -> UInt32 {
      if let known = numbers[text] { return known }
      let number = UInt32(texts.count)
      numbers[text] = number
      texts.append(text)
      return number
    }
    subscript(number: UInt32) -> String { texts[Int(number)] }
  }

  /// - Parameters:
  ///   - limits: by the hash of the policy that decided; `""` holds for every other policy.
  ///   - refundsAllowed: whether tokens may come back because APNs refused a push, which only the signals tell.
  public init(limits: [String: LedgerLimits] = [:], refundsAllowed: Bool = false) {
    self.limits = limits
    self.refundsAllowed = refundsAllowed
  }

  /// How many decisions and commands have been taken, repeated ones included.
  public var recordCount: Int {
    report.decisions + report.commands + report.repeatedDecisions + report.repeatedCommands
  }

  /// (event, device, instance) with a final decision so far.
  public var closedCount: Int { report.closed }

  // MARK: Taking records

  /// - Parameter place: where it stands, for the report.
  public mutating func add(decision bytes: [UInt8], place: @autoclosure () -> String) {
    let decision: Decision
    do throws(DomainError) { decision = try Decision(json: bytes, reader: reader) } catch {
      report.add(.unreadable, "decision at \(place()): \(error)")
      return
    }
    guard let id = RecordId(decision.decision, prefix: RecordId.decision) else {
      report.add(
        .unreadable, "decision at \(place()): the id \(decision.decision) is not d-<partition>-<offset>-<ordinal>")
      return
    }
    let content = Self.hash(bytes)
    if let known = contents[id] {
      report.repeatedDecisions += 1
      if known != content { report.add(.idReused, "\(decision.decision) at \(place()) differs from the one before") }
      return
    }
    contents[id] = content
    report.decisions += 1
    note(decision, id)
  }

  private mutating func note(_ decision: Decision, _ id: RecordId) {
    let what = Case(
      event: names.number(decision.event), device: names.number(decision.device),
      instance: names.number(decision.instance))
    let kind = names.number(decision.kind)
    kinds[Place(device: what.device, instance: what.instance)] = kind
    var standing = cases[what] ?? Standing()
    if decision.final {
      if let first = standing.final {
        let both = "\(first.text(prefix: "d")) and \(decision.decision)"
        let event = describe(what)
        report.add(.decidedTwice, "\(both) both close \(event)")
      } else {
        standing.final = id
        report.closed += 1
      }
    } else if decision.verdict == .defer {
      standing.defers += 1
    }
    cases[what] = standing
    let delivers = decision.verdict == .emit || decision.verdict == .coalesce
    if decision.final != (decision.verdict != .defer && decision.reason != .duplicate)
      || delivers != (decision.command != nil)
    {
      report.add(
        .inconsistent,
        "\(decision.decision): \(decision.verdict.rawValue) \(decision.reason.rawValue), final \(decision.final), "
          + "command \(decision.command ?? "none")")
    }
    guard let text = decision.command else { return }
    guard let command = RecordId(text, prefix: RecordId.command) else {
      report.add(.unreadable, "\(decision.decision): the command id \(text) is not c-<partition>-<offset>-<ordinal>")
      return
    }
    links[command, default: []].append(
      Link(
        id: id, what: what, events: decision.events.map { names.number($0) }, verdict: decision.verdict,
        reason: decision.reason, kind: kind))
  }

  /// - Parameter place: where it stands, for the report.
  public mutating func add(command bytes: [UInt8], place: @autoclosure () -> String) {
    var command: Command
    do throws(DomainError) { command = try Command(json: bytes, reader: reader) } catch {
      report.add(.unreadable, "command at \(place()): \(error)")
      return
    }
    guard let id = RecordId(command.command, prefix: RecordId.command) else {
      report.add(
        .unreadable, "command at \(place()): the id \(command.command) is not c-<partition>-<offset>-<ordinal>")
      return
    }
    let content = Self.hash(bytes)
    if let known = commandContents[id] {
      report.repeatedCommands += 1
      if known != content { report.add(.idReused, "\(command.command) at \(place()) differs from the one before") }
      return
    }
    commandContents[id] = content
    report.commands += 1
    command.apns.payload = ""
    command.apns.headers = []
    commands[id] = command
  }

  /// FNV-1a: the same bytes give the same number, and two different records under one id the same one never in practice.
  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private func describe(_ what: Case) -> String {
    "event \(names[what.event]) for \(names[what.device])/\(names[what.instance])"
  }

  // MARK: The end

  /// Checks what takes all records together.
  public consuming func finish() -> LedgerReport {
    for standing in cases.values where standing.final == nil {
      if standing.defers > 0 { report.open += 1 } else { report.repeatedDeliveries += 1 }
    }
    for id in links.keys.sorted(by: RecordId.inLogOrder) where commands[id] == nil {
      let first = links[id]?.first?.id.text(prefix: "d") ?? ""
      report.add(.missingCommand, "\(id.text(prefix: "c")) is named by \(first) and is not there")
    }
    var replay = LedgerReplay(
      limits: limits, refundsAllowed: refundsAllowed, historyIsCut: historyIsCut, report: report)
    for id in commands.keys.sorted(by: RecordId.inLogOrder) {
      guard let command = commands[id] else { continue }
      compare(command, with: links[id] ?? [], into: &replay.report)
      let device = names.number(command.device)
      for charge in command.charged {
        let kind = kinds[Place(device: device, instance: names.number(charge.owner))]
        replay.charge(charge, of: command, id, kind: kind.map { names[$0] })
      }
    }
    replay.end()
    return replay.report
  }

  /// What the command says that it serves against what the decisions say.
  private mutating func compare(_ command: Command, with links: [Link], into report: inout LedgerReport) {
    let served = command.serves.filter { $0.reason != .endedQuiet }
    let causes = links.filter { $0.verdict == .emit }
    if causes.count != (served.isEmpty ? 0 : 1) {
      let names = causes.map { $0.id.text(prefix: "d") }.joined(separator: ", ")
      report.add(
        .unexplainedCommand,
        "\(command.command) is named by \(causes.count) emit decisions\(names.isEmpty ? "" : ": " + names)")
    }
    var byInstance: [UInt32: [Link]] = [:]
    for link in links {
      byInstance[link.what.instance, default: []].append(link)
      if names[link.what.device] != command.device {
        report.add(.servesDiffer, "\(link.id.text(prefix: "d")) is about another device than \(command.command)")
      }
    }
    for serves in served {
      let found = byInstance.removeValue(forKey: names.number(serves.instance)) ?? []
      let told = serves.events.map { names.number($0) }.sorted()
      if found.map(\.what.event).sorted() != told {
        report.add(
          .servesDiffer,
          "\(command.command) serves \(serves.instance) with \(serves.events.count) events, its decisions name \(found.count)"
        )
      }
      for link in found {
        let emitDiffers = link.verdict == .emit && (link.reason != serves.reason || link.events.sorted() != told)
        if emitDiffers || names[link.kind] != serves.kind {
          report.add(
            .servesDiffer, "\(command.command) and \(link.id.text(prefix: "d")) differ about \(serves.instance)")
        }
      }
    }
    for (instance, links) in byInstance.sorted(by: { $0.key < $1.key }) {
      report.add(
        .servesDiffer,
        "\(links[0].id.text(prefix: "d")) says that \(command.command) serves \(names[instance]), which the command does not"
      )
    }
  }
}

extension RecordId {
  /// The order in which one partition's planner made them.
  static func inLogOrder(_ a: RecordId, _ b: RecordId) -> Bool {
    (a.partition, a.offset, a.ordinal) < (b.partition, b.offset, b.ordinal)
  }
}
