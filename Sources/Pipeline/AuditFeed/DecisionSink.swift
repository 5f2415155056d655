public import Domain

/// The store that the audit feed writes to. The feed does not depend on a particular store.
public protocol DecisionSink: AnyObject {
  /// Returns the position at which to resume in each partition, as stored together with the records.
  ///
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed tries again.
  func positions() throws -> [AuditPosition]

  /// Stores records and positions atomically. Storing the same records again must change nothing.
  ///
  /// - Parameters:
  ///   - batch: The records, in the order of their partitions.
  ///   - positions: The positions to store with them: in each partition the offset after the last of these records, or the offset of
  ///     the last record itself if further decisions of its block are still to come.
  /// - Throws: `RecordRefusal` if trying again cannot help; after three equal refusals of a single record the feed sets
  ///   that record aside. `UnusableStore` ends the feed. After any other error the feed keeps the records and tries again.
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws

  /// Notes records that will never be stored, and stores positions, atomically. Noting the same hole again must change nothing.
  /// A store without a place for holes only stores the positions.
  ///
  /// - Parameters:
  ///   - hole: The place of the missing records, and the cause.
  ///   - positions: The position after the hole; empty if records before the hole may still come.
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed tries again.
  func note(_ hole: AuditHole, positions: [AuditPosition]) throws

  /// Does housekeeping. Called at most every 10 s, while there is nothing to store.
  ///
  /// - Throws: `UnusableStore`, which ends the feed, or any error. Then the feed logs it.
  func idle() throws
}

extension DecisionSink {
  public func note(_ hole: AuditHole, positions: [AuditPosition]) throws { try store([], positions: positions) }
}

/// One decision or command for the audit store.
public struct AuditRecord: Sendable {
  /// The value of a record.
  public enum Content: Sendable {
    /// A line of a block. It refers to the bytes of the block, so that a batch of lines takes little memory beside the blocks.
    case decision(DecisionLine)
    case command(Command)
  }

  /// The decision or the command.
  public var content: Content
  /// The partition that the record was read from.
  public var partition: Int32
  /// The record's offset in its partition. All decisions of a block have the same one.
  public var offset: Int64
  /// The number of the decision's line in its block, from 1; nil for a command.
  public var line: Int?
}

/// A store's refusal of records for their content. Trying again does not help; after any other error of a store it may.
public struct RecordRefusal: Error, Equatable, Sendable {
  /// The reason, in words.
  public var reason: String

  /// Makes a refusal.
  ///
  /// - Parameter reason: The reason, in words.
  public init(reason: String) { self.reason = reason }
}

/// A store that cannot be used until a person mends it or moves it away. Trying again with the same store does not help.
public struct UnusableStore: Error, Equatable, Sendable {
  /// The reason and the remedy, in words.
  public var reason: String

  /// Makes a failure.
  ///
  /// - Parameter reason: The reason and the remedy, in words.
  public init(reason: String) { self.reason = reason }
}
