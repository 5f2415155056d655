public import Domain

/// The objective of a kind: the share of its changes that screens are to show within a time.
///
/// The planner marks each final decision about a change that counts as met or missed (`ObjectiveResult`). Nothing is decided by it.
public struct FreshnessObjective: Equatable, Sendable {
  /// The time from the arrival of a change until the screen shows it.
  public var freshWithin: TimeSpan
  /// The share of changes for which that is to hold, above 0 and below 1. The rest is the error budget.
  public var share: Double
  /// The relevance from which on a change counts: how wrong it makes the screen of its subject, unless its rule states another.
  public var wrongAtLeast: Double

  /// Creates an objective. Nothing is checked.
  public init(freshWithin: TimeSpan, share: Double, wrongAtLeast: Double = 0) {
    self.freshWithin = freshWithin
    self.share = share
    self.wrongAtLeast = wrongAtLeast
  }

  /// Returns whether a change counts.
  /// - Parameter relevance: Its relevance, 0…1.
  package func counts(relevance: Float) -> Bool {
    // Compared as decisions state it, so that both say the same of a bound such as 0.3.
    relevance >= Float(wrongAtLeast)
  }

  /// Returns the result of a change that the screen shows, or that was undone; nil if it does not count.
  /// - Parameters:
  ///   - relevance: Its relevance, 0…1.
  ///   - waited: The time since its arrival.
  package func result(relevance: Float, waited: TimeSpan) -> ObjectiveResult? {
    guard counts(relevance: relevance) else { return nil }
    return waited <= freshWithin ? .met : .missed
  }
}
