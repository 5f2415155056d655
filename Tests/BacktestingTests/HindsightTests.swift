import Domain
import Planning
import Policies
import Replay
import Testing

@testable import Backtesting

@Suite("The hindsight optimum")
struct HindsightTests {
  private static let minute: Int64 = 60_000_000

  private static func model(views: [Double] = Array(repeating: 1, count: 24)) -> ValueModel {
    ValueModel(
      KindPolicy(
        name: "K", budget: InstanceBudget(perDay: 48, minInterval: .zero), halfLife: .minutes(20), rules: [],
        views: views))
  }

  /// Returns random instants over some hours, with bursts, lulls and expiries.
  /// - Parameter hasViews: Whether the chance of a look varies.
  private static func instants(_ random: inout SeededRandom, count: Int, hasViews: Bool) -> [HindsightProblem
    .ReloadInstant]
  {
    var time: Int64 = 0
    return (0..<count).map { _ in
      time += Int64(random.below(random.below(3) == 0 ? 60 : 5)) * minute
      let life = Int64(10 + random.below(120)) * minute
      return HindsightProblem.ReloadInstant(
        arrival: Arrival(time: time, expires: time + life, relevance: Float(random.below(100)) / 100),
        view: hasViews ? Double(1 + random.below(10)) / 10 : 1)
    }
  }

  /// Returns the optimum by trying every choice of reloads.
  private static func bruteForce(_ instants: [HindsightProblem.ReloadInstant], model: ValueModel, reloadsMax: Int)
    -> Double
  {
    var best = 0.0
    for choice in 0..<(1 << instants.count) where choice.nonzeroBitCount <= reloadsMax {
      var sum = 0.0
      var from = 0
      for (place, instant) in instants.enumerated() where choice & (1 << place) != 0 {
        for shown in instants[from...place] where shown.arrival.expires > instant.arrival.time {
          sum += Double(shown.arrival.relevance) * model.decay(instant.arrival.time - shown.arrival.time) * instant.view
        }
        from = place + 1
      }
      best = max(best, sum)
    }
    return best
  }

  /// Returns the optimum by trying every choice of paid reloads in addition to the free ones.
  private static func bruteForceWithFree(
    _ instants: [HindsightProblem.ReloadInstant], model: ValueModel, reloadsMax: Int
  ) -> Double {
    var best = 0.0
    for choice in 0..<(1 << instants.count) {
      var paid = 0
      var sum = 0.0
      var from = 0
      for (place, instant) in instants.enumerated() where instant.isFree || choice & (1 << place) != 0 {
        if !instant.isFree { paid += 1 }
        for shown in instants[from...place] where shown.arrival.expires > instant.arrival.time {
          sum += Double(shown.arrival.relevance) * model.decay(instant.arrival.time - shown.arrival.time) * instant.view
        }
        from = place + 1
      }
      if paid <= reloadsMax { best = max(best, sum) }
    }
    return best
  }

  @Test(
    "free reloads cost nothing, and a later reload cannot show the same changes again",
    arguments: 41...70 as ClosedRange<UInt64>)
  func free(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var instants = Self.instants(&random, count: 2 + random.below(9), hasViews: true)
    for place in instants.indices where random.chance(1, in: 4) { instants[place].isFree = true }
    let problem = HindsightProblem(instants, model: Self.model())
    for reloads in 1...4 {
      let best = Self.bruteForceWithFree(instants, model: Self.model(), reloadsMax: reloads)
      #expect(abs(problem.exact(reloadsMax: reloads) - best) < 1e-5, "seed \(seed), \(reloads) reloads")
      #expect(abs(problem.solve(reloadsMax: reloads).value - best) < 1e-5, "seed \(seed), \(reloads) reloads")
    }
    let priced = problem.plan(prices: Array(repeating: 0.3, count: problem.count))
    #expect(abs(priced.net - problem.priced(at: 0.3).net) < 1e-9)
    #expect(priced.chosen.count == problem.priced(at: 0.3).reloads)
    #expect(priced.chosen.allSatisfy { !instants[$0].isFree })
  }

