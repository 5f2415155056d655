public import Domain
import JSON

/// Recomputes every ledger from decisions and commands alone. It shares no code and no state with the planner that wrote them.
///
/// Records may be added in any order and more than once; records with the same id and the same bytes count as one. The
/// parts of each record that the check needs are sorted by device, on disk if they do not fit into memory, and checked
/// device by device. Memory is bounded by `memoryMax` plus the records of one device.
///
/// One thread uses a check from `init` to `finish`.
public struct LedgerCheck: ~Copyable {
  private let limits: [Identifier: LedgerLimits]
  private let refundsAllowed: Bool
  private let reader = Command.makeReader()
  private var report: LedgerReport
  /// Decisions and commands, by device.
  private var devices: SortedSpill
  /// The hash of each record's bytes, by kind of record and id.
  private var contents: SortedSpill
  /// Charges to the ledgers of apps, by app.
  private var apps: SortedSpill
  private var policies = PolicySpans()
  /// Whether the oldest records are missing, as in a topic with a limited retention. Ledgers are then checked from the first
  /// charge at which they are known to be full.
  public var historyIsCut = false
  /// The number of readable decisions and commands added so far, repeated ones included.
  public private(set) var recordCount = 0
  /// The first failure of the disk, if any. After it records are ignored, and `finish` throws it.
  public private(set) var failure: LedgerCheckError?

  /// The default of `memoryMax`: 96 MiB.
  public static let memoryDefault = 96 << 20
  /// The default of `examplesMax`.
  public static let examplesDefault = 5

  /// Creates a check without records.
  /// - Parameters:
  ///   - limits: the limits by the hash of the policy that decided. The entry for `""` applies to every policy without
  ///     an entry. Charges under a policy without limits are counted, and only those rules are checked that need no limit.
  ///   - refundsAllowed: whether tokens may come back because APNs refused a push. Only signals report such a refusal, and
  ///     the check does not read them.
  ///   - memoryMax: bytes of records to hold in memory. More is kept in unnamed files in the temporary folder.
  ///   - examplesMax: the number of violations of each rule that the report describes.
  public init(
    limits: [Identifier: LedgerLimits] = [:], refundsAllowed: Bool = false, memoryMax: Int = LedgerCheck.memoryDefault,
    examplesMax: Int = LedgerCheck.examplesDefault
  ) {
    report = LedgerReport(examplesMax: examplesMax)
    self.limits = limits
    self.refundsAllowed = refundsAllowed
    // The shares are in proportion to the sizes of the three collections.
    devices = SortedSpill(bytesMax: memoryMax / 2)
    contents = SortedSpill(bytesMax: memoryMax / 4)
    apps = SortedSpill(bytesMax: memoryMax / 4)
  }

  // MARK: Adding records

  /// Adds the JSON of one decision. Bytes that are no decision become a violation in the report.
  /// - Parameters:
  ///   - bytes: one line of a record of `rouse.decisions`.
  ///   - place: the place of the record, for the report: file and line, or topic, partition and offset.
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

  /// Adds the JSON of one command. Bytes that are no command become a violation in the report.
  /// - Parameters:
  ///   - bytes: one record of `rouse.commands`.
  ///   - place: the place of the record, for the report: file and line, or topic, partition and offset.
  public mutating func add(command bytes: [UInt8], place: @autoclosure () -> String) {
    let command: Command
    do throws(DomainError) { command = try Command(json: bytes, reader: reader) } catch {
      report.add(.unreadable, "command at \(place()): \(error)")
      return
    }
    guard let id = identify(command.command, .command, place()) else { return }
    let checked = CheckedCommand(command, id: id, reader: reader)
    policies.note(command.policy.hash, at: id)
    keep(.command(checked), of: command.device, id, bytes)
    guard command.charged.contains(where: { $0.ledger == .app }) else { return }
    attempt { check throws(LedgerCheckError) in
      for charge in command.charged where charge.ledger == .app {
        let key = SortedSpill.Key(group: FNV1a.of(charge.owner), id: id)
        try check.apps.add(key, checked.charge(charge).bytes)
      }
    }
  }

  /// Adds each decision of a block. A header that contradicts the lines becomes a violation in the report.
  /// - Parameters:
  ///   - block: a record of `rouse.decisions`.
  ///   - place: the place of the record, for the report: topic, partition and offset.
  public mutating func add(_ block: DecisionBlock, place: @autoclosure () -> String) {
    var number = 0
    for line in block.lines {
      number += 1
      add(decision: Array(block.bytes[line]), place: "\(place()) line \(number)")
    }
    if let contradiction = block.contradiction(lines: number) {
      report.add(.unreadable, "decisions at \(place()): \(contradiction)")
    }
  }

