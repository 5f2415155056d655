/// The pauses after failures: exponential, with full jitter, so that devices that failed together do not come back together.
struct BackOff: Sendable {
  /// The upper end of the first pause.
  var first: Duration
  /// The upper end of every pause.
  var longest: Duration

  /// The doublings after which the upper end does not grow any longer, whatever `longest` is.
  private static let doublings = 20

  /// Returns the pause before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: The failed attempts in a row, at least 1.
  ///   - retryAfter: The pause that the server asks for; nil for none. The jitter comes on top of it.
  ///   - random: A number of [0, 1).
  func pause(after failures: Int, retryAfter: Duration?, random: Double) -> Duration {
    let end = min(longest, first * (1 << min(Self.doublings, max(0, failures - 1))))
    return (retryAfter ?? .zero) + end * random
  }
}
