public import Domain

/// A count of the events that the planner has refused since it was created, because the policy reads a field of them that holds an
/// integer of more than 64 bits: no interest key, condition or text may be made of a number that is not the one the publisher wrote.
///
/// The planner refuses them and not intake, because it knows the policy. The planners of all partitions refuse the same events, and one
/// of them counts each: the one that the event's id leads to.
public struct InexactNumbers: Equatable, Sendable {
  /// The number of these events.
  public var events = 0
  /// The path of the field in the last of them; empty if there was none.
  public var field: Identifier = ""
}
