import Domain

/// What a push to a device would bring and cost right now.
struct Weighing {
  /// The sum of the pending values of every instance that the push would reload, times the chance that somebody looks.
  var worth = 0.0
  /// The sum of the prices of one token of each instance that the push would charge.
  var price = 0.0
  /// The first hard limit that holds, in the order of `Reason`; nil when none does.
  private(set) var block: Reason?
  /// The instant at which the limit lets go.
  private(set) var clearAt = Timestamp.distantFuture

  /// Notes a limit; the first one counts.
  mutating func hold(_ reason: Reason, until: Timestamp) {
    if block == nil {
      block = reason
      clearAt = until
    }
  }
}
