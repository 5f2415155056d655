import Domain
import LineFiles
import Planning
import Policies
import Replay

/// A comparison over the instances of one kind: every policy and every baseline strategy against the optimum in hindsight.
struct KindComparison {
  let kind: KindPolicy
  let devices: ModelledDevices
  private(set) var contenders: [Contender] = []
  var scores: [PlanScore] = []
  private var arrivals = 0
  private var instances = 0
  /// The number of instance-days on which a change arrived.
  private(set) var instanceDays = 0
  /// The number of instance-days on which the truth of a screen changed.
  var screenDays = 0
  /// The number of those days with so many changes that the optimum did not try a reload at each of them.
  var screenDaysThinned = 0
  /// The days of the first policy from which the drawn example is chosen.
  var examples: [ExampleCandidate] = []

  /// Whether there is anything to report.
  var isEmpty: Bool { instanceDays == 0 && screenDays == 0 }

  /// A plan that is compared, with its budget.
  struct Contender {
    /// The source of the reloads: the replay with this place among all replays, or a strategy.
    enum Reloads { case replay(Int), strategy(ReloadStrategy) }
    var plan: Reloads
    var budget: InstanceBudget
  }

  /// Prepares a comparison. The baselines run once for each different budget of a policy.
  /// - Parameters:
  ///   - kind: The kind under the policy whose rules define the worth of a change.
  ///   - replays: The replays of all policies.
  ///   - devices: The modelled devices.
  ///   - baselines: Whether the baseline strategies are compared too.
  init(kind: KindPolicy, replays: [CandidateReplay], devices: ModelledDevices, baselines: Bool) {
    self.kind = kind
    self.devices = devices
    var budgets: [InstanceBudget] = []
    for (index, replay) in replays.enumerated() {
      guard let own = replay.policy.kind(named: kind.name) else { continue }
      contenders.append(Contender(plan: .replay(index), budget: own.budget))
      scores.append(
        PlanScore(name: replay.name, isPolicy: true, tokens: own.budget.perDay, minInterval: own.budget.minInterval))
      scores[scores.count - 1].objective = own.objective.map(ObjectiveScore.init)
      if !budgets.contains(where: { $0.perDay == own.budget.perDay && $0.minInterval == own.budget.minInterval }) {
        budgets.append(own.budget)
      }
    }
    guard baselines else { return }
    for budget in budgets {
      for strategy in ReloadStrategy.baselines {
        contenders.append(
          Contender(
            plan: .strategy(strategy), budget: InstanceBudget(perDay: budget.perDay, minInterval: budget.minInterval)))
        scores.append(
          PlanScore(
            name: strategy.name, isPolicy: false, tokens: budget.perDay, minInterval: budget.minInterval))
      }
    }
  }

  /// Scores all contenders on one instance.
  /// - Parameters:
  ///   - stream: The changes of the instance.
  ///   - index: The place of the stream among all measured instances.
  ///   - replays: The replays of all policies.
  ///   - report: Receives each day of each contender.
  /// - Throws: The error of `report`.
  mutating func add(
    _ stream: InstanceStream, index: Int, replays: [CandidateReplay],
    report: (BacktestDay) throws(LineFileError) -> Void
  ) throws(LineFileError) {
    if stream.arrivals.isEmpty && stream.screen.changes.isEmpty { return }
    instances += 1
    arrivals += stream.arrivals.count
    let parts = devices.days(of: stream, kind: kind)
    let plans = contenders.map { reloads(of: $0, stream: stream, index: index, replays: replays) }
    let looks = devices.looks(at: stream)
    // A device grants pushes by their times alone, and the planner does not learn which.
    let shown = plans.map { devices.granted($0, stream: stream) }
    for contender in contenders.indices {
      scores[contender].overBudget += overspent(
        plans[contender], budget: contenders[contender].budget, zone: stream.zone)
      scores[contender].refused += plans[contender].count - shown[contender].count
    }
    for (place, contender) in contenders.enumerated() {
      guard case .replay(let replay) = contender.plan else { continue }
      scores[place].objective?.add(
        replays[replay].objectives.changes[index], budget: contender.budget, zone: stream.zone)
    }
    try addScreen(stream, index: index, plans: plans, shown: shown, report: report)
    for part in parts {
      var optima: [Int: HindsightProblem.Solution] = [:]
      let hindsight = part.hindsight
      instanceDays += 1
      for contender in contenders.indices {
        let tokens = contenders[contender].budget.perDay
        let optimum = optima[tokens] ?? hindsight.solve(reloadsMax: tokens)
        optima[tokens] = optimum
        let today = slice(looks, of: part.day)
        let believed = part.score(reloads: slice(plans[contender], of: part.day), tokens: tokens, looks: today)
        scores[contender].add(believed, optimum: optimum)
        let real =
          devices.model.hasBudgets
          ? part.score(reloads: slice(shown[contender], of: part.day), tokens: tokens, looks: today) : believed
        scores[contender].add(shown: real, optimum: optimum)
      }
    }
  }

  /// Returns the part of rising instants that lies within a day.
  private func slice(_ instants: [Int64], of day: LocalDays.Day) -> ArraySlice<Int64> {
    instants[instants.partitioningIndex { $0 >= day.start }..<instants.partitioningIndex { $0 >= day.end }]
  }

  /// Returns the reloads that a contender pays for, µs, rising.
  func reloads(of contender: Contender, stream: InstanceStream, index: Int, replays: [CandidateReplay])
    -> [Int64]
  {
    switch contender.plan {
    case .replay(let replay): return index < replays[replay].reloads.count ? replays[replay].reloads[index] : []
    case .strategy(let strategy):
      return StrategyCourse.reloads(
        strategy, for: stream.screen, free: devices.freeReloads(of: stream), tokens: contender.budget.perDay,
        minInterval: contender.budget.minInterval.microseconds,
        days: LocalDays(zone: stream.zone, anchorMinute: contender.budget.anchorMinute),
        looks: devices.expectedLooks(at: stream, kind: kind))
    }
  }

  /// Returns the number of reloads beyond the budget, recounted from the reloads alone.
  private func overspent(_ reloads: [Int64], budget: InstanceBudget, zone: String) -> Int {
    let perDay = budget.perDay
    var over = 0
    if case .rolling = budget.window {
      for (place, reload) in reloads.enumerated()
      where place >= perDay && reload - reloads[place - perDay] < LocalDays.day { over += 1 }
      return over
    }
    let days = LocalDays(zone: zone, anchorMinute: budget.anchorMinute)
    var day = LocalDays.Day(index: .min, start: .min, end: .min)
    var spent = 0
    for reload in reloads {
      if reload >= day.end {
        day = days.day(at: reload)
        spent = 0
      }
      spent += 1
      if spent > perDay { over += 1 }
    }
    return over
  }

  /// Returns the result for the report.
  /// - Parameter example: A day for the chart.
  func result(example: ExampleDay?) -> BacktestReport.Kind {
    BacktestReport.Kind(
      name: kind.name.text, halfLife: kind.halfLife, instances: instances, instanceDays: instanceDays,
      arrivals: arrivals, screenDays: screenDays, screenDaysThinned: screenDaysThinned, example: example,
      plans: scores.map { $0.result(hasBudgets: devices.model.hasBudgets) })
  }
}
