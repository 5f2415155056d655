import Domain

/// The score of one plan over all instance-days.
struct PlanScore {
  /// The name of the policy or strategy.
  let name: String
  /// Whether the plan belongs to a policy; otherwise it belongs to a baseline.
  let isPolicy: Bool
  /// The number of tokens that an instance has for a day.
  let tokens: Int
  /// The least time between two reloads.
  let minInterval: TimeSpan
  /// The number of reloads beyond the budget.
  var overBudget = 0
  /// The changes that count for the objective of the kind; nil for a strategy, and for a policy without an objective.
  var objective: ObjectiveScore?
  /// The number of pushes after which the device did not reload the widget.
  var refused = 0
  /// For each instance-day, the value that the plan showed if every push reloaded, as a share of the optimum.
  private var captured: [Double] = []
  private var prices: [Double] = []
  private var optimumReloads = 0
  private var days = 0
  private var staleSeconds = 0.0
  private var criticalWaits: [Double] = []
  private var reloads = 0
  private var wasted = 0
  private var starved = 0
  /// For each instance-day, the value that the screen really showed, as a share of the optimum.
  private var shown: [Double] = []
  private var looks = 0
  private var looksStale = 0
  /// The tokens left at each 24th of the day, summed over all instance-days.
  private var left = [Double](repeating: 0, count: 25)

  /// The wrong looks if every push reloaded the screen, as the planner believes.
  var believed = WrongLooksScore()
  /// The wrong looks by the reloads that devices really made.
  var onScreen = WrongLooksScore()

  init(name: String, isPolicy: Bool, tokens: Int, minInterval: TimeSpan) {
    self.name = name
    self.isPolicy = isPolicy
    self.tokens = tokens
    self.minInterval = minInterval
  }

  /// Adds an instance-day, scored as if every push reloaded the widget, as the planner believes.
  mutating func add(_ score: DayScore, optimum: HindsightProblem.Solution) {
    days += 1
    if optimum.value > 0 {
      captured.append(score.value / optimum.value)
      prices.append(optimum.price)
      optimumReloads += optimum.reloads
    }
    staleSeconds += score.staleSeconds
    criticalWaits += score.criticalWaits
    reloads += score.reloads
    wasted += score.wasted
    if score.reloads == 0, optimum.value > 0 { starved += 1 }
    for (place, tokens) in score.left.enumerated() { left[place] += Double(tokens) }
  }

  /// Adds an instance-day as the screen showed it, with only the pushes that the device granted.
  mutating func add(shown score: DayScore, optimum: HindsightProblem.Solution) {
    if optimum.value > 0 { shown.append(score.value / optimum.value) }
    looks += score.looks
    looksStale += score.looksStale
  }

  /// Returns the result for the report.
  /// - Parameter hasBudgets: Whether devices have hidden budgets and may refuse pushes.
  func result(hasBudgets: Bool) -> BacktestReport.Plan {
    let shown = shown.sorted()
    let count = Double(max(1, days))
    let sorted = captured.sorted()
    let waits = criticalWaits.sorted()
    return BacktestReport.Plan(
      name: name, isPolicy: isPolicy, tokens: tokens, minInterval: minInterval, wrongLooks: believed.result,
      samples: sorted.count,
      capturedMean: sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count),
      capturedP10: Self.quantile(0.1, of: sorted) ?? 0,
      capturedTwentieths: (0...20).map { Self.quantile(Double($0) / 20, of: sorted) ?? 0 },
      staleSecondsPerDay: staleSeconds / count, criticalChanges: waits.count,
      criticalNeverShown: waits.reduce(0) { $0 + ($1.isFinite ? 0 : 1) },
      secondsToFreshP50: Self.quantile(0.5, of: waits), secondsToFreshP95: Self.quantile(0.95, of: waits),
      reloads: reloads, reloadsWasted: wasted, tokensUnusedPerDay: Double(tokens) - Double(reloads) / count,
      daysStarved: starved, overBudget: overBudget, tokensLeftByHour: left.map { $0 / count },
      hindsightPriceMean: prices.isEmpty ? 0 : prices.reduce(0, +) / Double(prices.count),
      hindsightReloadsPerDay: Double(optimumReloads) / Double(max(1, captured.count)),
      screen: hasBudgets || looks > 0
        ? BacktestReport.Screen(
          refused: refused, capturedMean: shown.isEmpty ? 0 : shown.reduce(0, +) / Double(shown.count),
          capturedP10: Self.quantile(0.1, of: shown) ?? 0, looks: looks, looksStale: looksStale,
          wrongLooks: onScreen.result) : nil,
      objective: objective?.result)
  }

  /// Returns the q-quantile of sorted values, the element at place ⌊q · (n − 1)⌋; nil for no values.
  private static func quantile(_ q: Double, of sorted: [Double]) -> Double? {
    if sorted.isEmpty { return nil }
    return sorted[Int((q * Double(sorted.count - 1)).rounded(.down))]
  }
}
