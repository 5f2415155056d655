public import Domain

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
