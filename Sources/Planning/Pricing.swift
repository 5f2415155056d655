import Domain

// λ = θ · ((k·F + s) / (left + s))³ · (m + 2f) / (2m + f): what one token of an instance is worth now.
//
// While spending is on plan the fraction is 1 and the price is θ; behind plan (few tokens for what is to come) it rises,
// ahead of plan it falls. The last factor is about what one reload delivers: everything pending. While more comes in than
// usual (f, the flow now, above m, its mean) more is pending after any wait, so a reload should bring more; while little
// comes in a small change is all there will be. In a steady flow the best threshold grows with the root of the flow; the
// fraction follows it near f = m and stays between a half and two.
//
// The third power and the factor were chosen by replaying airports, airlines, matches and random streams against the
// hindsight optimum. Through `rouse simulate`, freshness captured against the second power without the factor, mean and
// p10: airports at 48 tokens 0.920 and 0.900 instead of 0.916 and 0.892, airlines 0.889 and 0.865 instead of 0.872 and
// 0.831. Where all of a day's value comes within two hours that no day before had shown, the third power holds back too
// much when tokens are few: matches told minute by minute at 20 tokens 0.889 instead of 0.915.

extension Planner {
  /// The price, and a step of θ's calibration.
  @inline(__always)
  mutating func price(_ instance: UInt32, left: Int, timeOfDay: Int64, habits: ViewHabits?) -> Double {
    let ratio = scarcity(instance, left: left, timeOfDay: timeOfDay, habits: habits)
    return calibrate(instance, ratio: ratio) * ratio * ratio * ratio * crowding(instance)
  }

  /// The price without calibrating.
  @inline(__always)
  func basePrice(_ instance: UInt32, left: Int, timeOfDay: Int64, habits: ViewHabits?) -> Double {
    let ratio = scarcity(instance, left: left, timeOfDay: timeOfDay, habits: habits)
    let theta = instances[instance].theta
    let kind = Int(instances[instance].kind)
    return (theta > 0 ? Double(theta) : kinds[kind].theta) * kinds[kind].thetaPrior * ratio * ratio * ratio
      * crowding(instance)
  }

  @inline(__always)
  private func scarcity(_ instance: UInt32, left: Int, timeOfDay: Int64, habits: ViewHabits?) -> Double {
    let kind = Int(instances[instance].kind)
    let smoothing = kinds[kind].smoothing
    let toCome =
      habits.map { kinds[kind].shareToCome(timeOfDay: timeOfDay, habits: $0) }
      ?? kinds[kind].shareToCome(timeOfDay: timeOfDay)
    return (Double(kinds[kind].perDay) * toCome + smoothing)
      / (Double(max(0, left)) + smoothing)
  }

  // MARK: θ

  /// The largest step of θ in an hour of log time, once an instance is known …
  private static let stepMax = 0.1
  /// … and how many times that for the first events of an instance, fading as 32 / (32 + events).
  private static let stepBoost = 4.0
  private static let stepBoostEvents = 32.0
  /// θ stays within this factor of the policy's prior, both ways.
  private static let thetaRange = 256.0

  /// θ follows the spending: while there are fewer tokens left than planned it rises, while there are more it falls. That
  /// integrates the error that the scarcity ratio alone leaves standing.
  @inline(__always)
  private mutating func calibrate(_ instance: UInt32, ratio: Double) -> Double {
    let kind = Int(instances[instance].kind)
    let seconds = Self.seconds(now)
    var theta = Double(instances[instance].theta)
    if theta == 0 {
      theta = kinds[kind].theta
    } else {
      let hours = min(1, Double(seconds &- instances[instance].calibratedAt) / 3600)
      if hours <= 0 { return theta * kinds[kind].thetaPrior }
      let known = Double(instances[instance].flowCount)
      let rate =
        Self.stepMax * (1 + Self.stepBoost * Self.stepBoostEvents / (Self.stepBoostEvents + known))
      let step = rate * hours * max(-1, min(1, ratio - 1))
      theta = step > 0 ? theta * (1 + step) : theta / (1 - step)
      theta = max(1 / Self.thetaRange, min(Self.thetaRange, theta))
    }
    instances[instance].theta = Float(theta)
    instances[instance].calibratedAt = seconds
    return Double(instances[instance].theta) * kinds[kind].thetaPrior
  }

  // MARK: Flow

  /// Events over which the mean flow is taken; at 120 a day two days.
  private static let flowEventsMax: UInt8 = 250

  /// (m + 2f) / (2m + f), ½…2; 1 where nothing came yet.
  @inline(__always)
  private func crowding(_ instance: UInt32) -> Double {
    let mean = Double(instances[instance].flowMean)
    if mean <= 0 { return 1 }
    let flow = flow(instance)
    return (mean + 2 * flow) / (2 * mean + flow)
  }

  /// Relevance that came in, times the chance that somebody looks, halved every half-life; what was delivered counts on.
  @inline(__always)
  private func flow(_ instance: UInt32) -> Double {
    let elapsed = Self.seconds(now) &- instances[instance].flowAt
    return Double(instances[instance].flow)
      * Decay.factor(
        halfLives: Double(elapsed) * 1_000_000 * kinds[Int(instances[instance].kind)].inverseHalfLife)
  }

  /// An event that the instance might show has arrived: learns the hour's share of the day and the flow.
  @inline(__always)
  mutating func noteArrival(_ instance: UInt32, relevance: Float, timeOfDay: Int64) {
    let kind = Int(instances[instance].kind)
    kinds[kind].arrivals[Int(timeOfDay / LocalZone.hour)] += Double(relevance)
    kinds[kind].touched = true
    let habits = habits(of: instances[instance].device)
    let flow = flow(instance) + Double(relevance) * view(kind: kind, timeOfDay: timeOfDay, habits: habits)
    let count = min(instances[instance].flowCount + 1, Self.flowEventsMax)
    let mean = Double(instances[instance].flowMean)
    instances[instance].flow = Float(flow)
    instances[instance].flowMean = Float(mean + (flow - mean) / Double(count))
    instances[instance].flowCount = count
    instances[instance].flowAt = Self.seconds(now)
    touch(device: instances[instance].device)
  }

  /// An instance's window has ended: its kind, where new instances start, follows its θ.
  mutating func learnFromWindow(_ instance: UInt32, endedAt end: Int64) {
    guard instances[instance].theta > 0,
      Self.seconds(now) &- instances[instance].calibratedAt <= Self.seconds(now &- end &+ LocalZone.day)
    else { return }
    let kind = Int(instances[instance].kind)
    kinds[kind].follow(theta: Double(instances[instance].theta))
  }

  /// Whole seconds of log time; wraps after 136 years, and so do the differences.
  @inline(__always)
  private static func seconds(_ microseconds: Int64) -> UInt32 { UInt32(truncatingIfNeeded: microseconds / 1_000_000) }
}
