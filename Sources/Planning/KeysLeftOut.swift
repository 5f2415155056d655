/// Events with more interest keys than `DomainBounds.interestsPerEventMax`, since the planner was made.
public struct KeysLeftOut: Equatable, Sendable {
  public var events = 0
  /// The newest such event, and how many of its keys were left out.
  public var newest = ""
  public var count = 0
}
