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
