import Synchronization

/// The rate limits of the subjects of tokens. May be used from any thread.
final class PrincipalRates: Sendable {
  /// The most subjects at a time whose rate is kept. A rate that is not used for two seconds is forgotten without a loss.
  /// - Beyond: further subjects share one rate.
  static let subjectsMax = 4096

  private let perSecond: Int
  private let shared: TokenBucket
  private let buckets = Mutex<[String: TokenBucket]>([:])

  /// Makes rates that nobody has used.
  ///
  /// - Parameter perSecond: The records that each subject may send a second.
  init(perSecond: Int) {
    self.perSecond = perSecond
    shared = TokenBucket(perSecond: perSecond)
  }

  /// Returns the rate of a subject.
  ///
  /// - Parameters:
  ///   - subject: The subject.
  ///   - now: The time.
  func bucket(of subject: String, at now: ContinuousClock.Instant = .now) -> TokenBucket {
    buckets.withLock { buckets in
      if let bucket = buckets[subject] { return bucket }
      if buckets.count >= Self.subjectsMax { buckets = buckets.filter { !$0.value.isFull(at: now) } }
      guard buckets.count < Self.subjectsMax else { return shared }
      let bucket = TokenBucket(perSecond: perSecond, now: now)
      buckets[subject] = bucket
      return bucket
    }
  }
}
