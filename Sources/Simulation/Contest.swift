import Domain
import Planning
import Policies

/// Who gets how much out of the streams of one kind: every policy and every baseline against hindsight.
struct Contest {
  private let kind: KindPolicy
  private let model: ValueModel
  private var rivals: [Rival] = []
  private var tallies: [PlanTallies] = []
  private var arrivals = 0
  private var instances = 0
  private(set) var instanceDays = 0

  private struct Rival {
    enum Plan { case lane(Int), strategy(ReloadStrategy) }
    var plan: Plan
    var budget: InstanceBudget
  }

  init(kind: KindPolicy, lanes: [SimulationLane], baselines: Bool) {
    self.kind = kind
    model = ValueModel(kind)
    var budgets: [InstanceBudget] = []
    for (index, lane) in lanes.enumerated() {
      guard let own = lane.policy.kind(named: kind.name) else { continue }
      rivals.append(Rival(plan: .lane(index), budget: own.budget))
      tallies.append(
        PlanTallies(name: lane.name, isPolicy: true, tokens: own.budget.perDay, minInterval: own.budget.minInterval))
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
          PlanTallies(
            name: strategy.name, isPolicy: false, tokens: budget.perDay, minInterval: budget.minInterval))
      }
    }
  }

  /// Runs all rivals over one instance.
  mutating func add(_ stream: InstanceStream, index: Int, lanes: [SimulationLane]) {
    if stream.arrivals.isEmpty { return }
    instances += 1
    arrivals += stream.arrivals.count
    var days = LocalDays(zone: stream.zone, anchorMinute: anchorMinute(kind.budget))
    let parts = split(stream, days: &days)
    let plans = rivals.map { reloads(of: $0, stream: stream, index: index, lanes: lanes) }
    for (rival, plan) in zip(rivals.indices, plans) {
      tallies[rival].overBudget += overspent(plan, budget: rivals[rival].budget, zone: stream.zone)
    }
    for part in parts {
      var optima: [Int: HindsightProblem.Solution] = [:]
      let hindsight = part.hindsight
      instanceDays += 1
      for rival in rivals.indices {
        let tokens = rivals[rival].budget.perDay
        let optimum = optima[tokens] ?? hindsight.solve(reloadsMax: tokens)
        optima[tokens] = optimum
        let from = plans[rival].partitioningIndex { $0 >= part.day.start }
        let to = plans[rival].partitioningIndex { $0 >= part.day.end }
        tallies[rival].add(part.score(reloads: plans[rival][from..<to], tokens: tokens), optimum: optimum)
      }
    }
  }

  private func anchorMinute(_ budget: InstanceBudget) -> Int {
    if case .localDay(let minute) = budget.window { minute } else { 240 }
  }

  private func split(_ stream: InstanceStream, days: inout LocalDays) -> [InstanceDay] {
    var parts: [InstanceDay] = []
    var start = 0
    while start < stream.arrivals.count {
      let day = days.day(at: stream.arrivals[start].time)
      var end = start
      while end < stream.arrivals.count, stream.arrivals[end].time < day.end { end += 1 }
      parts.append(InstanceDay(day: day, model: model, arrivals: stream.arrivals[start..<end], days: &days))
      start = end
    }
    return parts
  }

  private func reloads(of rival: Rival, stream: InstanceStream, index: Int, lanes: [SimulationLane]) -> [Int64] {
    switch rival.plan {
    case .lane(let lane): return index < lanes[lane].reloads.count ? lanes[lane].reloads[index] : []
    case .strategy(let strategy):
      return strategy.reloads(
        for: stream.arrivals, tokens: rival.budget.perDay, minInterval: rival.budget.minInterval.microseconds,
        days: LocalDays(zone: stream.zone, anchorMinute: anchorMinute(rival.budget)))
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
    let days = LocalDays(zone: zone, anchorMinute: anchorMinute(budget))
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

  var result: SimulationReport.Kind {
    SimulationReport.Kind(
      name: kind.name, halfLife: kind.halfLife, instances: instances, instanceDays: instanceDays, arrivals: arrivals,
      plans: tallies.map(\.result))
  }
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
