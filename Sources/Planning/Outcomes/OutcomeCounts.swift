/// The counts of what has ended for the instances of one kind.
package struct OutcomeCounts: Equatable {
  /// The number of tokens that instances had left when their budget days ended. A day counts when the planner next deals with the
  /// instance, and only if it has dealt with it on that day: an instance without events spends nothing and wastes nothing.
  package var tokensUnspent = 0
  /// The times from pushes to their receipts.
  package var fetches = Times()
  /// The times from events to the receipts of the pushes that show them, the oldest event of each push.
  package var shownEvents = Times()

  /// The upper ends of the buckets of `Times`, in seconds.
  package static let fetchBounds: [Double] = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 14_400, 86_400]

  /// Makes counts of nothing.
  package init() {}

  /// Times by how long they are.
  package struct Times: Equatable {
    /// The number of times, one for each of `fetchBounds`, and one beyond; empty if there is none.
    package private(set) var buckets: [UInt64] = []
    /// The sum of the times, in seconds.
    package private(set) var sum = 0.0

    /// Whether there is none.
    package var isEmpty: Bool { buckets.isEmpty }

    /// Adds a time.
    ///
    /// - Parameter seconds: The time, in seconds; not negative.
    mutating func note(_ seconds: Double) {
      if buckets.isEmpty { buckets = Array(repeating: 0, count: fetchBounds.count + 1) }
      buckets[fetchBounds.firstIndex { seconds <= $0 } ?? fetchBounds.count] += 1
      sum += seconds
    }
  }
}
