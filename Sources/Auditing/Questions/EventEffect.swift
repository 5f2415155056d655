public import Domain
import GRDB

/// The decisions about one event, over all devices.
public struct EventEffect: Equatable, Sendable {
  /// The decisions about the event with the same verdict, reason, `final` and kind, counted.
  public struct Count: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    public var final: Bool
    /// The kind of the instances that the decisions are about.
    public var kind: Identifier
    /// The number of decisions.
    public var decisions: Int
    /// A few of the devices that these decisions are about, in the order of storing.
    public var sampleDevices: [Identifier]
  }

  /// The id of the event.
  public var event: Identifier
  /// Whether the store has ever seen the event.
  public var isKnown: Bool
  /// The decisions by verdict, reason, `final` and kind, the most frequent first.
  public var counts: [Count]
  /// The number of all decisions about the event.
  public var decisions: Int
  /// The number of devices with a decision about the event.
  public var devices: Int
  /// The number of different commands that show the event.
  public var commands: Int
  /// The number of (device, instance) pairs without a final decision.
  public var pending: Int
  /// The log time of the first decision about the event; nil without any.
  public var first: Timestamp?
  /// The log time of the last decision about the event; nil without any.
  public var last: Timestamp?
}

/// The decisions about one event over time.
public struct EventSpread: Equatable, Sendable {
  /// The decisions of one minute.
  public struct SpreadMinute: Equatable, Sendable {
    /// The beginning of the minute.
    public var start: Timestamp
    /// The number of decisions by verdict, in the order of `Verdict.allCases`.
    public var decisions: [Int]
  }

  /// The minutes with a decision, oldest first.
  public var minutes: [SpreadMinute]
}

extension AuditStore {
  /// Returns the decisions about one event by minute.
  /// - Throws: `AuditError` when the file cannot be read.
  public func spread(ofEvent id: Identifier) throws(AuditError) -> EventSpread {
    try read { db in
      var minutes: [Int64: [Int]] = [:]
      try db.scan(.event, id, words: WordReader(db)) { line in
        let minute = Timestamp(microseconds: line.at).seconds / 60
        guard let place = Verdict.allCases.firstIndex(of: try DecisionCode(code: line.code).verdict) else {
          return true
        }
        minutes[minute, default: Verdict.allCases.map { _ in 0 }][place] += 1
        return true
      }
      return EventSpread(
        minutes: minutes.sorted { $0.key < $1.key }.map {
          EventSpread.SpreadMinute(start: Timestamp(microseconds: $0.key &* 60_000_000), decisions: $0.value)
        })
    }
  }
}

extension AuditStore {
  /// Returns the decisions about one event, counted over all devices. Memory grows with the number of devices that the event
  /// reached.
  /// - Parameters:
  ///   - id: the id of the event.
  ///   - samples: the greatest number of devices to name for each count.
  /// - Throws: `AuditError` when the file cannot be read.
  public func event(_ id: Identifier, samples: Int = 3) throws(AuditError) -> EventEffect {
    try read { db in
      let words = WordReader(db)
      var tally = EventTally(samples: samples)
      try db.scan(.event, id, words: words) {
        tally.add($0)
        return true
      }
      return try tally.effect(event: id, words)
    }
  }
}

/// Counts the decisions about one event while they are read.
private struct EventTally {
  private struct Group: Hashable {
    /// The number of the verdict, the reason and `final`: see `DecisionCode`.
    var code: Int64
    /// The number of the word of the kind.
    var kind: Int64
  }

  private struct Target: Hashable {
    var device: [UInt8]
    var instance: [UInt8]
  }

  /// The greatest number of devices to name for each group.
  let samples: Int
  private var groups: [Group: (count: Int, devices: [[UInt8]])] = [:]
  private var devices: Set<[UInt8]> = []
  private var commands: Set<Identifier> = []
  /// Whether an instance has a final decision.
  private var isClosed: [Target: Bool] = [:]
  private var decisions = 0
  private var span: (first: Int64, last: Int64)?

  init(samples: Int) { self.samples = samples }

  mutating func add(_ line: borrowing PageReader) {
    let group = Group(code: line.code & DecisionCode.withoutObjective, kind: line.kind)
    var entry = groups[group] ?? (0, [])
    entry.count += 1
    if entry.devices.count < samples, !entry.devices.contains(line.device) { entry.devices.append(line.device) }
    groups[group] = entry
    devices.insert(line.device)
    let target = Target(device: line.device, instance: line.instance)
    isClosed[target] = group.code & 1 == 1 || isClosed[target] == true
    span = (min(span?.first ?? line.at, line.at), max(span?.last ?? line.at, line.at))
    if let command = line.command { commands.insert(command) }
    decisions += 1
  }

  func effect(event: Identifier, _ words: WordReader) throws -> EventEffect {
    var counts = try groups.map { group, entry in
      let code = try DecisionCode(code: group.code)
      return EventEffect.Count(
        verdict: code.verdict, reason: code.reason, final: code.final, kind: try words.word(group.kind),
        decisions: entry.count, sampleDevices: entry.devices.map { Identifier(decoding: $0) })
    }
    counts.sort {
      ($1.decisions, $0.reason.code, $0.kind, $0.verdict.code) < (
        $0.decisions, $1.reason.code, $1.kind, $1.verdict.code
      )
    }
    return EventEffect(
      event: event, isKnown: decisions > 0, counts: counts, decisions: decisions, devices: devices.count,
      commands: commands.count, pending: isClosed.values.count { !$0 },
      first: span.map { Timestamp(microseconds: $0.first) }, last: span.map { Timestamp(microseconds: $0.last) })
  }
}
