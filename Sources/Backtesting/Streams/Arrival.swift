/// A change that an instance could show.
struct Arrival: Equatable, Sendable {
  /// The log time at which the planner learns of the change, µs.
  var time: Int64
  /// The time from which showing the change is worth nothing, µs.
  var expires: Int64
  /// The relevance, 0…1; 0 for a change that cannot be seen.
  var relevance: Float
}
