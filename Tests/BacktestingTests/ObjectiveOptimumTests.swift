import Domain
import Planning
import Policies
import Replay
import Testing

@testable import Backtesting

@Suite("The optimum for objectives")
struct ObjectiveOptimumTests {
  private static let minute = ScreenSamples.minute
  /// 03:50 local time, so that minute 10 begins a budget day.
  private static let start = ScreenSamples.start - 10 * minute
  private static let days = ScreenSamples.days
  /// The length of a random problem, in minutes.
  private static let length = 22

  /// A change that arrives at a minute and is in time for some minutes.
  private static func change(_ from: Int, for minutes: Int, met: Bool = false, free: Bool = false) -> CountedChange {
    let arrival = start + Int64(from) * minute
    return CountedChange(from: arrival, to: arrival + Int64(minutes) * minute, isMet: met, isFree: free)
  }

  private static func optimum(
    _ changes: [CountedChange], perDay: Int, gap: Int, pairsMax: Int = ObjectiveOptimum.pairsMax
  ) -> ObjectiveOptimum {
    ObjectiveOptimum(changes, perDay: perDay, minInterval: Int64(gap) * minute, days: days, pairsMax: pairsMax)
  }

  private static func shown(_ changes: [CountedChange], _ reloads: [Int]) -> Int {
    changes.count { change in
      change.isFree
        || reloads.contains { (change.from...change.to).contains(start + Int64($0) * minute) }
    }
  }

  /// Returns the most changes shown by any choice of whole minutes. All times are whole minutes, so no other instant is better.
  private static func bruteForce(_ changes: [CountedChange], perDay: Int, gap: Int) -> Int {
    var best = 0
    func choose(_ reloads: [Int], from: Int) {
      best = max(best, shown(changes, reloads))
      for next in from..<max(from, length) where reloads.last.map({ next - $0 >= gap }) ?? true {
        // Minute 10 begins the second day.
        guard reloads.count(where: { ($0 < 10) == (next < 10) }) < perDay else { continue }
        choose(reloads + [next], from: next + 1)
      }
    }
    choose([], from: 0)
    return best
  }

  private static func changes(_ random: inout SeededRandom) -> [CountedChange] {
    let within = 1 + random.below(6)
    var changes: [CountedChange] = []
    for _ in 0..<(1 + random.below(9)) {
      // Some expire before their time is over, and some are met in every schedule.
      changes.append(
        change(
          random.below(length), for: random.chance(1, in: 5) ? random.below(within) : within,
          free: random.chance(1, in: 8)))
    }
    return changes
  }

  @Test(
    "equals the best of all choices on random problems around the start of a day",
    arguments: 1...120 as ClosedRange<UInt64>)
  func bruteForce(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let changes = Self.changes(&random)
    let (perDay, gap) = (1 + random.below(2), random.below(7))
    let optimum = Self.optimum(changes, perDay: perDay, gap: gap)
    let best = Self.bruteForce(changes, perDay: perDay, gap: gap)
    #expect(optimum.shown == best, "seed \(seed): \(changes), \(perDay) a day, \(gap) min apart")
    #expect(!optimum.isBound)
  }

  @Test("no schedule within the limits shows more", arguments: 500...530 as ClosedRange<UInt64>)
  func schedules(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var (changes, reloads): ([CountedChange], [Int]) = ([], [])
    for _ in 0..<60 { changes.append(Self.change(random.below(600), for: 12)) }
    let (perDay, gap) = (2 + random.below(6), 1 + random.below(20))
    var next = random.below(gap)
    while next < 620 {
      if reloads.count(where: { ($0 < 10) == (next < 10) }) < perDay { reloads.append(next) }
      next += gap + random.below(40)
    }
    #expect(Self.shown(changes, reloads) <= Self.optimum(changes, perDay: perDay, gap: gap).shown, "seed \(seed)")
  }

  @Test("a reload that must wait for the minimum interval can be between two arrivals")
  func chain() {
    // Arrivals at 11, 14 and 18, each in time for 2 min. With 5 min between reloads: 11 and 16, or 13 and 18, but not all three.
    let changes = [Self.change(11, for: 2), Self.change(14, for: 2), Self.change(18, for: 2)]
    #expect(Self.optimum(changes, perDay: 9, gap: 5).shown == 2)
    #expect(Self.optimum(changes, perDay: 9, gap: 4).shown == 3, "11, 15 and 19")
    #expect(Self.optimum(changes, perDay: 2, gap: 0).shown == 2)
  }

