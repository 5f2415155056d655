/// The counts of what has ended for the instances of one kind.
package struct OutcomeCounts: Equatable {
  /// The number of tokens that instances had left when their budget days ended. A day counts when the planner next deals with the
  /// instance, and only if it has dealt with it on that day: an instance without events spends nothing and wastes nothing.
  package var tokensUnspent = 0
  /// The number of pushes that a receipt has answered, by the time between them: one for each of `fetchBounds`, and one beyond; empty if
  /// there is none.
  package var fetches: [UInt64] = []
  /// The sum of these times, in seconds.
  package var fetchSum = 0.0

  /// The upper ends of the buckets of `fetches`, in seconds.
  package static let fetchBounds: [Double] = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 14_400, 86_400]

  /// Adds a push that a receipt has answered.
  ///
  /// - Parameter seconds: The time from the push to the fetch.
  mutating func noteFetch(after seconds: Double) {
    if fetches.isEmpty { fetches = Array(repeating: 0, count: Self.fetchBounds.count + 1) }
    fetches[Self.fetchBounds.firstIndex { seconds <= $0 } ?? Self.fetchBounds.count] += 1
    fetchSum += seconds
  }

  /// Makes counts of nothing.
  package init() {}
}
