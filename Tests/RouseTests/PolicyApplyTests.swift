import Foundation
import Installation
import KafkaClient
import Operating
import Testing

@Suite("rouse policy apply") struct PolicyApplyTests {
  @Test("the record of a policy names who applied it: the given name, or the user that ran the command")
  func appliedBy() throws {
    let place = try Workplace()
    let broker = try EmbeddedBroker()
    for name in TopicNames().all { try broker.createTopic(name, partitions: 1) }
    try place.put(tinyPolicy, "policy.yaml")
    let apply = ["policy", "apply", "policy.yaml", "--bootstrap", broker.bootstrapServers]
    for words in [apply, apply + ["--by", "anna é"]] {
      let result = try place.rouse(list: words)
      #expect(result.status == 0, "\(result)")
    }
    let settings = ClusterSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)]), eventTopics: ["events"])
    let records = try PolicyLog(settings: settings).active().records
    #expect(records.map(\.appliedBy) == ["anna é"])
    let history = try PolicyLog(settings: settings).history().records
    #expect(Set(history.map(\.appliedBy)) == ["anna é", NSUserName()])
    let refused = try place.rouse(list: apply + ["--by", ""])
    #expect(refused.status == 2 && refused.err.contains("--by takes 1 to 256 bytes, found 0"), "\(refused)")
  }
}
