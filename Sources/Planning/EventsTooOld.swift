public import Domain

/// A count of the events that the planner has left undecided since it was created, because they may be repeats: each was not
/// newer than some event of its subject and type that the planner no longer remembers. Events without subscribers are not
/// counted.
public struct EventsTooOld: Equatable, Sendable {
  /// The number of these events.
  public var events = 0
  /// The id of the last of them in the log; empty if there was none.
  public var newest: Identifier = ""
}
