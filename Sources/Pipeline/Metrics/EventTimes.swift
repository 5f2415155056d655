import Domain
import Observing

/// The times of the events that a planner thread has decided and not committed yet, so that each of them counts with its own age.
///
/// An event costs eight bytes until the commit, and a few comparisons at the end of its turn and at the commit. Memory is kept for the next
/// transaction.
struct EventTimes {
  /// The times, in µs since 1970, in the order of the decisions.
  private var times: [Int64] = []
  /// The number of times that `observeDecided` has counted.
  private var counted = 0
  /// The upper ends of the buckets, in µs, and the number of events in each.
  private let bounds: [Int64]
  private var buckets: [UInt64]

  /// The most events of one transaction whose ages are known at its commit: 8 MB. A thread plans
  /// for one transaction at most `planner.commitIntervalMilliseconds`.
  /// - Beyond: `rouse_event_to_decision_seconds` counts them, and `rouse_event_to_commit_seconds` does not.
  static let uncommittedMax = 1 << 20

  /// Makes the times of no event.
  ///
  /// - Parameter bounds: The upper ends of the buckets of both histograms, in seconds.
  init(bounds: [Double] = CommitMetrics.ages) {
    self.bounds = bounds.map { Int64($0 * 1_000_000) }
    buckets = Array(repeating: 0, count: bounds.count + 1)
  }

  /// Takes an event in.
  ///
  /// - Parameter time: The event's own time.
  mutating func note(_ time: Timestamp) { times.append(time.microseconds) }

  /// Adds the ages of the events since the last call to a histogram.
  ///
  /// - Parameters:
  ///   - histogram: Gets the ages in seconds; the age of an event of the future is 0.
  ///   - now: The wall clock, in µs since 1970.
  mutating func observeDecided(_ histogram: MetricFamily, at now: Int64) {
    observe(counted..<times.count, histogram, at: now)
    if times.count > Self.uncommittedMax { times.removeSubrange(Self.uncommittedMax...) }
    counted = times.count
  }

  /// Adds the ages of all events to a histogram, and forgets them.
  ///
  /// - Parameters:
  ///   - histogram: Gets the ages in seconds.
  ///   - now: The wall clock, in µs since 1970.
  mutating func observeCommitted(_ histogram: MetricFamily, at now: Int64) {
    observe(0..<times.count, histogram, at: now)
    removeAll()
  }

  /// Forgets all events.
  mutating func removeAll() {
    times.removeAll(keepingCapacity: true)
    counted = 0
  }

  private mutating func observe(_ events: Range<Int>, _ histogram: MetricFamily, at now: Int64) {
    guard !events.isEmpty else { return }
    for bucket in buckets.indices { buckets[bucket] = 0 }
    var (sum, last) = (0.0, 0)
    for event in events {
      let age = max(0, now.subtractingSaturating(times[event]))
      sum += Double(age)
      // Neighbours are usually of nearly one age.
      if last > 0, age <= bounds[last - 1] { last = 0 }
      while last < bounds.count, age > bounds[last] { last += 1 }
      buckets[last] += 1
    }
    histogram.add(buckets: buckets, sum: sum / 1_000_000)
  }
}
