import Domain

// λ = θ · ((k·F + s) / (left + s))²: what one token of an instance is worth now. While spending is on plan the fraction
// is 1 and the price is θ; behind plan (few tokens for what is to come) it rises, ahead of plan it falls.

extension Planner {
  /// The price, and a step of θ's calibration.
  @inline(__always)
  mutating func price(_ instance: UInt32, left: Int, timeOfDay: Int64) -> Double {
    let ratio = scarcity(instance, left: left, timeOfDay: timeOfDay)
    return calibrate(instance, ratio: ratio) * ratio * ratio
  }

  /// The price without calibrating.
  @inline(__always)
  func basePrice(_ instance: UInt32, left: Int, timeOfDay: Int64) -> Double {
    let ratio = scarcity(instance, left: left, timeOfDay: timeOfDay)
    let theta = instances[instance].theta
    return (theta > 0 ? Double(theta) : kinds[Int(instances[instance].kind)].theta) * ratio * ratio
  }

  @inline(__always)
  private func scarcity(_ instance: UInt32, left: Int, timeOfDay: Int64) -> Double {
    let kind = Int(instances[instance].kind)
    let smoothing = kinds[kind].smoothing
    return (Double(kinds[kind].perDay) * kinds[kind].shareToCome(timeOfDay: timeOfDay) + smoothing)
      / (Double(max(0, left)) + smoothing)
  }

  /// θ follows the spending: while there are fewer tokens left than planned it rises, while there are more it falls, by
  /// at most a tenth an hour of log time. That integrates the error that the scarcity ratio alone leaves standing.
  @inline(__always)
  private mutating func calibrate(_ instance: UInt32, ratio: Double) -> Double {
    let kind = Int(instances[instance].kind)
    var theta = Double(instances[instance].theta)
    if theta == 0 {
      theta = kinds[kind].theta
    } else {
      let hours = min(1, Double(now &- instances[instance].calibratedAt) / Double(LocalZone.hour))
      if hours <= 0 { return theta }
      theta *= 1 + 0.1 * max(-1, min(1, ratio - 1)) * hours
      theta = max(kinds[kind].thetaPrior / 32, min(kinds[kind].thetaPrior * 32, theta))
    }
    instances[instance].theta = Float(theta)
    instances[instance].calibratedAt = now
    return Double(instances[instance].theta)
  }
}
