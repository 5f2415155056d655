import Domain
import Planning
import Policies
import Replay
import Testing

@testable import Backtesting

/// Tests on days that are small enough to try every plan.
@Suite("The upper bound over several limits")
struct SharedBoundTests {
  private static let slot: Int64 = 6 * 60_000_000
  private static let slots = 16
  /// 2026-07-01 04:00 GMT
  private static let start: Int64 = 1_782_878_400_000_000

  private struct Widget {
    var arrivals: [Arrival]
    var model: ValueModel
  }

  private static func kind(_ name: Identifier, halfLife: Int64, perDay: Int, minInterval: TimeSpan) -> KindPolicy {
    KindPolicy(
      name: name, budget: InstanceBudget(perDay: perDay, minInterval: minInterval), halfLife: .minutes(halfLife),
      rules: [], views: Array(repeating: 1, count: 24))
  }

  private static func arrivals(_ random: inout SeededRandom) -> [Arrival] {
    var arrivals: [Arrival] = []
    for place in 0..<slots where random.chance(1, in: 2) {
      let time = start + Int64(place) * slot
      arrivals.append(Arrival(time: time, expires: time + 20 * slot, relevance: Float(1 + random.below(100)) / 100))
    }
    return arrivals
  }

  /// Returns the value that a plan of pushes shows on one widget.
  private static func value(_ pushes: [Int64], _ widget: Widget) -> Double {
    var sum = 0.0
    var shown = Int64.min
    for push in pushes {
      for arrival in widget.arrivals where arrival.time > shown && arrival.time <= push && arrival.expires > push {
        sum += Double(arrival.relevance) * widget.model.decay(push - arrival.time)
      }
      shown = push
    }
    return sum
  }

  /// Returns every plan of one device within the limits, with pushes on a grid. Arrivals, interval and rate are multiples
  /// of the grid. So a push moved to the earliest allowed instant of the same worth is on the grid, and no plan is missed.
  private static func plans(perDay: Int, minInterval: Int64, rate: BudgetProfile.Rate) -> [[Int64]] {
    var plans: [[Int64]] = []
    let ledger = RateLedger(rate)
    func extend(_ plan: [Int64], from place: Int, rate: RateState) {
      plans.append(plan)
      if plan.count == perDay { return }
      for next in place..<slots {
        let at = start + Int64(next) * slot
        if let last = plan.last, at - last < minInterval { continue }
        let now = Timestamp(microseconds: at)
        guard ledger.admits(rate, now: now) else { continue }
        var after = rate
        ledger.charge(&after, now: now)
        extend(plan + [at], from: next + 1, rate: after)
      }
    }
    extend([], from: 0, rate: RateState())
    return plans
  }

  private static func rate(_ limit: Int?, burst: Int) -> BudgetProfile.Rate {
    BudgetProfile.Rate(
      limit: limit, window: .hours(1), burst: burst,
      provenance: BudgetProfile.Provenance(source: "test", confidence: "inference"))
  }

