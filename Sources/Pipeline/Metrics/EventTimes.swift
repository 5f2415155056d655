import Domain
import Observing

/// The times of the oldest and the newest event of a batch, which stand for the events between them.
struct EventTimes {
  private var ends: (oldest: Timestamp, newest: Timestamp)?

  /// Makes the times of an empty batch.
  init() {}

  /// Takes an event in.
  ///
  /// - Parameter time: The event's own time.
  mutating func note(_ time: Timestamp) {
    guard let (oldest, newest) = ends else { return ends = (time, time) }
    ends = (min(oldest, time), max(newest, time))
  }

  /// Takes the events of another batch in.
  mutating func note(_ other: EventTimes) {
    guard let (oldest, newest) = other.ends else { return }
    note(oldest)
    note(newest)
  }

  /// Adds the ages of both events to a histogram. Does nothing for an empty batch.
  ///
  /// - Parameters:
  ///   - histogram: Gets the ages in seconds; the age of an event of the future is 0.
  ///   - now: The wall clock, in µs since 1970.
  func observe(_ histogram: MetricFamily, at now: Int64) {
    guard let (oldest, newest) = ends else { return }
    for time in [oldest, newest] {
      histogram.observe(Double(max(0, now - time.microseconds)) / 1_000_000)
    }
  }
}
