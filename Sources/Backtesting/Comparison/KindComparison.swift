import Domain
import Planning
import Policies

/// Who gets how much out of the streams of one kind: every policy and every baseline against hindsight.
struct KindComparison {
  private let kind: KindPolicy
  private let devices: ModelledDevices
  private var rivals: [Rival] = []
  private var tallies: [PlanScore] = []
  private var arrivals = 0
  private var instances = 0
  private(set) var instanceDays = 0

  private struct Rival {
    enum Plan { case replay(Int), strategy(ReloadStrategy) }
    var plan: Plan
    var budget: InstanceBudget
  }

  init(kind: KindPolicy, replays: [CandidateReplay], devices: ModelledDevices, baselines: Bool) {
    self.kind = kind
    self.devices = devices
    var budgets: [InstanceBudget] = []
    for (index, replay) in replays.enumerated() {
      guard let own = replay.policy.kind(named: kind.name) else { continue }
      rivals.append(Rival(plan: .replay(index), budget: own.budget))
      tallies.append(
        PlanScore(name: replay.name, isPolicy: true, tokens: own.budget.perDay, minInterval: own.budget.minInterval))
      if !budgets.contains(where: { $0.perDay == own.budget.perDay && $0.minInterval == own.budget.minInterval }) {
        budgets.append(own.budget)
      }
    }
    guard baselines else { return }
    for budget in budgets {
      for strategy in ReloadStrategy.baselines {
        rivals.append(
          Rival(
            plan: .strategy(strategy), budget: InstanceBudget(perDay: budget.perDay, minInterval: budget.minInterval)))
        tallies.append(
          PlanScore(
            name: strategy.name, isPolicy: false, tokens: budget.perDay, minInterval: budget.minInterval))
      }
    }
  }

  /// Runs all rivals over one instance.
  mutating func add(_ stream: InstanceStream, index: Int, replays: [CandidateReplay]) {
    if stream.arrivals.isEmpty { return }
    instances += 1
    arrivals += stream.arrivals.count
    let parts = devices.days(of: stream, kind: kind)
    let plans = rivals.map { reloads(of: $0, stream: stream, index: index, replays: replays) }
    let looks = devices.looks(at: stream)
    // What a device grants depends on the pushes alone; the planner does not see it.
    let shown = plans.map { devices.granted($0, stream: stream) }
    for rival in rivals.indices {
      tallies[rival].overBudget += overspent(plans[rival], budget: rivals[rival].budget, zone: stream.zone)
      tallies[rival].refused += plans[rival].count - shown[rival].count
    }
    for part in parts {
      var optima: [Int: HindsightProblem.Solution] = [:]
      let hindsight = part.hindsight
      instanceDays += 1
      for rival in rivals.indices {
        let tokens = rivals[rival].budget.perDay
        let optimum = optima[tokens] ?? hindsight.solve(reloadsMax: tokens)
        optima[tokens] = optimum
        let today = slice(looks, of: part.day)
        let believed = part.score(reloads: slice(plans[rival], of: part.day), tokens: tokens, looks: today)
        tallies[rival].add(believed, optimum: optimum)
        let real =
          devices.model.hasBudgets
          ? part.score(reloads: slice(shown[rival], of: part.day), tokens: tokens, looks: today) : believed
        tallies[rival].add(shown: real, optimum: optimum)
      }
    }
  }

  private func slice(_ instants: [Int64], of day: LocalDays.Day) -> ArraySlice<Int64> {
    instants[instants.partitioningIndex { $0 >= day.start }..<instants.partitioningIndex { $0 >= day.end }]
  }

  private func reloads(of rival: Rival, stream: InstanceStream, index: Int, replays: [CandidateReplay]) -> [Int64] {
    switch rival.plan {
    case .replay(let replay): return index < replays[replay].reloads.count ? replays[replay].reloads[index] : []
    case .strategy(let strategy):
      return strategy.reloads(
        for: stream.arrivals, tokens: rival.budget.perDay, minInterval: rival.budget.minInterval.microseconds,
        days: LocalDays(zone: stream.zone, anchorMinute: rival.budget.anchorMinute))
    }
  }

  /// Reloads beyond the budget, recounted from what was sent.
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

  var result: BacktestReport.Kind {
    BacktestReport.Kind(
      name: kind.name, halfLife: kind.halfLife, instances: instances, instanceDays: instanceDays, arrivals: arrivals,
      plans: tallies.map { $0.result(hasBudgets: devices.model.hasBudgets) })
  }
}

extension InstanceBudget {
  /// When the day begins that reports count by, minutes after local midnight.
  var anchorMinute: Int { if case .localDay(let minute) = window { minute } else { 240 } }
}

extension Array {
  /// First place from which on the condition holds; the array must be ordered so that it does.
  func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
