public import Domain

/// The topics that a store is filled from.
public enum AuditTopic: String, Hashable, Sendable, CaseIterable {
  case decisions, commands
}

/// How far one topic partition has been stored.
public struct TopicPosition: Hashable, Sendable {
  public var topic: AuditTopic
  public var partition: Int32
  /// The first offset that has not been stored: where to resume.
  public var next: Int64

  public init(topic: AuditTopic, partition: Int32, next: Int64) {
    self.topic = topic
    self.partition = partition
    self.next = next
  }
}

/// What is stored in one transaction: decisions, commands and how far they bring each topic partition. The caller bounds
/// its size; about 10,000 is fast.
public struct AuditBatch: Sendable {
  public private(set) var decisions: [Decision] = []
  public private(set) var commands: [Command] = []
  /// At most one for each topic partition.
  public private(set) var positions: [TopicPosition] = []

  public init() {}

  public var isEmpty: Bool { decisions.isEmpty && commands.isEmpty && positions.isEmpty }
  /// Decisions and commands together.
  public var count: Int { decisions.count + commands.count }

  /// Adds a decision that stood at an offset of `rouse.decisions`.
  public mutating func append(_ decision: Decision, partition: Int32, offset: Int64) {
    decisions.append(decision)
    advance(.decisions, partition: partition, past: offset)
  }

  /// Adds a command that stood at an offset of `rouse.commands`.
  public mutating func append(_ command: Command, partition: Int32, offset: Int64) {
    commands.append(command)
    advance(.commands, partition: partition, past: offset)
  }

  /// Notes that everything up to an offset is dealt with, also where there was nothing to store (an unreadable record).
  public mutating func advance(_ topic: AuditTopic, partition: Int32, past offset: Int64) {
    let next = offset == .max ? .max : offset + 1
    for index in positions.indices where positions[index].partition == partition && positions[index].topic == topic {
      positions[index].next = max(positions[index].next, next)
      return
    }
    positions.append(TopicPosition(topic: topic, partition: partition, next: next))
  }

  /// Adds a decision that has no position, as from a file.
  public mutating func append(_ decision: Decision) { decisions.append(decision) }
  /// Adds a command that has no position, as from a file.
  public mutating func append(_ command: Command) { commands.append(command) }
  /// Empties the batch and keeps its memory.
  public mutating func removeAll() {
    decisions.removeAll(keepingCapacity: true)
    commands.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
  }
}

/// What storing a batch changed.
public struct StoredCounts: Equatable, Sendable {
  public var decisions: Int
  public var commands: Int
  /// Records whose id was there before.
  public var duplicates: Int
}
