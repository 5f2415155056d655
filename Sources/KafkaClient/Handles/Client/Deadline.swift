/// A point in time by which something must be over.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(in duration: Duration) {
    // A year is for ever here, and keeps the addition from overflowing.
    end = .now.advanced(by: min(duration, .seconds(365 * 86_400)))
  }

  /// What is left; zero once it has passed.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }

  var hasPassed: Bool { remaining == .zero }
}

extension Duration {
  /// Milliseconds as librdkafka takes them: rounded up, from 0 (negative would mean for ever) to about 24 days.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
