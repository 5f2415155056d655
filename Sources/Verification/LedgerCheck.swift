import Domain
import Foundation
import JSON

/// Recomputes the books from decisions and commands alone: what a planner remembers, and how it works, plays no part.
///
/// Records may come in any order and more than once; the same id with the same bytes is one record. What is needed of
/// them is sorted by device, on disk where there is much of it, and checked device by device: memory is bounded by
/// `memoryMax` and the records of one device.
public struct LedgerCheck: ~Copyable {
  private let limits: [String: LedgerLimits]
  private let refundsAllowed: Bool
  private let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
  private var report = LedgerReport()
  /// Decisions and commands, by device.
  private var devices: SortedSpill
  /// Hash of each record, by kind of record and id.
  private var contents: SortedSpill
  /// Charges of whole apps, by app.
  private var apps: SortedSpill
  private var policies = PolicySpans()
  /// Set when the oldest records are gone: ledgers are then checked from where they are known.
  public var historyIsCut = false
  /// How many decisions and commands have been taken, repeated ones included.
  public private(set) var recordCount = 0
  /// Set when the disk failed. Nothing is taken from then on, and `finish` throws it.
  public private(set) var failure: LedgerCheckError?

  /// Bytes of records held in memory by default.
  public static let memoryDefault = 96 << 20

  /// - Parameters:
  ///   - limits: by the hash of the policy that decided; `""` holds for every other policy.
  ///   - refundsAllowed: whether tokens may come back because APNs refused a push, which only the signals tell.
  ///   - memoryMax: bytes of records to hold in memory; what is more goes to files in the temporary folder.
  public init(
    limits: [String: LedgerLimits] = [:], refundsAllowed: Bool = false, memoryMax: Int = LedgerCheck.memoryDefault
  ) {
    self.limits = limits
    self.refundsAllowed = refundsAllowed
    // In the proportion of their sizes.
    devices = SortedSpill(bytesMax: memoryMax / 2)
    contents = SortedSpill(bytesMax: memoryMax / 4)
    apps = SortedSpill(bytesMax: memoryMax / 4)
  }

  // MARK: Taking records

  /// - Parameter place: where it stands, for the report.
  public mutating func add(decision bytes: [UInt8], place: @autoclosure () -> String) {
    let decision: Decision
    do throws(DomainError) { decision = try Decision(json: bytes, reader: reader) } catch {
      report.add(.unreadable, "decision at \(place()): \(error)")
      return
    }
    guard let id = identify(decision.decision, .decision, place()) else { return }
    var command: RecordId?
    if let text = decision.command {
      command = RecordId(text, of: .command)
      if command == nil {
        report.add(.unreadable, "\(decision.decision): the command id \(text) is not c-<partition>-<offset>-<ordinal>")
      }
    }
    keep(.decision(CheckedDecision(decision, id: id, command: command)), of: decision.device, id, bytes)
  }

  /// - Parameter place: where it stands, for the report.
  public mutating func add(command bytes: [UInt8], place: @autoclosure () -> String) {
    let command: Command
    do throws(DomainError) { command = try Command(json: bytes, reader: reader) } catch {
      report.add(.unreadable, "command at \(place()): \(error)")
      return
    }
    guard let id = identify(command.command, .command, place()) else { return }
    let checked = CheckedCommand(command, id: id)
    policies.note(command.policy.hash, at: id)
    keep(.command(checked), of: command.device, id, bytes)
    guard command.charged.contains(where: { $0.ledger == .app }) else { return }
    attempt { check throws(LedgerCheckError) in
      for charge in command.charged where charge.ledger == .app {
        let key = SortedSpill.Key(group: Self.hash(charge.owner), id: id)
        try check.apps.add(key, checked.charge(charge).bytes)
      }
    }
  }

  private mutating func identify(
    _ text: String, _ kind: RecordId.Kind, _ place: @autoclosure () -> String
  ) -> RecordId? {
    if let id = RecordId(text, of: kind) { return id }
    report.add(
      .unreadable, "\(kind) at \(place()): the id \(text) is not \(kind.rawValue)-<partition>-<offset>-<ordinal>")
    return nil
  }

  private mutating func keep(_ record: CheckedRecord, of device: String, _ id: RecordId, _ bytes: [UInt8]) {
    recordCount += 1
    var content = BinaryWriter()
    content.varint(Self.hash(bytes))
    let kind: UInt64 = if case .decision = record { 0 } else { 1 }
    attempt { check throws(LedgerCheckError) in
      try check.contents.add(SortedSpill.Key(group: kind, id: id), content.bytes)
      try check.devices.add(SortedSpill.Key(group: Self.hash(device), id: id), record.bytes)
    }
  }

  private mutating func attempt(_ step: (inout LedgerCheck) throws(LedgerCheckError) -> Void) {
    guard failure == nil else { return }
    do throws(LedgerCheckError) { try step(&self) } catch { failure = error }
  }

  /// FNV-1a: the same bytes give the same number, and two different records under one id the same one never in practice.
  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  static func hash(_ text: String) -> UInt64 { hash(text.utf8) }

  // MARK: The end

  /// Checks what takes all records together.
  public consuming func finish() throws(LedgerCheckError) -> LedgerReport {
    if let failure { throw failure }
    try Self.checkIds(contents, into: &report)
    var replay = LedgerReplay(
      limits: limits, refundsAllowed: refundsAllowed, historyIsCut: historyIsCut, policies: policies, report: report)
    try Self.checkDevices(devices, into: &replay)
    try apps.forEach { (key, bytes) throws(LedgerCheckError) in
      replay.charge(try Self.read { try LedgerReplay.Charge(bytes, id: key.id) }, kind: nil)
    }
    replay.closeBooks()
    return replay.report
  }

  /// An id stands for one record.
  private static func checkIds(
    _ contents: consuming SortedSpill, into report: inout LedgerReport
  ) throws(LedgerCheckError) {
    var last: SortedSpill.Key?
    var first: [UInt8] = []
    try contents.forEach { (key, hash) throws(LedgerCheckError) in
      let isDecision = key.group == 0
      guard key == last else {
        if isDecision { report.decisions += 1 } else { report.commands += 1 }
        (last, first) = (key, hash)
        return
      }
      if isDecision { report.repeatedDecisions += 1 } else { report.repeatedCommands += 1 }
      if hash != first {
        report.add(.idReused, "\(key.id.text(of: isDecision ? .decision : .command)) stands for two records")
      }
    }
  }

  private static func checkDevices(
    _ devices: consuming SortedSpill, into replay: inout LedgerReplay
  ) throws(LedgerCheckError) {
    var group: UInt64?
    // More than one where two names have the same hash.
    var open: [String: DeviceCheck] = [:]
    func close() {
      for (_, device) in open.sorted(by: { $0.key < $1.key }) { device.check(into: &replay) }
      open.removeAll(keepingCapacity: true)
    }
    try devices.forEach { (key, bytes) throws(LedgerCheckError) in
      if key.group != group { close() }
      group = key.group
      let record = try read { try CheckedRecord(bytes, id: key.id) }
      let device =
        switch record {
        case .decision(let decision): decision.device
        case .command(let command): command.device
        }
      open[device, default: DeviceCheck()].add(record)
    }
    close()
  }

  private static func read<Value>(_ body: () throws -> Value) throws(LedgerCheckError) -> Value {
    do {
      return try body()
    } catch {
      let path = FileManager.default.temporaryDirectory.path
      throw LedgerCheckError(path: path, reason: "what was written there reads differently")
    }
  }
}
