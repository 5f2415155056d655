import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

@Suite("Pipeline settings")
struct PipelineSettingsTests {
  @Test("properties that correctness needs win over the user's, and are named; defaults do not")
  func reserved() {
    let kafka = KafkaConfiguration([
      ("bootstrap.servers", "b:1"), ("isolation.level", "read_uncommitted"), ("enable.idempotence", "false"),
      ("linger.ms", "50"),
    ])
    let settings = PipelineSettings(kafka: kafka, topics: TopicNames(), eventTopics: ["e"], instance: "i")
    #expect(settings.cluster.unused == ["enable.idempotence", "isolation.level"])
    let client = settings.client(["isolation.level": "read_committed"], defaults: ["linger.ms": "5"])
    #expect(client["isolation.level"] == "read_committed")
    #expect(client["linger.ms"] == "50")
  }
}
