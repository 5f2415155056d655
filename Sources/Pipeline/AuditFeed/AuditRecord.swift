public import Domain

/// One decision or command for the audit store.
public struct AuditRecord: Sendable {
  /// The decoded value of a record.
  public enum Content: Sendable {
    case decision(Decision)
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
