import KafkaClient
import Testing

@Suite("configuration")
struct ConfigurationTests {
  @Test("the error for a property that librdkafka does not know names the property")
  func unknownKey() throws {
    let error = try #require(failure { () throws(KafkaError) in _ = try KafkaProducer(["bootstrap.serfers": "x"]) })
    #expect(error.code == .invalidArgument)
    #expect(!error.isRetriable)
    #expect(error.description.contains("\"bootstrap.serfers\""))
    #expect(error.description.contains("there is no property of that name"))
  }

  @Test("the error for a value that a property does not take names the property")
  func badValue() throws {
    let error = try #require(failure { () throws(KafkaError) in _ = try KafkaConsumer(["session.timeout.ms": "soon"]) })
    #expect(error.operation.contains("\"session.timeout.ms\""))
    #expect(error.code == .invalidArgument)
  }

  @Test("the error for a property that a topic does not take names both")
  func badTopicProperty() throws {
    let broker = try EmbeddedBroker()
    var configuration = KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)])
    configuration.topicProperties["t"] = ["compression.type": "none", "linger.ms": "5"]
    #expect(KafkaConfiguration().merging(configuration) == configuration)
    #expect(configuration != ["bootstrap.servers": broker.bootstrapServers])
    let producer = try KafkaProducer(configuration)
    let error = try #require(
      failure { () throws(KafkaError) in try producer.send(topic: "t", partition: 0, key: nil, value: [1]) })
    #expect(error.operation == "setting the property \"linger.ms\" of the topic \"t\"")
    #expect(error.code == .invalidArgument)
  }

  @Test("properties that contradict each other are refused when the client is made")
  func contradiction() throws {
    let error = try #require(
      failure { () throws(KafkaError) in
        _ = try KafkaProducer(["enable.idempotence": "true", "acks": "1"])
      })
    #expect(error.operation == "making a producer")
    #expect(error.message.contains("acks"))
  }

  @Test("refused clients leak no memory")
  func nothingLeaks() throws {
    // Each refused client holds a megabyte, so that a leak stands out from the memory that other tests use meanwhile.
    let large = String(repeating: "a", count: 1_000_000)
    let before = try Memory.residentBytes()
    for _ in 0..<500 {
      _ = failure { () throws(KafkaError) in _ = try KafkaProducer(["client.id": large, "nope": "1"]) }
      _ = failure { () throws(KafkaError) in
        _ = try KafkaProducer(["client.id": large, "enable.idempotence": "true", "acks": "1"])
      }
    }
    #expect(try Memory.residentBytes() - before < 450_000_000)
  }

  @Test(
    "secrets are not shown",
    arguments: [
      "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "sasl.oauthbearer.client.secret",
      "sasl.oauthbearer.config", "SASL.Password",
    ])
  func secrets(key: String) {
    let configuration = KafkaConfiguration([("client.id", "me"), (key, "hush")])
    #expect(configuration.description == "client.id=me, \(key)=***")
    #expect(!String(reflecting: configuration).contains("hush"))
    var dumped = ""
    dump(configuration, to: &dumped)
    #expect(!dumped.contains("hush"))
  }

  @Test("the last value of a repeated key holds, and the order of the keys is kept")
  func order() {
    let base: KafkaConfiguration = ["b": "1", "a": "2", "b": "3"]
    #expect(base.description == "b=3, a=2")
    #expect(base.merging(["c": "4", "a": "5"]).description == "b=3, a=5, c=4")
    var changed = base
    changed["b"] = nil
    #expect(changed == ["a": "2"])
  }

  @Test("librdkafka's log goes to the sink, and only while the client is polled")
  func log() throws {
    var lines: [KafkaLogLine] = []
    let producer = try KafkaProducer(
      ["bootstrap.servers": "127.0.0.1:1", "debug": "broker"], logSink: { lines.append($0) })
    #expect(lines.isEmpty)
    try producer.poll(timeout: .milliseconds(200))
    #expect(lines.contains { $0.level == 7 && !$0.facility.isEmpty && !$0.message.isEmpty })
  }
}
