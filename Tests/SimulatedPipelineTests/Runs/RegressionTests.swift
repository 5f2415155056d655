import KafkaClient
import Pipeline
import Testing

@testable import Pipeline

/// Defects that seeds have found, each with the faults that cause it, and with enough seeds to show it even if the random
/// generator changes.
@Suite struct RegressionTests {
  private func expectOrder(
    _ seeds: [UInt64], of mishaps: [Mishap], perThousand: Int = 40, _ change: (inout Scenario) -> Void = { _ in }
  ) throws {
    for seed in seeds {
      var scenario = Scenario(seed: seed)
      scenario.mishaps = mishaps
      scenario.faultsPerThousand = perThousand
      change(&scenario)
      let run = try PipelineRun(scenario)
      run.run()
      let findings = try Checks(run).findings
      #expect(findings.isEmpty, "seed \(seed): \(findings.joined(separator: "\n"))")
    }
  }

  @Test("a seek that fails after a restore loses no record of the log")
  func seekFailed() throws {
    try expectOrder(Array(1...30), of: [.refused])
  }

  @Test("intake never gives up records in its queue while the others are delivered")
  func messagesExpired() throws {
    try expectOrder(Array(1...120), of: [.messagesExpire, .partlySent, .crashAfter])
  }

  @Test("the end of an activity that went quiet overspends no app's day")
  func quietEndOfSpentApp() throws {
    try expectOrder(Array(1...15), of: []) { scenario in
      scenario.publications = 40
      scenario.firstPolicy = 1
      scenario.changesPolicy = false
    }
  }

  @Test("an expelled member commits nothing, even when its client has noticed")
  func expelled() throws {
    try expectOrder(Array(1...15), of: [.frozen]) { scenario in
      scenario.planners = 3
      scenario.session = 3_000_000
      scenario.settings.kafka["session.timeout.ms"] = "3000"
      scenario.transaction = 15_000_000
      scenario.settings.planner.transactionTimeout = .seconds(15)
    }
  }

  @Test("a partition is planned again whose static owner died while it handed the partition over")
  func diedInHandOver() throws {
    try expectOrder(Array(1...40), of: [.crashBefore, .crashAfter], perThousand: 60) { scenario in
      scenario.partitions = 3
      scenario.planners = 3
      scenario.changesPolicy = false
      scenario.settings.isStaticMember = true
      scenario.settings.kafka["partition.assignment.strategy"] = nil
    }
  }
}
