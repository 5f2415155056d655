public import Domain

/// The events that were not decided since the planner was made, because they are not newer than events of their subject and type
/// that are no longer remembered. Each may be a repeat of one that was decided. Events without subscribers are not counted.
public struct EventsTooOld: Equatable, Sendable {
  /// The number of such events.
  public var events = 0
  /// The id of the newest such event.
  public var newest: Identifier = ""
}
