public import Domain

/// The decisions, commands and positions that are stored in one transaction. The caller bounds the size; 10,000 records and more are
/// fast.
public struct AuditBatch: Sendable {
  /// The decisions, in the order in which they were added.
  public private(set) var decisions: [DecisionLine] = []
  /// The commands, in the order in which they were added.
  public private(set) var commands: [Command] = []
  /// The progress that the batch makes, at most one position for each topic partition.
  public private(set) var positions: [AuditPosition] = []
  /// The records that the store will never have.
  public private(set) var holes: [AuditHole] = []

  /// Creates an empty batch.
  public init() {}

  /// Whether the batch has neither records nor progress to store.
  public var isEmpty: Bool { decisions.isEmpty && commands.isEmpty && positions.isEmpty && holes.isEmpty }
  /// The number of decisions and commands together.
  public var count: Int { decisions.count + commands.count }

  /// Adds a decision from an offset of `rouse.decisions`.
  public mutating func append(_ decision: Decision, partition: Int32, offset: Int64) {
    append(decision)
    advance(.decisions, partition: partition, past: offset)
  }

  /// Adds a command from an offset of `rouse.commands`.
  public mutating func append(_ command: Command, partition: Int32, offset: Int64) {
    commands.append(command)
    advance(.commands, partition: partition, past: offset)
  }

  /// Marks everything up to an offset as stored, the offset included. Call it also for a record with nothing to store, such
  /// as an unreadable one.
  public mutating func advance(_ topic: AuditTopic, partition: Int32, past offset: Int64) {
    let next = offset.addingSaturating(1)
    for index in positions.indices where positions[index].partition == partition && positions[index].topic == topic {
      positions[index].next = max(positions[index].next, next)
      return
    }
    positions.append(AuditPosition(topic: topic, partition: partition, next: next))
  }

  /// Adds records that the store will never have. A hole that begins where a stored one begins changes nothing.
  public mutating func append(_ hole: AuditHole) { holes.append(hole) }

  /// Adds a decision without a position, as from a file.
  public mutating func append(_ decision: Decision) { append(DecisionLine(decision)) }

  /// Adds a decision without a position, as from a line of a block whose position is added with its last line.
  public mutating func append(_ line: DecisionLine) { decisions.append(line) }

  /// Adds a command without a position, as from a file.
  public mutating func append(_ command: Command) { commands.append(command) }

  /// Empties the batch and keeps its memory.
  public mutating func removeAll() {
    decisions.removeAll(keepingCapacity: true)
    commands.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    holes.removeAll(keepingCapacity: true)
  }
}
