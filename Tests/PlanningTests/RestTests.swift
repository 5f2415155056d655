import Domain
import Foundation
import Policies
import Testing

@testable import Planning

/// The first seed, from `ROUSE_TEST_SEED`.
private let baseSeed = ProcessInfo.processInfo.environment["ROUSE_TEST_SEED"].flatMap { UInt64($0) } ?? 1
/// The number of seeds, from `ROUSE_TEST_SEEDS`.
let seedCount = ProcessInfo.processInfo.environment["ROUSE_TEST_SEEDS"].flatMap { UInt64($0) } ?? 500

/// Ticks that a planner asks for when no other record comes.
@Suite("A planner at rest")
struct RestTests {
  /// The ticks for one device and day. Examinations of a push that is below its price, every ten minutes, are 144.
  private static let ticksMax = 200

  @Test("from any state, under any valid policy, a waiting device needs at most 200 ticks a day")
  func rests() async {
    let began = ContinuousClock.now
    var sum = Rest()
    await withTaskGroup(of: Rest.self) { group in
      for lane in 0..<2 as Range<UInt64> {
        group.addTask {
          stride(from: lane, to: seedCount, by: 2).reduce(into: Rest()) { $0.add(Self.rest(baseSeed &+ $1)) }
        }
      }
      for await part in group { sum.add(part) }
    }
    print("\(seedCount) states from seed \(baseSeed): \(sum) in \(ContinuousClock.now - began)")
    for finding in sum.findings.prefix(20) { Issue.record("\(finding)") }
    guard seedCount >= 500 else { return }
    #expect(sum.waitingDays > 500 && sum.farStates > 50, "\(sum)")
  }

  /// The counts of what was seen after some random states.
  private struct Rest: CustomStringConvertible {
    var findings: [String] = []
    var waitingDays = 0
    var farStates = 0
    var ticks = 0
    var mostTicks = 0
    var refusedPolicies = 0

    mutating func add(_ other: Rest) {
      findings += other.findings
      waitingDays += other.waitingDays
      farStates += other.farStates
      ticks += other.ticks
      mostTicks = max(mostTicks, other.mostTicks)
      refusedPolicies += other.refusedPolicies
    }

    var description: String {
      "\(waitingDays) days of waiting devices, \(ticks) ticks, at most \(mostTicks) for a device and day, \(farStates) states in far years, \(refusedPolicies) policies refused, \(findings.count) findings"
    }
  }

  /// The beginnings of the lives: noon of a day in 2026, and days of the years 3772 and 9999.
  private static let starts = [PlannerHarness.noon, 56_850_000_000_000_000, 253_370_000_000_000_000]

  private static func rest(_ seed: UInt64) -> Rest {
    var (rest, random) = (Rest(), SeededRandom(seed: seed, stream: 9))
    let policy = RandomPolicy.next(&random, refused: &rest.refusedPolicies)
    var life = RandomLife(seed: seed, policy: policy.policy, changesPolicy: false)
    // Such a high price keeps pushes waiting for ever.
    let isDear = random.chance(1, in: 3)
    if isDear { life.harness = PlannerHarness(policy.policy, demand: .high) }
    let start = random.below(6)
    if start < 2 { life.time = Self.starts[start + 1] }
    for _ in 0..<(20 + random.below(120)) { life.step() }
    if random.chance(1, in: 4) {
      let next = RandomPolicy.next(&random, refused: &rest.refusedPolicies)
      life.harness.apply(.policy(document: next.text), at: life.time)
      for _ in 0..<random.below(20) { life.step() }
    }
    // A jump to the year 3772 examines everything at once.
    if start == 2 { life.time = Self.starts[1] }
    if start < 3 { rest.farStates += 1 }
    life.step()
    watch(&life.harness, from: life.time, seed, &rest)
    if !isDear { watchLater(&life.harness, from: life.time, seed, &rest) }
    return rest
  }

  /// Counts the ticks of the next days.
  private static func watch(_ harness: inout PlannerHarness, from start: Int64, _ seed: UInt64, _ rest: inout Rest) {
    for day in 0..<3 as Range<Int64> {
      let devices = waitingDevices(harness.planner)
      let ticks = tick(&harness, until: start + (day + 1) * 24 * PlannerHarness.hour, ticksMax: ticksMax * devices)
      rest.waitingDays += devices
      rest.ticks += ticks
      if devices > 0 { rest.mostTicks = max(rest.mostTicks, ticks / devices) }
      // The entry of an instance that no longer waits may be left.
      if ticks > max(1, ticksMax * devices) {
        rest.findings.append(
          "seed \(seed), day \(day): \(ticks) ticks for \(devices) devices, \(held(harness.planner))")
      }
    }
  }

  /// Lets half a year pass, after which nothing is decided any more: the dozen pushes of a device get one token a week. What waits then
  /// waits for a reserve that it will never get, because those of two kinds are not free at the same time.
  private static func watchLater(
    _ harness: inout PlannerHarness, from start: Int64, _ seed: UInt64, _ rest: inout Rest
  ) {
    let (soon, late) = (start + 180 * 24 * PlannerHarness.hour, start + 210 * 24 * PlannerHarness.hour)
    _ = tick(&harness, until: soon, ticksMax: .max)
    let decided = harness.decisions.count
    let ticks = tick(&harness, until: late, ticksMax: .max)
    if harness.decisions.count > decided {
      let last = harness.decisions.suffix(2).map { "\($0.at) \($0.reason.rawValue)" }
      rest.findings.append("seed \(seed): after half a year \(harness.decisions.count - decided) decisions, \(last)")
    } else if ticks > 60 * waitingDevices(harness.planner) {
      rest.findings.append("seed \(seed): after half a year \(ticks) ticks in a month, \(held(harness.planner))")
    }
  }

  /// Appends ticks as a driver does, until a time or until there are more than `ticksMax`.
  /// - Returns: The number of ticks.
  private static func tick(_ harness: inout PlannerHarness, until end: Int64, ticksMax: Int) -> Int {
    var ticks = 0
    while ticks <= ticksMax, let due = harness.planner.nextTimer?.microseconds, due <= end {
      harness.tick(at: due)
      ticks += 1
    }
    return ticks
  }

  private static func waitingDevices(_ planner: borrowing Planner) -> Int { Set(waiting(planner).map(\.device)).count }

  /// Returns the instances that have a timer, maybe one that is outdated.
  private static func waiting(_ planner: borrowing Planner) -> [Planner.InstanceFacts] {
    planner.instances.filter { $0.timerAt != .distantFuture }
  }

  /// Returns why instances wait, for messages.
  private static func held(_ planner: borrowing Planner) -> [String] {
    waiting(planner).map { "\($0.name) \($0.surface) held for \($0.heldFor.number)" }
  }
}