  @Test(
    "no plan of a device shows more than the bound over tokens, interval and a rate that two widgets share",
    arguments: 1...30 as ClosedRange<UInt64>)
  func device(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let perDay = 2 + random.below(3)
    let rate = Self.rate(random.chance(1, in: 4) ? nil : 5, burst: 1 + random.below(2))
    let minInterval = Int64(random.below(3)) * Self.slot
    let widgets = (0..<(1 + random.below(2))).map { place in
      Widget(
        arrivals: Self.arrivals(&random),
        model: ValueModel(Self.kind("K\(place)", halfLife: Int64(10 + 20 * place), perDay: perDay, minInterval: .zero)))
    }
    var best = 0.0
    for plan in Self.plans(perDay: perDay, minInterval: minInterval, rate: rate) {
      best = max(best, widgets.reduce(0) { $0 + Self.value(plan, $1) })
    }
    var days = LocalDays(zone: "GMT", anchorMinute: 240)
    let day = days.day(at: Self.start)
    let parts = widgets.map { InstanceDay(day: day, model: $0.model, arrivals: $0.arrivals[...], days: &days) }
    let limits = SharedBound.Limits(perDay: perDay, minInterval: minInterval, rate: rate)
    let windows = limits.windows(over: day)
    let problem = HindsightProblem(together: parts, at: Set(windows.map(\.from)).sorted())
    let bound = SharedBound(problem, windows: windows).value
    let alone = parts.reduce(0) { $0 + $1.optimum(tokens: perDay).value }
    print("seed \(seed): optimum \(best), bound \(bound), gap \(bound / max(best, 1e-9) - 1), sum of optima \(alone)")
    #expect(bound >= best - 1e-5, "seed \(seed)")
    #expect(bound <= alone * 2 + 1e-5, "seed \(seed)")
    // The windows are half an hour and more, so bursts within them loosen the bound.
    #expect(bound <= best * 1.5 + 1e-5, "seed \(seed)")
    if rate.limit == nil, minInterval == 0 { #expect(bound <= best + 1e-4, "seed \(seed)") }
  }

  @Test(
    "no plan of two devices shows more than the bound over the daily number of their app",
    arguments: 100...112 as ClosedRange<UInt64>)
  func app(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let perDay = 2
    let appPerDay = 1 + random.below(3)
    let kind = Self.kind("K", halfLife: 20, perDay: perDay, minInterval: .minutes(6))
    let rate = Self.rate(5, burst: 1)
    var profile = PolicyProfiles.standard
    profile.devicePushes = rate
    let policy = Policy(
      reference: Policy.none.reference, profile: profile, apps: [AppBudget(app: "a.b", perDay: appPerDay)],
      kinds: [kind])
    let streams = (0..<2).map { device in
      InstanceStream(
        device: "d\(device)", app: "a.b", instance: "w", kind: "K", zone: "GMT", reach: .widgetPush,
        arrivals: Self.arrivals(&random))
    }
    let plans = Self.plans(perDay: perDay, minInterval: Self.slot, rate: rate)
    var best = [Double](repeating: 0, count: appPerDay + 1)
    for stream in streams {
      // The best value by the number of the app's pushes used.
      var more = best
      for plan in plans {
        let value = Self.value(plan, Widget(arrivals: stream.arrivals, model: ValueModel(kind)))
        for used in plan.count..<max(plan.count, appPerDay + 1) {
          more[used] = max(more[used], best[used - plan.count] + value)
        }
      }
      best = more
    }
    let model = DeviceModel()
    let devices = ModelledDevices(model, screens: nil, streams: streams)
    let replay = CandidateReplay(BacktestOptions.Candidate(name: "p", policy: policy))
    replay.equip(streams, devices, objectiveShare: 1)
    let shared = try #require(SharedLimitsComparison(streams, devices: devices, kinds: [kind]).result(replay))
    let optimum = best[appPerDay]
    print("seed \(seed): optimum \(optimum), bound \(shared.upperBound), sum of optima \(shared.sumOfOptima)")
    #expect(shared.upperBound >= optimum - 1e-5, "seed \(seed)")
    #expect(shared.upperBound <= shared.sumOfOptima + 1e-5)
    #expect(shared.upperBound <= optimum * 1.5, "seed \(seed)")
  }

  @Test("a window allows as many pushes as GCRA admits: the burst, and one more per interval")
  func window() {
    let limits = SharedBound.Limits(perDay: 48, minInterval: 0, rate: Self.rate(5, burst: 3))
    #expect(limits.most(in: 1) == 3)
    #expect(limits.most(in: LocalDays.hour) == 7)
    #expect(SharedBound.Limits(perDay: 48, minInterval: 900_000_000, rate: .unlimited).most(in: LocalDays.hour) == 4)
  }
}
