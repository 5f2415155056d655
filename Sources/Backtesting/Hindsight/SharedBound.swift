import Domain
import Planning
import Policies
import Replay

/// An upper bound on the value that any plan of one day can show if several limits hold at once: the day's tokens, a rate
/// of pushes, a minimum interval, and instances that share every push. The best plan may show less than the bound.
///
/// Each limit implies a largest number of reloads in windows of time, and every window gets a price. For any prices that
/// are not negative, the value of the best plan after paying them, plus the price of all reloads that the windows allow,
/// is at least the value of any plan within the limits (Lagrangian relaxation: Everett, 1963; Fisher, 1981). Subgradient
/// steps improve the prices, and the least bound found is the result.
struct SharedBound {
  /// A window of time with a largest number of reloads.
  struct PricedSpan: Equatable {
    /// The first instant, µs.
    var from: Int64
    /// The end, µs; not part of the window.
    var to: Int64
    /// The largest number of reloads in the window.
    var most: Int
  }

  /// The limits of one group of instances under one policy.
  struct Limits: Equatable {
    /// The largest number of reloads in a day.
    var perDay: Int
    /// The least time between two reloads, µs; 0 for none.
    var minInterval: Int64
    /// The time per push of the rate, T of GCRA, µs; 0 for no rate.
    var interval: Int64 = 0
    /// The number of pushes that the rate allows at once; 0 for no rate.
    var burst: Int64 = 0

    /// Creates limits.
    /// - Parameters:
    ///   - perDay: The largest number of reloads in a day.
    ///   - minInterval: The least time between two reloads, µs; 0 for none.
    ///   - rate: The rate of pushes.
    init(perDay: Int, minInterval: Int64, rate: BudgetProfile.Rate) {
      self.perDay = perDay
      self.minInterval = minInterval
      if let limit = rate.limit, limit > 0 {
        interval = rate.window.microseconds / Int64(limit)
        burst = Int64(rate.burst)
      }
    }

    /// Returns the largest number of reloads that the rate and the minimum interval allow in a window that excludes its
    /// end.
    /// - Parameter length: The length of the window, µs; at least 1.
    func most(in length: Int64) -> Int {
      var most = Int64.max
      // GCRA admits at most burst + ⌊s / T⌋ pushes of which the first and the last are s apart.
      if interval > 0 { most = min(most, burst + (length - 1) / interval) }
      if minInterval > 0 { most = min(most, 1 + (length - 1) / minInterval) }
      return most == .max ? .max : Int(most)
    }

    /// Returns the windows of a day in which the limits bind. The first window is the whole day.
    func windows(over day: LocalDays.Day) -> [PricedSpan] {
      var windows = [PricedSpan(from: day.start, to: day.end, most: min(perDay, most(in: day.end - day.start)))]
      for length in [LocalDays.hour / 2, LocalDays.hour] {
        let most = most(in: length)
        if most >= windows[0].most { continue }
        for from in stride(from: day.start, to: day.end, by: Int(length)) {
          windows.append(PricedSpan(from: from, to: min(day.end, from + length), most: most))
        }
      }
      return windows
    }
  }

  /// The upper bound on the value that any plan can show.
  let value: Double
  /// The price of a reload, in value, in the window of the whole day, for which the bound was found.
  let price: Double
  /// The largest number of subgradient steps.
  private static let steps = 40

  /// Computes the bound of one day.
  /// - Parameters:
  ///   - problem: The instances of the day, together.
  ///   - windows: The windows in which limits bind; the first one spans all.
  init(_ problem: HindsightProblem, windows: [PricedSpan]) {
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
      // The plan keeps all limits and pays no price for a window that is not full, so it is the optimum.
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
