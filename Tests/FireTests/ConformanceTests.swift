import Foundation
import Installation
import KafkaClient
import Operating
import Testing

struct ConformanceTests {
  private func outcomes(_ bootstrap: String) -> [String: ConformanceFinding.Outcome] {
    let settings = ClusterSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", bootstrap)]), topics: TopicNames(prefix: "conformance-test."),
      eventTopics: [])
    return Dictionary(uniqueKeysWithValues: Conformance(settings: settings).run { _ in }.map { ($0.name, $0.outcome) })
  }

  @Test("the check of the embedded broker reports that it neither isolates nor fences")
  func embedded() throws {
    let broker = try EmbeddedBroker()
    let outcomes = outcomes(broker.bootstrapServers)
    #expect(outcomes["records keep order, key, headers and emptiness"] == .pass)
    #expect(outcomes["topics are made with settings"] == .notSupported)
    #expect(outcomes["what is superseded is removed"] == .notSupported)
    for name in [
      "compaction is configured", "the broker's clock stamps the log",
      "committed records are seen, open and aborted ones are not",
      "offsets of a transaction are kept, those of an aborted one are not",
      "a producer whose id was taken over is fenced", "offsets of a member that left are refused",
    ] { #expect(outcomes[name] == .fail, "\(name)") }
  }

  @Test(
    "a real Kafka passes every check",
    .enabled(
      if: ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"] != nil,
      "needs the address of an Apache Kafka as ROUSE_TEST_BOOTSTRAP"))
  func real() throws {
    let outcomes = outcomes(ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"] ?? "")
    #expect(outcomes.values.allSatisfy { $0 == .pass }, "\(outcomes)")
  }
}
