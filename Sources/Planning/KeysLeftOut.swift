public import Domain

/// A count of the events since the planner was created that had more interest keys than `DomainBounds.interestsPerEventMax`.
/// Their further keys were ignored.
public struct KeysLeftOut: Equatable, Sendable {
  /// The number of these events.
  public var events = 0
  /// The id of the last of them in the log; empty if there was none.
  public var newest: Identifier = ""
  /// The number of keys of that last event that were ignored.
  public var count = 0
}
