import Domain
import Planning
import Policies

/// How much the best plan of one day can show where several limits hold at once: the day's tokens, a rate of pushes, a
/// minimum interval, and instances that share every push. No plan shows more; whether one shows as much is not known.
///
/// The limits are turned into numbers of reloads in windows of time, each a consequence of the limit, and priced: for any
/// prices that are not negative, the best plan that pays them, plus what all the allowed reloads would have cost, is at
/// least what any plan within the limits shows (Lagrangian relaxation; Everett 1963, Fisher 1981). The prices are improved
/// by subgradient steps; the least bound found holds.
struct SharedBound {
  /// At most so many reloads in `from..<to`, µs.
  struct Window: Equatable {
    var from: Int64
    var to: Int64
    var most: Int
  }

  /// Limits of one group of instances under one policy.
  struct Limits: Equatable {
    /// Reloads in a day, µs long.
    var perDay: Int
    /// µs
    var minInterval: Int64
    /// µs between pushes, and their burst; 0: no rate.
    var interval: Int64 = 0
    var burst: Int64 = 0

    init(perDay: Int, minInterval: Int64, rate: BudgetProfile.Rate) {
      self.perDay = perDay
      self.minInterval = minInterval
      if let limit = rate.limit, limit > 0 {
        interval = rate.window.microseconds / Int64(limit)
        burst = Int64(rate.burst)
      }
    }

    /// Reloads that a rate and a minimum interval allow in a window that is open at its end.
    func most(in length: Int64) -> Int {
      var most = Int64.max
      // GCRA lets at most burst + ⌊s / T⌋ pass whose first and last are s apart.
      if interval > 0 { most = min(most, burst + (length - 1) / interval) }
      if minInterval > 0 { most = min(most, 1 + (length - 1) / minInterval) }
      return most == .max ? .max : Int(most)
    }

    /// Windows over a day that say what the limits do to it; the day itself is the first.
    func windows(over day: LocalDays.Day) -> [Window] {
      var windows = [Window(from: day.start, to: day.end, most: min(perDay, most(in: day.end - day.start)))]
      for length in [LocalDays.hour / 2, LocalDays.hour] {
        let most = most(in: length)
        if most >= windows[0].most { continue }
        for from in stride(from: day.start, to: day.end, by: Int(length)) {
          windows.append(Window(from: from, to: min(day.end, from + length), most: most))
        }
      }
      return windows
    }
  }

  let value: Double
  /// The price of the day's reloads at the least bound.
  let price: Double
  private static let steps = 40

  /// - Parameter windows: the first one spans all.
  init(_ problem: HindsightProblem, windows: [Window]) {
    let most = windows[0].most
    let day = problem.solve(reloadsMax: most)
    var least = day.value
    var leastPrice = day.price
    let places = windows.map { window in
      problem.times.partitioningIndex { $0 >= window.from }..<problem.times.partitioningIndex { $0 >= window.to }
    }
    var prices = [Double](repeating: 0, count: windows.count)
    prices[0] = day.price
    let scale = max(day.price, day.value / Double(max(1, day.reloads)) / 4)
    for step in 0..<Self.steps {
      var costs = [Double](repeating: 0, count: problem.count)
      var allowed = 0.0
      for (place, price) in zip(places, prices) where price > 0 { for at in place { costs[at] += price } }
      for (window, price) in zip(windows, prices) { allowed += price * Double(window.most) }
      let plan = problem.plan(prices: costs)
      if plan.net + allowed < least {
        least = plan.net + allowed
        leastPrice = prices[0]
      }
      var excess = [Int](repeating: 0, count: windows.count)
      for (index, place) in places.enumerated() {
        let used =
          plan.chosen.partitioningIndex { $0 >= place.upperBound }
          - plan.chosen.partitioningIndex { $0 >= place.lowerBound }
        excess[index] = used - windows[index].most
      }
      // Within all limits, and no price is paid for what is left over: nothing shows more.
      let violated = zip(excess, prices).contains { $0 > 0 || ($0 < 0 && $1 > 0) }
      if !violated || (step == 0 && !excess.dropFirst().contains { $0 > 0 }) { break }
      let length = excess.enumerated().reduce(0.0) {
        $0 + ($1.element > 0 || prices[$1.offset] > 0 ? Double($1.element * $1.element) : 0)
      }
      let size = scale / (1 + Double(step) / 4) / max(1, length.squareRoot())
      for index in prices.indices { prices[index] = max(0, prices[index] + size * Double(excess[index])) }
    }
    value = least
    price = leastPrice
  }
}
