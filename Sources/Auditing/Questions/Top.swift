public import Domain

/// The most frequent values of one property of decisions.
public struct Top: Equatable, Sendable {
  /// The property that decisions are counted by.
  public enum Key: String, Sendable, CaseIterable { case reason, kind, device, event, verdict }

  /// One value of the property, with its count.
  public struct Row: Equatable, Sendable {
    /// The value.
    public var name: Identifier
    /// The number of decisions with the value.
    public var decisions: Int
  }

  /// The place behind a value in the order of a list.
  public struct RowPlace: Equatable, Sendable {
    /// The value.
    public var name: Identifier
    /// Its count.
    public var decisions: Int
    /// The end of the log time that the list counts, so that its parts count the same decisions.
    public var end: Timestamp

    /// Creates a place.
    public init(name: Identifier, decisions: Int, end: Timestamp) {
      self.name = name
      self.decisions = decisions
      self.end = end
    }
  }

  /// The property that was counted by.
  public var key: Key
  /// The values, the most frequent first. Values with the same count are sorted by first storing (devices, events)
  /// or by name.
  public var rows: [Row]
  /// The number of decisions in the range, those of values that are not listed included.
  public var total: Int
  /// The number of distinct values in the range, those that are not listed included.
  public var distinct: Int
}