  @Test(
    "the exact form and the form with a price find the optimum of all choices", arguments: 1...40 as ClosedRange<UInt64>
  )
  func bruteForce(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let instants = Self.instants(&random, count: 1 + Int(random.below(11)), hasViews: seed % 2 == 0)
    let problem = HindsightProblem(instants, model: Self.model())
    for reloads in 1...5 {
      let best = Self.bruteForce(instants, model: Self.model(), reloadsMax: reloads)
      #expect(abs(problem.exact(reloadsMax: reloads) - best) < 1e-5, "seed \(seed), \(reloads) reloads")
      #expect(abs(problem.solve(reloadsMax: reloads).value - best) < 1e-5, "seed \(seed), \(reloads) reloads")
    }
  }

  @Test("the form with a price agrees with the exact one on longer days", arguments: 100...130 as ClosedRange<UInt64>)
  func agree(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let instants = Self.instants(&random, count: 40 + Int(random.below(160)), hasViews: seed % 2 == 0)
    let problem = HindsightProblem(instants, model: Self.model())
    for reloads in [1, 3, 10, 25, 48] {
      let exact = problem.exact(reloadsMax: reloads)
      let solution = problem.solve(reloadsMax: reloads)
      #expect(abs(solution.value - exact) < 1e-4 * max(1, exact), "seed \(seed), \(reloads) reloads")
      #expect(solution.reloads <= reloads)
    }
  }

  @Test(
    "the price lies between the value of the last token and the value of one more",
    arguments: 200...215 as ClosedRange<UInt64>)
  func price(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let problem = HindsightProblem(
      Self.instants(&random, count: 100, hasViews: false), model: Self.model())
    for reloads in [5, 20] {
      let solution = problem.solve(reloadsMax: reloads)
      let less = problem.exact(reloadsMax: reloads - 1)
      let same = problem.exact(reloadsMax: reloads)
      let more = problem.exact(reloadsMax: reloads + 1)
      #expect(solution.price <= same - less + 1e-4, "seed \(seed)")
      #expect(solution.price >= more - same - 1e-4, "seed \(seed)")
    }
  }

  @Test("the best single reload of a burst is at its end, and an empty day has the value 0")
  func burst() {
    let burst = (0..<5).map { place in
      HindsightProblem.ReloadInstant(
        arrival: Arrival(time: Int64(place) * 1_000_000, expires: .max, relevance: 0.5), view: 1)
    }
    let problem = HindsightProblem(burst, model: Self.model())
    #expect(abs(problem.exact(reloadsMax: 1) - 2.5) < 0.01)
    #expect(HindsightProblem([], model: Self.model()).solve(reloadsMax: 48).value == 0)
  }

  @Test("no plan beats the optimum of its day", arguments: 300...320 as ClosedRange<UInt64>)
  func bound(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var views: [Double] = []
    for _ in 0..<24 { views.append(Double(random.below(11)) / 10) }
    views[12] = 1
    let model = Self.model(views: views)
    var days = LocalDays(zone: "America/New_York", anchorMinute: 240)
    let day = days.day(at: 1_372_700_000_000_000)
    var arrivals: [Arrival] = []
    var time = day.start
    while true {
      time += Int64(random.below(30)) * Self.minute
      if time >= day.end { break }
      arrivals.append(Arrival(time: time, expires: time + 120 * Self.minute, relevance: Float(random.below(100)) / 100))
    }
    let part = InstanceDay(day: day, model: model, arrivals: arrivals[...], days: &days)
    var news = ScreenStream(measures: [])
    for arrival in arrivals { news.add(news: Double(arrival.relevance), at: arrival.time) }
    for tokens in [4, 20, 48] {
      let optimum = part.optimum(tokens: tokens).value
      for strategy in ReloadStrategy.baselines {
        let reloads = StrategyCourse.reloads(
          strategy, for: news, tokens: tokens, minInterval: 0, days: days, looks: ScreenSamples.looks(views)
        ).filter { $0 < day.end }
        let score = part.score(reloads: reloads[...], tokens: tokens)
        #expect(score.value <= optimum * (1 + 1e-5), "seed \(seed), \(strategy.name)")
      }
    }
  }
}
