import Domain
import Foundation
import Testing

/// The first seed, from `ROUSE_TEST_SEED`; `deploy/test.sh` derives it from the commit, so that every commit tries others.
private let baseSeed = ProcessInfo.processInfo.environment["ROUSE_TEST_SEED"].flatMap { UInt64($0) } ?? 1
/// The number of seeds, from `ROUSE_TEST_SEEDS`; 1 runs the first seed only.
private let seedCount = ProcessInfo.processInfo.environment["ROUSE_TEST_SEEDS"].flatMap { Int($0) } ?? 500
/// Whether to print the story of each seed: `ROUSE_TEST_STORY=1`.
private let tellsStory = ProcessInfo.processInfo.environment["ROUSE_TEST_STORY"] != nil

/// The outcome of one seed.
private struct Outcome: Sendable {
  var seed: UInt64
  var findings: [String]
  var coverage: [String: Int]
  var decisions = 0
  var commands = 0
  var steps = 0

  init(seed: UInt64, story: Story = Story(isKept: false)) throws {
    self.seed = seed
    let run = try PipelineRun(Scenario(seed: seed), story: story)
    run.run()
    let checks = try Checks(run)
    findings = checks.findings
    coverage = run.coverage.merging(checks.coverage) { $0 + $1 }
    decisions = checks.decisions
    commands = checks.commands
    steps = run.steps
  }

  var replay: String {
    "ROUSE_TEST_SEED=\(seed) ROUSE_TEST_SEEDS=1 ROUSE_TEST_STORY=1 swift test --filter SeedTests.seeds"
  }
}

/// The whole pipeline on a simulated cluster, clock and disk, with faults by seed, then healed and checked.
@Suite struct SeedTests {
  @Test("the books are right after any faults of processes, broker, clocks and disks")
  func seeds() async throws {
    let began = ContinuousClock.now
    var outcomes: [Outcome] = []
    try await withThrowingTaskGroup(of: [Outcome].self) { group in
      let lanes = tellsStory ? 1 : 2
      for lane in 0..<lanes {
        group.addTask {
          try stride(from: lane, to: seedCount, by: lanes).map { index in
            let story = Story(isKept: tellsStory)
            let outcome = try Outcome(seed: baseSeed &+ UInt64(index), story: story)
            if tellsStory { print(story.text) }
            return outcome
          }
        }
      }
      for try await lane in group { outcomes += lane }
    }
    let seconds = Double((ContinuousClock.now - began).components.seconds)
    for outcome in outcomes.sorted(by: { $0.seed < $1.seed }) where !outcome.findings.isEmpty {
      Issue.record("seed \(outcome.seed):\n\(outcome.findings.joined(separator: "\n"))\n\(outcome.replay)")
    }
    let coverage = report(outcomes, seconds: seconds)
    guard seedCount >= 500 else { return }
    // A fault that never happens proves nothing.
    for mishap in Mishap.allCases {
      #expect(coverage.contains { $0.key.hasPrefix("\(mishap.rawValue) at ") }, "\(mishap) never happens")
    }
    for needed in Self.needed { #expect(coverage[needed, default: 0] > 0, "\(needed): never happens") }
    guard seedCount >= 1500 else { return }
    for needed in Self.rare { #expect(coverage[needed, default: 0] > 0, "\(needed): never happens") }
  }

  /// The coverage that 1,500 seeds must reach: a member must die between the revocation of a partition and its next join, which
  /// happens with one seed of some 300.
  private static let rare = ["joined again for a partition without an owner"]

  /// The coverage that 500 seeds must reach: every row of the crash table of `PlannerTransaction`, from idle (polling, or
  /// between two turns) to the end of an abort, and everything else that the checks must have seen.
  private static let needed =
    [PortCall.poll, .initTransactions, .begin, .send, .membership, .sendOffsets, .commit, .abort].flatMap { call in
      [Mishap.crashBefore, .crashAfter, .frozen].map { "\($0.rawValue) at \(call.rawValue) of a planner" }
    } + [
      "crashBefore at auditStore", "crashAfter at auditStore", "refused at auditStore", "answerLost at auditStore",
      "killed at rest", "ended in order", "answerLost at abort", "refused at abort", "fatal at commit",
      "answerLost at commit", "answerLost at sendOffsets", "refused at commit", "refused at seek", "rebalance",
      "compaction", "broker clock jump", "process clock jump", "poisoned record of the log", "snapshots discarded",
      "state records restored from snapshots", "members expelled", "transactions timed out", "transactions aborted",
      "log records passed over", "log records set aside", "duplicates dropped by intake", "intake pauses",
      "pushes refused for good", "static members came back",
      "everything let go for an eager assignor",
      "emitted: widget", "emitted: background", "emitted: control", "emitted: liveActivity start at priority 10",
      "emitted: liveActivity update at priority 10", "emitted: liveActivity update at priority 5",
      "emitted: liveActivity end at priority 10", "emitted: broadcast update at priority 10",
      "emitted: broadcast end at priority 10",
      "emitted: end after a silence",
      "emitted free of charge: widget", "emitted free of charge: control",
    ] + Command.Ledger.allCases.map { "charged: \($0.rawValue)" } + Poison.allCases.map { "refused: \($0.rawValue)" }

  @Test("the same seed gives the same bytes in every topic")
  func deterministic() throws {
    for seed in baseSeed..<(baseSeed + 6) {
      let runs = try (0..<2).map { _ in
        let run = try PipelineRun(Scenario(seed: seed))
        run.run()
        return run
      }
      #expect(runs[0].coverage == runs[1].coverage, "seed \(seed)")
      for name in runs[0].broker.topics.keys.sorted() {
        for partition in 0..<(runs[0].broker.topics[name]?.logs.count ?? 0) {
          let records = runs.map { $0.broker.topics[name]?.logs[partition].records ?? [] }
          #expect(records[0] == records[1], "seed \(seed), \(name)[\(partition)]")
        }
      }
    }
  }

  private func report(_ outcomes: [Outcome], seconds: Double) -> [String: Int] {
    var coverage: [String: Int] = [:]
    for outcome in outcomes { coverage.merge(outcome.coverage) { $0 + $1 } }
    print(
      "simulation: \(outcomes.count) seeds from \(baseSeed) in \(seconds) s, "
        + "\(outcomes.reduce(0) { $0 + $1.steps }) turns, \(outcomes.reduce(0) { $0 + $1.decisions }) decisions, "
        + "\(outcomes.reduce(0) { $0 + $1.commands }) commands")
    print("  " + coverage.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "\n  "))
    return coverage
  }
}