  @Test("the tokens of the next day show what arrived at the end of a day")
  func nextDay() {
    let changes = [Self.change(3, for: 2), Self.change(8, for: 4), Self.change(15, for: 2)]
    #expect(Self.optimum(changes, perDay: 1, gap: 0).shown == 2)
    #expect(Self.optimum(changes, perDay: 2, gap: 0).shown == 3)
  }

  @Test("without tokens only what needs none is in time")
  func none() {
    let changes = [Self.change(3, for: 2), Self.change(8, for: 4, met: true, free: true)]
    #expect(Self.optimum(changes, perDay: 0, gap: 0).shown == 1)
    #expect(Self.optimum([], perDay: 5, gap: 0).shown == 0)
  }

  @Test(
    "with too many candidates the result is an upper bound, and says so", arguments: 600...610 as ClosedRange<UInt64>)
  func bound(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var changes: [CountedChange] = []
    for _ in 0..<40 { changes.append(Self.change(20 + random.below(120), for: 15)) }
    let exact = Self.optimum(changes, perDay: 4, gap: 3)
    #expect(!exact.isBound)
    for pairsMax in stride(from: 0, to: 2000, by: 50) {
      let bound = Self.optimum(changes, perDay: 4, gap: 3, pairsMax: pairsMax)
      #expect(
        bound.isBound ? bound.shown >= exact.shown : bound.shown == exact.shown, "seed \(seed), \(pairsMax) pairs")
      if pairsMax == 0 { #expect(bound.isBound && bound.shown == 40) }
    }
  }

  // MARK: The record

  private static func decision(
    _ event: Identifier, _ verdict: Verdict, _ reason: Reason, at minute: Int, _ objective: ObjectiveResult? = nil
  ) -> Decision {
    Decision(
      decision: "d", event: event, events: [event], device: "dev", instance: "w", kind: "Flight", surface: .widget,
      verdict: verdict, reason: reason, final: reason.isFinal(with: verdict),
      at: Timestamp(microseconds: start + Int64(minute) * Self.minute), relevance: 1, wrong: 1, looks: 1, value: 1,
      price: 0, tokensLeft: Decision.TokensLeft(), objective: objective,
      policy: PolicyReference(version: "1", hash: "h"))
  }

  @Test(
    "a change lasts from the first decision about its event; what needs no token, and what expires, is known by its reason"
  )
  func record() throws {
    let policy = try PolicyDocument(
      yaml: """
        version: "1"
        kinds:
          Flight:
            surface: widget
            rules: [ { event: e, relevance: { base: 1 } } ]
            objective: { freshWithin: 10m, share: 0.9 }
        """, file: "policy"
    ).policy
    var record = ObjectiveRecord(policy)
    #expect(record.kinds == ["Flight"])
    let stream = InstanceStream(device: "dev", app: "a", instance: "w", kind: "Flight", zone: "GMT", reach: .widgetPush)
    record.choose([stream], share: 1)
    for decision in [
      Self.decision("e1", .defer, .minInterval, at: 1), Self.decision("e1", .defer, .belowPrice, at: 4),
      Self.decision("e2", .defer, .minInterval, at: 5),
      Self.decision("e1", .coalesce, .emittedCoalesced, at: 12, .missed),
      Self.decision("e2", .emit, .emittedAfterDefer, at: 12, .met), Self.decision("e3", .emit, .emitted, at: 13, .met),
      Self.decision("e4", .suppress, .notVisible, at: 14), Self.decision("e5", .defer, .minInterval, at: 15),
      Self.decision("e6", .defer, .minInterval, at: 15), Self.decision("e5", .suppress, .superseded, at: 16, .met),
      Self.decision("e6", .suppress, .expired, at: 18, .missed),
    ] { record.note(decision, stream: 0) }
    #expect(
      record.changes[0] == [
        Self.change(1, for: 10), Self.change(5, for: 10, met: true), Self.change(13, for: 10, met: true),
        Self.change(15, for: 10, met: true, free: true), Self.change(15, for: 3),
      ])
  }

  @Test("a sample has about its share of the devices, and a larger one contains it")
  func sample() {
    let devices = (0..<10_000).map { Identifier("device-\($0)") }
    let tenth = devices.filter { DeviceSample(0.1).holds($0) }
    // Five standard deviations around a tenth.
    #expect((850...1150).contains(tenth.count))
    #expect(tenth.allSatisfy { DeviceSample(0.2).holds($0) })
    #expect(devices.allSatisfy { DeviceSample(1).holds($0) })
  }
}
