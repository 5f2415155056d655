import Domain

/// The worth and the price of a push to a device at the current log time, and the limit that forbids it.
struct Weighing {
  /// ΣW, the worth of the push in looks: the sum over every instance that it would reload.
  var worth = 0.0
  /// Σλ + μ, in looks: the price of a token of each instance that the push would charge, and that of a token of the device's
  /// rate.
  var price: Double { instancePrice + ratePrice }
  /// Σλ, in looks: the sum of the token prices of every instance that the push would charge.
  var instancePrice = 0.0
  /// μ, in looks: the price of a token of the device's rate of pushes; 0 if such a token has no price now.
  var ratePrice = 0.0
  /// The first reason to hold the push back, in the order of `Reason`; nil when there is none.
  private(set) var block: Reason?
  /// The time at which that reason no longer holds; the distant future when there is none.
  private(set) var clearAt = Timestamp.distantFuture

  /// The worth beyond the price of the instances' tokens, in looks; never negative.
  var surplus: Double { max(0, worth - instancePrice) }

  /// Adds a reason to hold the push back. Only the first one counts.
  /// - Parameters:
  ///   - reason: The reason.
  ///   - until: The time at which it no longer holds.
  mutating func hold(_ reason: Reason, until: Timestamp) {
    if block == nil {
      block = reason
      clearAt = until
    }
  }
}
