/// The price that one instance has learnt, in 21 bytes. It stands with the instance in the registry; only `Pricing` makes
/// another one of it.
struct PriceState: Equatable {
  /// θ, the instance's base price, as a multiple of the policy's base price; 0 until it is first used, which begins with the
  /// θ of the kind. As it is a multiple, another policy's base price holds at once.
  private(set) var theta: Float = 0
  /// The value of the events that came in lately, as of `flowAt`: relevance times the chance that somebody looks, halved
  /// with each half-life.
  private(set) var flow: Float = 0
  /// The mean of `flow` over the last arrivals.
  private(set) var flowMean: Float = 0
  /// The second of log time for which `flow` is given. Wraps.
  private(set) var flowAt: UInt32 = 0
  /// The second of log time in which θ was calibrated last. Wraps.
  private(set) var calibratedAt: UInt32 = 0
  /// The number of arrivals in `flowMean`, up to a bound.
  private(set) var flowCount: UInt8 = 0

  /// Creates the state of an instance that has learnt nothing yet.
  init() {}

  /// Restores a state as it was written.
  init(theta: Float, calibratedAt: UInt32, flow: Float, flowMean: Float, flowCount: UInt8, flowAt: UInt32) {
    self.theta = theta
    self.calibratedAt = calibratedAt
    self.flow = flow
    self.flowMean = flowMean
    self.flowCount = flowCount
    self.flowAt = flowAt
  }

  /// Returns the state with another θ.
  /// - Parameters:
  ///   - theta: θ as a multiple of the policy's base price.
  ///   - second: The second of log time.
  @inline(__always)
  func calibrated(theta: Double, at second: UInt32) -> PriceState {
    var next = self
    next.theta = Float(theta)
    next.calibratedAt = second
    return next
  }

  /// Returns the state after one more arrival.
  /// - Parameters:
  ///   - flow: The value that came in lately, this event included.
  ///   - mean: The mean of it over the last arrivals.
  ///   - count: The number of arrivals in the mean.
  ///   - second: The second of log time.
  @inline(__always)
  func arrived(flow: Double, mean: Double, count: UInt8, at second: UInt32) -> PriceState {
    var next = self
    next.flow = Float(flow)
    next.flowMean = Float(mean)
    next.flowCount = count
    next.flowAt = second
    return next
  }
}
