import KafkaClient
import Testing

@Suite("admin and unreachable brokers")
struct AdminTests {
  @Test("the cluster's topics, partitions, leaders and brokers are described")
  func metadata() throws {
    let broker = try EmbeddedBroker(brokers: 3)
    try broker.createTopic("a", partitions: 2, replicas: 3)
    try broker.createTopic("b", partitions: 1)
    let admin = try KafkaAdmin(["bootstrap.servers": broker.bootstrapServers])
    let cluster = try admin.describeCluster(timeout: patience)
    #expect(cluster.topics.map(\.name).sorted() == ["a", "b"])
    #expect(cluster.brokers.map(\.id).sorted() == [1, 2, 3])
    #expect(cluster.brokers.allSatisfy { $0.host == "127.0.0.1" && $0.port > 0 })
    let topics = try admin.describeTopics(["b", "a"], timeout: patience)
    #expect(topics.map(\.name) == ["b", "a"])
    #expect(topics[1].partitions.map(\.id) == [0, 1])
    #expect(topics[1].partitions.allSatisfy { $0.leader != nil && $0.replicaCount == 3 })
  }

  @Test("asking for a topic that does not exist is an error and does not create the topic")
  func missingTopic() throws {
    let broker = try EmbeddedBroker()
    let admin = try KafkaAdmin(["bootstrap.servers": broker.bootstrapServers])
    let error = failure { () throws(KafkaError) in _ = try admin.describeTopics(["nope"], timeout: patience) }
    #expect(error?.code == .unknownTopicOrPartition)
    #expect(error?.operation == "describing the topic nope")
    #expect(try admin.describeCluster(timeout: patience).topics.isEmpty)
  }

  @Test("a topic without a name is refused before a broker is asked")
  func badTopic() throws {
    let admin = try KafkaAdmin(["bootstrap.servers": "127.0.0.1:1"])
    let error = failure { () throws(KafkaError) in
      _ = try admin.createTopics(
        [KafkaNewTopic(name: "a", partitions: 1), KafkaNewTopic(name: "", partitions: 1)], timeout: patience)
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("a closed port is an error within the timeout, with the address and the reason")
  func closedPort() throws {
    let start = ContinuousClock.now
    let admin = try KafkaAdmin(["bootstrap.servers": "127.0.0.1:1"])
    let error = try #require(
      failure { () throws(KafkaError) in _ = try admin.describeCluster(timeout: .milliseconds(500)) })
    #expect(error.isRetriable)
    #expect(error.description.contains("127.0.0.1:1"))
    #expect(error.description.contains("Connection refused"))
    let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1", "transactional.id": "me"])
    let refusal = try #require(
      failure { () throws(KafkaError) in try producer.initTransactions(timeout: .milliseconds(500)) })
    #expect(refusal.isRetriable)
    #expect(refusal.description.contains("Connection refused"))
    #expect(ContinuousClock.now - start < patience)
  }

  @Test("a broker that does not take a name and password is an error with the reason")
  func refusedConnection() throws {
    let broker = try EmbeddedBroker()
    let admin = try KafkaAdmin([
      "bootstrap.servers": broker.bootstrapServers, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
      "sasl.username": "u", "sasl.password": "p",
    ])
    let error = try #require(
      failure { () throws(KafkaError) in _ = try admin.describeCluster(timeout: .seconds(3)) })
    #expect(error.description.contains("Failed to initialize SASL authentication"), "\(error)")
  }

  @Test("a consumer of a closed port reports it as an event, and closes within its timeout")
  func closedPortConsumer() throws {
    let consumer = try KafkaConsumer(["bootstrap.servers": "127.0.0.1:1", "group.id": "g"])
    try consumer.subscribe(["t"])
    #expect(
      try consumer.pollUntil { batch in
        batch.events.contains { event in
          guard case .error(let error) = event else { return false }
          return error.code == .transportFailed && error.isRetriable
        }
      })
    let error = failure { () throws(KafkaError) in
      try consumer.commit(
        [KafkaPosition(KafkaTopicPartition(topic: "t", partition: 0), offset: 1)], timeout: .milliseconds(100))
    }
    #expect(error?.isRetriable == true)
    let start = ContinuousClock.now
    consumer.close(timeout: .milliseconds(300))
    #expect(ContinuousClock.now - start < patience)
  }
}
