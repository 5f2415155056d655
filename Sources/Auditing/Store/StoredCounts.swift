/// The number of records of a batch that were stored, and that were stored already.
public struct StoredCounts: Equatable, Sendable {
  /// The number of decisions that are new.
  public var decisions: Int
  /// The number of commands that are new.
  public var commands: Int
  /// The number of records whose id was stored before.
  public var duplicates: Int
}
