public import Domain

/// The place of a command among those to its device, at which a part of a statement begins. It stays right when newer commands are
/// stored, and when older ones are removed.
public struct StatementPlace: Equatable, Sendable {
  /// The time of the command.
  public var at: Timestamp
  /// The partition of its id; −1 for an id of another form.
  public var partition: Int64
  /// The offset of its id; the hash for an id of another form.
  public var offset: Int64
  /// The ordinal of its id.
  public var ordinal: Int64

  /// Makes a place.
  public init(at: Timestamp, partition: Int64, offset: Int64, ordinal: Int64) {
    self.at = at
    self.partition = partition
    self.offset = offset
    self.ordinal = ordinal
  }

  /// Makes the place of a row.
  init(_ row: CommandRow) {
    self.init(
      at: Timestamp(microseconds: row.at), partition: row.id.partition, offset: row.id.offset, ordinal: row.id.ordinal)
  }

  /// Whether a row comes before the place, in the order of `CommandRow.inOrder`.
  func isBehind(_ row: CommandRow) -> Bool {
    (row.at, row.id.partition, row.id.offset, row.id.ordinal) < (at.microseconds, partition, offset, ordinal)
  }
}
