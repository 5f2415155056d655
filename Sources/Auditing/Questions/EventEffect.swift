public import Domain
import GRDB

/// What one event did, over all devices.
public struct EventEffect: Equatable, Sendable {
  /// Decisions with the same verdict, reason, final and kind.
  public struct Count: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    public var final: Bool
    public var kind: String
    public var decisions: Int
    /// A few devices, in order of storing.
    public var sampleDevices: [String]
  }

  public var event: String
  /// Whether the store has ever seen it.
  public var isKnown: Bool
  /// Most frequent first.
  public var counts: [Count]
  public var decisions: Int
  public var devices: Int
  /// Different commands that show it.
  public var commands: Int
  /// (device, instance) pairs that wait: their latest decision is not final.
  public var pending: Int
  public var first: Timestamp?
  public var last: Timestamp?
}

extension AuditStore {
  /// What one event did. Memory grows with the devices that it reached.
  public func event(_ id: String, samples: Int = 3) throws(AuditError) -> EventEffect {
    try read { db in
      let names = NameReader(db)
      var effect = EventEffect(event: id, isKnown: false, counts: [], decisions: 0, devices: 0, commands: 0, pending: 0)
      guard let event = try names.number(id, in: .event) else { return effect }
      effect.isKnown = true
      struct Group: Hashable {
        var code, kind: Int64
      }
      var groups: [Group: (count: Int, devices: [Int64])] = [:]
      var devices: Set<Int64> = []
      var commands: Set<[Int64]> = []
      var isClosed: [[Int64]: Bool] = [:]
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT code, instance.kind, device, instance, at, partition, "offset", command
          FROM decision JOIN instance ON instance.n = instance WHERE event = ? ORDER BY seq
          """, arguments: [event])
      var span: (first: Int64, last: Int64)?
      while let row = try rows.next() {
        let group = Group(code: try row.integer(0), kind: try row.integer(1))
        let device = try row.integer(2)
        var entry = groups[group] ?? (0, [])
        entry.count += 1
        if entry.devices.count < samples, !entry.devices.contains(device) { entry.devices.append(device) }
        groups[group] = entry
        devices.insert(device)
        let target = [device, try row.integer(3)]
        isClosed[target, default: false] = group.code & 1 == 1 || isClosed[target] == true
        let at = try row.integer(4)
        span = (min(span?.first ?? at, at), max(span?.last ?? at, at))
        if let command = try row.optionalInteger(7) {
          commands.insert(command < 0 ? [command] : [try row.integer(5), try row.integer(6), command])
        }
        effect.decisions += 1
      }
      effect.counts = try groups.map { group, entry in
        let code = try DecisionCode(code: group.code)
        return EventEffect.Count(
          verdict: code.verdict, reason: code.reason, final: code.final, kind: try names.kind(group.kind),
          decisions: entry.count, sampleDevices: try entry.devices.map { try names.device($0) })
      }
      effect.counts.sort {
        ($1.decisions, $0.reason.code, $0.kind, $0.verdict.code) < (
          $0.decisions, $1.reason.code, $1.kind, $1.verdict.code
        )
      }
      effect.devices = devices.count
      effect.commands = commands.count
      effect.pending = isClosed.values.count { !$0 }
      effect.first = span.map { Timestamp(microseconds: $0.first) }
      effect.last = span.map { Timestamp(microseconds: $0.last) }
      return effect
    }
  }
}
