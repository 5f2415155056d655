import KafkaClient
import Logging
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline

/// The permissions that `rouse topics acls` prints are those that the stages need.
@Suite("Access") struct AccessTests {
  /// Whole pipelines with faults, so that every path of the stages is taken: restores, dead letters, fencing, skips.
  private static let recorded = Result {
    var notes: [Role: AccessRecorder.Notes] = [:]
    for role in Role.defaults { notes[role] = AccessRecorder.Notes() }
    var settings: ClusterSettings?
    for seed in 1...60 as ClosedRange<UInt64> {
      let run = try PipelineRun(Scenario(seed: seed))
      run.access = notes
      run.run()
      settings = run.scenario.settings.cluster
    }
    if let settings { lookForOrders(settings, notes) }
    let found = notes.mapValues(\.operations)
    return Recording(settings: settings, operations: found)
  }

  /// Lets each role ask for orders, as it does at a batch that cannot be unpacked. The simulated broker has no such batch.
  private static func lookForOrders(_ settings: ClusterSettings, _ notes: [Role: AccessRecorder.Notes]) {
    let topics: [Role: String] = [
      .intake: settings.topics.devices, .planner: settings.topics.log, .audit: settings.topics.decisions,
    ]
    for (role, topic) in topics {
      guard let notes = notes[role] else { continue }
      let process = SimulatedProcess(name: role.rawValue, broker: SimulatedBroker())
      var reader = SkipReader(
        settings: settings, cluster: AccessRecorder(process, notes), clock: SimulatedClock(process: process),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      _ = reader.orders(for: [KafkaPosition(KafkaTopicPartition(topic: topic, partition: 0), offset: 0)])
      reader.close()
    }
  }

  private struct Recording: Sendable {
    let settings: ClusterSettings?
    let operations: [Role: [AccessRule.Resource: Set<AccessRule.Operation>]]
  }

  @Test("the table has each permission that the calls of a role need, and no other", arguments: Role.defaults)
  func table(_ role: Role) throws {
    let recording = try Self.recorded.get()
    let settings = try #require(recording.settings)
    let rules = AccessTable(settings).rules(of: try #require(AccessRole(rawValue: role.rawValue)))
    var used: [AccessRule.Resource: Set<AccessRule.Operation>] = [:]
    for (resource, operations) in recording.operations[role] ?? [:] {
      let rule = rules.first { $0.resource.holds(resource) }
      #expect(rule != nil, "\(role.rawValue) uses \(resource), which the table leaves out")
      if let rule { used[rule.resource, default: []].formUnion(operations) }
    }
    for rule in rules {
      let needed = AccessRule.reduced(used[rule.resource] ?? [])
      #expect(rule.operations == needed, "\(role.rawValue): \(rule.resource): needs \(needed.map(\.rawValue).sorted())")
    }
  }

  @Test("an installation's own names are in the table, and no other installation's")
  func names() {
    var settings = ClusterSettings(
      kafka: ["bootstrap.servers": "x"], topics: TopicNames(prefix: "eu."), eventTopics: ["a", "b"], group: "eu")
    for role in AccessRole.allCases {
      for rule in AccessTable(settings).rules(of: role) {
        #expect(rule.resource.name.hasPrefix("eu") || settings.eventTopics.contains(rule.resource.name), "\(rule)")
      }
    }
    #expect(AccessTable(settings).rules(of: .publisher).map(\.resource.name) == ["a", "b"])
    settings.eventTopics = ["a"]
    #expect(AccessTable(settings).rules(of: .publisher).map(\.resource.name) == ["a"])
  }

  @Test("the rules of several roles are one for each resource, and Read and Write include Describe")
  func merged() {
    let settings = ClusterSettings(kafka: [:], eventTopics: ["events"])
    let rules = AccessTable(settings).rules(of: [.intake, .planner, .audit])
    #expect(Set(rules.map(\.resource)).count == rules.count)
    #expect(rules.first { $0.resource.name == "rouse.log" }?.operations == [.read, .write])
    #expect(rules.first { $0.resource.name == "rouse-planner" }?.operations == [.read])
    #expect(rules.allSatisfy { $0.operations == AccessRule.reduced($0.operations) })
  }
}
