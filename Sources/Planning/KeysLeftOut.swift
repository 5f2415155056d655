public import Domain

/// The events with more interest keys than `DomainBounds.interestsPerEventMax`, since the planner was made. Their further keys
/// are ignored.
public struct KeysLeftOut: Equatable, Sendable {
  /// The number of such events.
  public var events = 0
  /// The id of the newest such event.
  public var newest: Identifier = ""
  /// The number of its keys that were ignored.
  public var count = 0
}
