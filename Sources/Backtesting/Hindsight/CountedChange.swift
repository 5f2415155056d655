/// A change that counts for the objective of its kind, as the decision that closed it says.
struct CountedChange: Equatable, Sendable {
  /// The arrival of its event, µs.
  var from: Int64
  /// The last instant at which showing it was in time, µs; not before `from`.
  var to: Int64
  /// Whether the policy met the objective.
  var isMet: Bool
  /// Whether it was met without a token, in every schedule: it was undone in time, or shown by a reload that costs nothing.
  var isFree: Bool
}
