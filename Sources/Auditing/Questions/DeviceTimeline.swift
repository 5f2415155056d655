public import Domain

/// The decisions about one device and the commands to it.
public struct DeviceTimeline: Equatable, Sendable {
  /// All decisions of the range about one instance.
  public struct InstanceCounts: Equatable, Sendable {
    /// A decision about the instance, in short.
    public struct BriefDecision: Equatable, Sendable {
      /// The log time.
      public var at: Timestamp
      public var reason: Reason
      /// The kind of the instance.
      public var kind: Identifier
      /// The surface of the instance.
      public var surface: Surface
      /// The tokens that the instance had left; nil without a limit.
      public var tokensLeft: Int?
    }

    /// The id of the instance.
    public var instance: Identifier
    /// The number of decisions.
    public var decisions = 0
    /// The number of decisions after which the event was shown by a push.
    public var shown = 0
    /// The latest decision.
    public var last: BriefDecision
    /// The latest decision that tells whether the token of the instance works: a push, or a refused token. Nil if there is none.
    public var lastOfToken: BriefDecision?
  }

  /// The id of the device.
  public var device: Identifier
  /// Whether the store has ever seen the device.
  public var isKnown: Bool
  /// The entries, oldest first. A command comes before the decisions of the same instant.
  public var entries: [AuditEntry]
  /// The number of older entries in the range, which the limit left out.
  public var omitted: Int
  /// The counts of the instances in the range, also of the entries that the limit left out, by id.
  public var instances: [InstanceCounts] = []
}

extension AuditStore {
  /// Returns the latest `limit` decisions and commands of a device in a range, and counts of all its decisions there.
  /// - Throws: `AuditError` when the file cannot be read.
  public func device(_ id: Identifier, range: TimeRange = .all, limit: Int = 100) throws(AuditError) -> DeviceTimeline {
    try read { db in
      let words = WordReader(db)
      var found = LatestDecisions(limit: limit)
      var instances = InstanceTally()
      try db.scan(.device, id, in: range, words: words) {
        try instances.add($0, count: found.count, words)
        try found.add($0)
        return true
      }
      let decisions = found.sorted()
      let commands = try db.commands(toDevice: id, in: range, words: words)
      guard try found.count + commands.count > 0 || db.isKnown(device: id, words: words) else {
        return DeviceTimeline(device: id, isKnown: false, entries: [], omitted: 0)
      }
      let total = found.count + commands.count
      // The two lists are merged from the end, so that only the entries that are returned are made.
      var entries: [AuditEntry] = []
      var d = decisions.count
      var c = commands.count
      while entries.count < max(0, limit), d + c > 0 {
        if d > 0, c == 0 || decisions[d - 1].at.microseconds >= commands[c - 1].at {
          d -= 1
          entries.append(.decision(decisions[d]))
        } else {
          c -= 1
          entries.append(.command(try commands[c].command(words)))
        }
      }
      return DeviceTimeline(
        device: id, isKnown: true, entries: entries.reversed(), omitted: total - entries.count,
        instances: instances.sorted)
    }
  }

  /// Returns the decisions that name a command, oldest first, at most `limit`.
  /// - Throws: `AuditError` when the file cannot be read.
  public func decisions(ofCommand id: Identifier, limit: Int = 100) throws(AuditError) -> [Decision] {
    try read { try $0.decisions(ofCommand: id, words: WordReader($0), limit: limit) }
  }

  /// Returns the command with an id, or nil if it is not stored.
  /// - Throws: `AuditError` when the file cannot be read.
  public func command(_ id: Identifier) throws(AuditError) -> Command? {
    try read { try $0.command(id: id, words: WordReader($0)) }
  }
}

/// Counts the decisions about each instance of a device.
private struct InstanceTally {
  private struct CountedInstance {
    var counts: DeviceTimeline.InstanceCounts
    var last: AnswerPlace
    var lastOfToken: AnswerPlace?
  }

  private var instances: [Identifier: CountedInstance] = [:]

  /// The counts, by id.
  var sorted: [DeviceTimeline.InstanceCounts] {
    instances.values.map(\.counts).sorted { $0.instance < $1.instance }
  }

  /// Adds the decision of a reader's line.
  ///
  /// - Parameter count: The number of decisions that were added before.
  mutating func add(_ line: borrowing PageReader, count: Int, _ words: WordReader) throws {
    let (instance, place) = (Identifier(decoding: line.instance), AnswerPlace(line, count: count))
    let code = try DecisionCode(code: line.code)
    let isShown = [.emit, .coalesce].contains(code.verdict)
    let decision = DeviceTimeline.InstanceCounts.BriefDecision(
      at: Timestamp(microseconds: line.at), reason: code.reason, kind: try words.word(line.kind), surface: line.surface,
      tokensLeft: line.tokensLeft.instance)
    var counted =
      instances[instance] ?? CountedInstance(counts: .init(instance: instance, last: decision), last: place)
    counted.counts.decisions += 1
    if isShown { counted.counts.shown += 1 }
    if counted.last < place { (counted.last, counted.counts.last) = (place, decision) }
    if isShown || code.reason == .tokenDead, counted.lastOfToken.map({ $0 < place }) ?? true {
      (counted.lastOfToken, counted.counts.lastOfToken) = (place, decision)
    }
    instances[instance] = counted
  }
}
