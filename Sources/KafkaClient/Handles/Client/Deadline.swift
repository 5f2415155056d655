/// A point in time at which a wait ends.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(in duration: Duration) {
    // Waits of more than a year are cut to a year, so that the addition cannot overflow.
    end = .now.advanced(by: min(duration, .seconds(365 * 86_400)))
  }

  /// The time until the deadline; zero once it has passed.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }

  var hasPassed: Bool { remaining == .zero }
}

extension Duration {
  /// The duration in milliseconds as librdkafka takes it: rounded up, from 0 (a negative number would mean for ever) to 23 days.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