  /// Parses the id of a record. Reports an id of another form, and returns nil.
  private mutating func identify(
    _ text: Identifier, _ kind: RecordId.Kind, _ place: @autoclosure () -> String
  ) -> RecordId? {
    if let id = RecordId(text, of: kind) { return id }
    report.add(
      .unreadable, "\(kind) at \(place()): the id \(text) is not \(kind.rawValue)-<partition>-<offset>-<ordinal>")
    return nil
  }

  /// Adds the checked parts of a record, and the hash of its bytes.
  private mutating func keep(_ record: CheckedRecord, of device: Identifier, _ id: RecordId, _ bytes: [UInt8]) {
    recordCount += 1
    var content = BinaryWriter()
    content.varint(FNV1a.of(bytes))
    let group: UInt64 =
      switch record {
      case .decision: Self.decisions
      case .command: Self.commands
      }
    attempt { check throws(LedgerCheckError) in
      try check.contents.add(SortedSpill.Key(group: group, id: id), content.bytes)
      try check.devices.add(SortedSpill.Key(group: FNV1a.of(device), id: id), record.bytes)
    }
  }

  /// The groups of the keys in `contents`: one for each kind of record.
  private static let decisions: UInt64 = 0
  private static let commands: UInt64 = 1

  /// Runs a step that may write to disk, unless the disk has failed.
  private mutating func attempt(_ step: (inout LedgerCheck) throws(LedgerCheckError) -> Void) {
    guard failure == nil else { return }
    do throws(LedgerCheckError) { try step(&self) } catch { failure = error }
  }

  // MARK: Finishing

  /// Runs the checks that need all records.
  /// - Returns: the counts and violations, those of unreadable records included.
  /// - Throws: `LedgerCheckError` when the temporary folder could not be written or read, now or earlier.
  public consuming func finish() throws(LedgerCheckError) -> LedgerReport {
    if let failure { throw failure }
    try Self.checkIds(contents, into: &report)
    var replay = LedgerReplay(
      limits: limits, refundsAllowed: refundsAllowed, historyIsCut: historyIsCut, policies: policies, report: report)
    try Self.checkDevices(devices, into: &replay)
    try apps.forEach { (key, bytes) throws(LedgerCheckError) in
      replay.charge(try Self.read { () throws(BinaryError) in try LedgerCharge(bytes, id: key.id) }, kind: nil)
    }
    replay.closeBooks()
    replay.report.checkInvariants()
    return replay.report
  }

  /// Counts the records of each id and reports ids that belong to two different records.
  private static func checkIds(
    _ contents: consuming SortedSpill, into report: inout LedgerReport
  ) throws(LedgerCheckError) {
    var last: SortedSpill.Key?
    var first: [UInt8] = []
    try contents.forEach { (key, hash) throws(LedgerCheckError) in
      let isDecision = key.group == decisions
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

  /// Checks the records of each device.
  private static func checkDevices(
    _ devices: consuming SortedSpill, into replay: inout LedgerReplay
  ) throws(LedgerCheckError) {
    var group: UInt64?
    // Holds more than one device only if two names have the same hash.
    var open: [Identifier: DeviceCheck] = [:]
    func close() {
      for (_, device) in open.sorted(by: { $0.key < $1.key }) { device.check(into: &replay) }
      open.removeAll(keepingCapacity: true)
    }
    try devices.forEach { (key, bytes) throws(LedgerCheckError) in
      if key.group != group { close() }
      group = key.group
      let record = try read { () throws(BinaryError) in try CheckedRecord(bytes, id: key.id) }
      open[record.device, default: DeviceCheck()].add(record)
    }
    close()
  }

  /// Runs a decoder on bytes of the temporary files. Only this process wrote them, so an error means damaged files.
  private static func read<Value>(
    _ body: () throws(BinaryError) -> Value
  ) throws(LedgerCheckError) -> Value {
    do throws(BinaryError) { return try body() } catch { throw .damaged(SortedSpill.defaultPath) }
  }
}

/// A failure in the temporary folder, where the check keeps records that do not fit into memory.
public struct LedgerCheckError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The temporary folder that holds the file.
  public var path: String
  /// The cause in the words of the operating system.
  public var reason: String

  /// The cause, the folder and the remedy in one sentence.
  public var description: String {
    "a temporary file in \(path): \(reason); make room there, or name another folder in the environment variable TMPDIR"
  }

  /// Returns the error for a temporary file whose content changed after it was written.
  static func damaged(_ path: String) -> LedgerCheckError {
    LedgerCheckError(path: path, reason: "what was written there reads differently")
  }
}
