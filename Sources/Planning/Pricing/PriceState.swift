/// What an instance has taught about its own price, in 21 bytes. Only `Pricing` makes one.
struct PriceState: Equatable {
  /// θ, the instance's base price, as a multiple of the policy's, so that another policy's base price holds at once. 0: the
  /// kind's θ counts at first use.
  private(set) var theta: Float = 0
  /// The relevance times view chance that came in lately, as of `flowAt`.
  private(set) var flow: Float = 0
  /// The mean of `flow` over arrivals.
  private(set) var flowMean: Float = 0
  /// The second of log time for which `flow` is given. Wraps.
  private(set) var flowAt: UInt32 = 0
  /// The second of log time in which θ was calibrated last. Wraps.
  private(set) var calibratedAt: UInt32 = 0
  /// The arrivals that `flowMean` knows, up to a bound.
  private(set) var flowCount: UInt8 = 0

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
  @inline(__always)
  func calibrated(theta: Double, at second: UInt32) -> PriceState {
    var next = self
    next.theta = Float(theta)
    next.calibratedAt = second
    return next
  }

  /// Returns the state after one more arrival.
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
