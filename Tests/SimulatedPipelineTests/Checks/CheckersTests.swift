import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// Proof that the checks can fail: they must find a broken broker, and topics that were tampered with.
@Suite struct CheckersTests {
  private static func run(_ seed: UInt64, _ change: (inout Scenario) -> Void = { _ in }) throws -> PipelineRun {
    var scenario = Scenario(seed: seed)
    change(&scenario)
    return try PipelineRun(scenario)
  }

  /// Tries seeds until the checks find the defect.
  private static func isFoundOut(
    _ defect: SimulatedBroker.Defect, seeds: Range<UInt64>, _ change: (inout Scenario) -> Void
  ) throws -> Bool {
    for seed in seeds {
      let run = try run(seed, change)
      run.broker.defects = [defect]
      run.run()
      if try !Checks(run).findings.isEmpty { return true }
    }
    return false
  }

  @Test(
    "the checks find a broker that breaks a promise",
    arguments: [
      (SimulatedBroker.Defect.showsAborted, [Mishap.abortable, .crashBefore]),
      (.showsOpen, [.partlySent, .crashBefore]),
      // The group refuses what a frozen planner adds, so a missing fence does harm only where the heartbeats go on.
      (.neverFences, [.delayed]), (.takesAnyGeneration, [.frozen]), (.namesNobody, [.frozen]),
    ])
  func broken(defect: SimulatedBroker.Defect, mishaps: [Mishap]) throws {
    let found = try Self.isFoundOut(defect, seeds: 1..<400) { scenario in
      scenario.planners = 3
      scenario.faultsPerThousand = 50
      scenario.mishaps = mishaps
      scenario.session = 1_000_000
      scenario.settings.kafka["session.timeout.ms"] = "1000"
      // Records are sent at once.
      scenario.settings.kafka["linger.ms"] = "0"
      scenario.transaction = 15_000_000
      scenario.settings.planner.transactionTimeout = .seconds(15)
    }
    #expect(found, "\(defect)")
  }

  /// A change to the topics after a run without failures.
  enum Tampering: String, CaseIterable {
    case decisionRemoved, decisionRepeated, blockCut, commandRemoved, commandRepeated, positionRemoved, stateRemoved,
      logRemoved,
      letterRemoved
  }

  @Test("the checks find topics that were tampered with", arguments: Tampering.allCases)
  func tampered(_ tampering: Tampering) throws {
    let run = try Self.run(7) { scenario in
      scenario.faultsPerThousand = 0
      scenario.publications = 30
    }
    run.run()
    try #require(try Checks(run).findings.isEmpty)
    try #require(try Self.tamper(tampering, run))
    let findings = try Checks(run).findings
    #expect(!findings.isEmpty, "\(tampering)")
  }

  /// Changes the topics.
  ///
  /// - Returns: Whether there was a record to change.
  private static func tamper(_ tampering: Tampering, _ run: PipelineRun) throws -> Bool {
    let topics = run.scenario.settings.topics
    func log(_ name: String, where suits: (SimulatedLog.Record) -> Bool = { _ in true }) -> (SimulatedLog, Int)? {
      for log in run.broker.topics[name]?.logs ?? [] {
        if let index = log.records.lastIndex(where: { $0.standing == .committed && suits($0) }) { return (log, index) }
      }
      return nil
    }
    let place: (SimulatedLog, Int)?
    switch tampering {
    case .decisionRemoved, .decisionRepeated: place = log(topics.decisions)
    case .blockCut: place = log(topics.decisions) { $0.value?.contains(UInt8(ascii: "\n")) == true }
    case .commandRemoved, .commandRepeated: place = log(topics.commands)
    case .positionRemoved: place = log(topics.state) { $0.key == PlannerPosition.key }
    case .stateRemoved:
      place = log(topics.state) { $0.key?.starts(with: Array("c/".utf8)) == true && $0.value != nil }
    case .logRemoved: place = log(topics.log) { $0.key != nil }
    case .letterRemoved: place = log(topics.deadLetters)
    }
    guard let (log, index) = place else { return false }
    switch tampering {
    case .decisionRepeated, .commandRepeated: _ = log.append(log.records[index])
    case .blockCut:
      var cut = log.records[index]
      cut.value = cut.value.map { Array($0.prefix { $0 != UInt8(ascii: "\n") }) }
      log.remove(at: index)
      _ = log.append(cut)
    case .decisionRemoved, .commandRemoved, .positionRemoved, .stateRemoved, .logRemoved, .letterRemoved:
      log.remove(at: index)
    }
    return true
  }
}
