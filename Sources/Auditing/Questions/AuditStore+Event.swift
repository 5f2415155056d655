public import Domain
import GRDB

extension AuditStore {
  /// Returns the decisions about one event, counted over all devices. Memory grows with the number of devices that the event
  /// reached.
  /// - Parameters:
  ///   - id: the id of the event.
  ///   - samples: the greatest number of devices to name for each count.
  /// - Throws: `AuditError` when the file cannot be read.
  public func event(_ id: Identifier, samples: Int = 3) throws(AuditError) -> EventEffect {
    try read { db in
      let names = NameReader(db)
      guard let event = try names.number(id, in: .event) else {
        return EventEffect(event: id, isKnown: false, counts: [], decisions: 0, devices: 0, commands: 0, pending: 0)
      }
      var tally = EventTally(samples: samples)
      let rows = try Row.fetchCursor(db, sql: EventTally.sql, arguments: [event])
      while let row = try rows.next() { try tally.add(row) }
      return try tally.effect(event: id, names)
    }
  }
}

/// Counts the decisions about one event while their rows are read.
private struct EventTally {
  /// The query for the rows that `add` reads, in the order of storing. The argument is the number of the event.
  static let sql = """
    SELECT code, instance.kind, device, instance, at, partition, "offset", command
    FROM decision JOIN instance ON instance.n = instance WHERE event = ? ORDER BY seq
    """

  private struct Group: Hashable {
    /// The number of the verdict, the reason and `final`: see `DecisionCode`.
    var code: Int64
    /// The number of the kind in the table `kind`.
    var kind: Int64
  }

  /// The greatest number of devices to name for each group.
  let samples: Int
  private var groups: [Group: (count: Int, devices: [Int64])] = [:]
  private var devices: Set<Int64> = []
  private var commands: Set<[Int64]> = []
  /// Whether an instance has a final decision, by the numbers of its device and of the instance.
  private var isClosed: [[Int64]: Bool] = [:]
  private var decisions = 0
  private var span: (first: Int64, last: Int64)?

  init(samples: Int) { self.samples = samples }

  mutating func add(_ row: Row) throws(StoredValueError) {
    let group = Group(code: try row.integer(0), kind: try row.integer(1))
    let device = try row.integer(2)
    var entry = groups[group] ?? (0, [])
    entry.count += 1
    if entry.devices.count < samples, !entry.devices.contains(device) { entry.devices.append(device) }
    groups[group] = entry
    devices.insert(device)
    let target = [device, try row.integer(3)]
    isClosed[target] = group.code & 1 == 1 || isClosed[target] == true
    let at = try row.integer(4)
    span = (min(span?.first ?? at, at), max(span?.last ?? at, at))
    if let command = try row.optionalInteger(7) {
      commands.insert(command < 0 ? [command] : [try row.integer(5), try row.integer(6), command])
    }
    decisions += 1
  }

  func effect(event: Identifier, _ names: NameReader) throws -> EventEffect {
    var counts = try groups.map { group, entry in
      let code = try DecisionCode(code: group.code)
      return EventEffect.Count(
        verdict: code.verdict, reason: code.reason, final: code.final, kind: try names.kind(group.kind),
        decisions: entry.count, sampleDevices: try entry.devices.map { try names.device($0) })
    }
    counts.sort {
      ($1.decisions, $0.reason.code, $0.kind, $0.verdict.code) < (
        $0.decisions, $1.reason.code, $1.kind, $1.verdict.code
      )
    }
    return EventEffect(
      event: event, isKnown: true, counts: counts, decisions: decisions, devices: devices.count,
      commands: commands.count, pending: isClosed.values.count { !$0 },
      first: span.map { Timestamp(microseconds: $0.first) }, last: span.map { Timestamp(microseconds: $0.last) })
  }
}
