import KafkaClient
import Logging
import Testing

@testable import Installation
@testable import Pipeline

@Suite("the session of a group member")
struct MemberConfigurationTests {
  private func settings(_ properties: KafkaConfiguration = [:]) -> PipelineSettings {
    PipelineSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", "nowhere:1")]).merging(properties),
      topics: TopicNames(prefix: "p."),
      eventTopics: ["p.events"], group: "g", instance: "i")
  }

  /// Returns the configurations of the planner's and the intake's consumer.
  private func members(_ settings: PipelineSettings) throws -> [KafkaConfiguration] {
    let logger = Logger(label: "test")
    let worker = try PlannerWorker(
      settings: settings, number: 0, stop: StopSignal(), counters: PipelineCounters(), logger: logger)
    let intake = Intake(settings: settings, stop: StopSignal(), counters: PipelineCounters(), logger: logger)
    return [worker.consumerConfiguration(), intake.consumerConfiguration()]
  }

  @Test("writes what is soon read or replaced with lz4 and decisions with zstd, unless the operator chooses")
  func compression() throws {
    func producer(_ properties: KafkaConfiguration = [:]) throws -> KafkaConfiguration {
      try PlannerWorker(
        settings: settings(properties), number: 0, stop: StopSignal(), counters: PipelineCounters(),
        logger: Logger(label: "test")
      ).producerConfiguration()
    }
    let usual = try producer()
    #expect(usual["compression.type"] == "zstd")
    #expect(
      usual.topicProperties == ["p.commands": ["compression.type": "lz4"], "p.state": ["compression.type": "lz4"]])
    for name in ["compression.type", "compression.codec"] {
      let chosen = try producer([name: "gzip"])
      #expect(chosen[name] == "gzip")
      #expect(chosen.topicProperties.isEmpty)
    }
  }

  @Test("is short, so that others take over soon after a kill, with several heartbeats in it")
  func short() throws {
    for configuration in try members(settings()) {
      #expect(configuration["session.timeout.ms"] == "6000")
      #expect(configuration["heartbeat.interval.ms"] == "1500")
      #expect(configuration["group.instance.id"] == nil)
    }
  }

  @Test("outlives its process under a name; not in intake under a cooperative assignor, as intake has no watch")
  func named() throws {
    var named = settings()
    named.isStaticMember = true
    let members = try members(named)
    #expect(members.map { $0["group.instance.id"] } == ["g-planner-i-0", "g-intake-i-0"])
    #expect(members.map { $0["partition.assignment.strategy"] } == ["cooperative-sticky", "roundrobin"])
    named.kafka["partition.assignment.strategy"] = "cooperative-sticky"
    #expect(try self.members(named).map { $0["group.instance.id"] } == ["g-planner-i-0", nil])
  }

  @Test("is of one thread: two intake threads of a process do not take each other's place")
  func threads() {
    var named = settings()
    named.isStaticMember = true
    let instances = (0..<2).map { number in
      Intake(
        settings: named, number: number, stop: StopSignal(), counters: PipelineCounters(), logger: Logger(label: "test")
      ).consumerConfiguration()["group.instance.id"]
    }
    #expect(instances == ["g-intake-i-0", "g-intake-i-1"])
  }

  @Test("can be set by the operator")
  func overridden() throws {
    for configuration in try members(settings(["session.timeout.ms": "45000", "heartbeat.interval.ms": "3000"])) {
      #expect(configuration["session.timeout.ms"] == "45000")
      #expect(configuration["heartbeat.interval.ms"] == "3000")
    }
  }
}
