import Synchronization

/// A rate limit: a bucket that fills at a rate up to two seconds' worth, and from which each record takes a token. May be used from any
/// thread.
///
/// A request is admitted while the bucket is not empty, and then takes a token for each of its records. So a batch that is larger than
/// the bucket is possible, and the key then waits until the debt is paid.
public final class TokenBucket: Sendable {
  private struct State {
    var tokens: Double
    var filledAt: ContinuousClock.Instant
  }

  private let perSecond: Double
  private let state: Mutex<State>

  /// The seconds in which an empty bucket becomes full.
  private static let burstSeconds = 2.0

  /// Makes a full bucket.
  ///
  /// - Parameters:
  ///   - perSecond: The tokens a second.
  ///   - now: The time.
  init(perSecond: Int, now: ContinuousClock.Instant = .now) {
    self.perSecond = Double(perSecond)
    state = Mutex(State(tokens: Double(perSecond) * Self.burstSeconds, filledAt: now))
  }

  /// Returns the whole seconds until a request is admitted; nil if it is at once.
  ///
  /// - Parameter now: The time.
  public func secondsUntilAdmitted(at now: ContinuousClock.Instant = .now) -> Int? {
    let tokens = state.withLock { state in
      fill(&state, now)
      return state.tokens
    }
    return tokens >= 1 ? nil : max(1, Int(((1 - tokens) / perSecond).rounded(.up)))
  }

  /// Takes a token for each record.
  ///
  /// - Parameters:
  ///   - count: The number of records.
  ///   - now: The time.
  public func take(_ count: Int, at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      fill(&state, now)
      state.tokens -= Double(count)
    }
  }

  /// Whether the bucket is as full as a new one.
  ///
  /// - Parameter now: The time.
  func isFull(at now: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      fill(&state, now)
      return state.tokens >= perSecond * Self.burstSeconds
    }
  }

  private func fill(_ state: inout State, _ now: ContinuousClock.Instant) {
    let seconds = max(0, (now - state.filledAt) / .seconds(1))
    state.tokens = min(perSecond * Self.burstSeconds, state.tokens + seconds * perSecond)
    state.filledAt = max(state.filledAt, now)
  }
}
