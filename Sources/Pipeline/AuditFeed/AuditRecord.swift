public import Domain

/// One record for the audit store.
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
  /// The record's offset in its partition.
  public var offset: Int64
}
