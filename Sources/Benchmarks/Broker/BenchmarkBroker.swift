import Domain
import Foundation
import Installation
package import KafkaClient

/// The broker that a benchmark runs against: a real one, or an embedded one in a child process, so that the broker's
/// processor time does not count as Rouse's.
package final class BenchmarkBroker {
  /// The properties that every client of the benchmark starts from.
  package let kafka: KafkaConfiguration
  /// Whether the broker is the embedded one.
  package let isEmbedded: Bool
  private let child: BrokerProcess?
  private let properties: [(key: String, value: String)]

  /// The longest time for reading a whole topic before a benchmark gives up.
  private static let readTimeout = Duration.seconds(300)

  /// Connects to a real broker, or starts an embedded one.
  /// - Parameters:
  ///   - bootstrap: the address of a real broker, `host:port`; nil starts an embedded broker.
  ///   - properties: librdkafka properties for every client.
  ///   - program: the command that runs ``BrokerService`` in a child process.
  /// - Throws: ``BenchmarkError`` when the child process ends before it writes its address, and Foundation's error when
  ///   it cannot be started.
  package init(
    bootstrap: String?, properties: [(key: String, value: String)] = [], program: ChildProgram
  ) throws {
    self.properties = properties
    if let bootstrap {
      kafka = KafkaConfiguration([("bootstrap.servers", bootstrap)] + properties)
      isEmbedded = false
      child = nil
    } else {
      let child = try BrokerProcess(program)
      kafka = KafkaConfiguration(
        [("bootstrap.servers", child.bootstrapServers), ("session.timeout.ms", "6000")] + properties)
      isEmbedded = true
      self.child = child
    }
  }

  /// The broker's address and the given properties, without secrets.
  package var text: String {
    let place = isEmbedded ? "embedded, in another process" : kafka["bootstrap.servers"] ?? ""
    return properties.isEmpty ? place : "\(place) (\(KafkaConfiguration(properties)))"
  }

  /// Creates the topics of a plan. Topics that exist already are left alone.
  /// - Throws: ``BenchmarkError`` or `KafkaError` for the first topic that could not be created.
  func create(_ plan: TopicPlan) throws {
    if child != nil { return try create(plan.topics) }
    for outcome in try plan.create(KafkaAdmin(kafka)) { if let error = outcome.error { throw error } }
  }

  /// The longest time that a broker takes to know topics that it has created.
  private static let createTimeout = Duration.seconds(10)

  /// Creates topics, and waits until the broker knows them.
  /// - Throws: ``BenchmarkError`` or `KafkaError` for the first topic that could not be created.
  func create(_ topics: [KafkaNewTopic]) throws {
    if let child {
      for topic in topics { try child.create(topic.name, partitions: topic.partitions) }
      return
    }
    let admin = try KafkaAdmin(kafka)
    for result in try admin.createTopics(topics, timeout: .seconds(30)) {
      if let error = result.error { throw error }
    }
    // A broker answers before it tells others of the topics.
    let deadline = ContinuousClock.now + Self.createTimeout
    while true {
      do throws(KafkaError) {
        _ = try admin.describeTopics(topics.map(\.name), timeout: Self.createTimeout)
        return
      } catch {
        guard error.code == .unknownTopicOrPartition, ContinuousClock.now < deadline else { throw error }
      }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  /// Deletes topics of a real broker. An embedded broker ends with its process, so its topics are left alone.
  /// - Throws: `KafkaError` when the broker does not answer within 30 seconds.
  func delete(_ topics: [String]) throws(KafkaError) {
    guard child == nil else { return }
    _ = try KafkaAdmin(kafka).deleteTopics(topics, timeout: .seconds(30))
  }

  /// Returns the number of committed records in a topic.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are counted.
  /// - Throws: `KafkaError` when reading fails, ``BenchmarkError`` when counting takes more than 300 seconds.
  func count(_ topic: String, partitions: Int) throws -> Int {
    if isEmbedded {
      // The embedded broker drops its oldest records, but it numbers all of them without gaps: it stores no transaction
      // marks. So the high watermark is the count.
      let consumer = try KafkaConsumer.committed(
        topic, partitions: partitions, group: "rouse-bench-count", kafka: kafka)
      defer { consumer.close(timeout: .seconds(2)) }
      return try (0..<Int32(partitions)).reduce(0) { sum, number in
        let partition = KafkaTopicPartition(topic: topic, partition: number)
        return try sum + Int(consumer.watermarks(of: partition, timeout: .seconds(10)).high)
      }
    }
    var count = 0
    try read(topic, partitions: partitions) { _ in count += 1 }
    return count
  }

  /// Returns the number of committed decisions in a topic of blocks, as the headers of the blocks state it.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are counted.
  /// - Throws: `KafkaError` when reading fails, ``BenchmarkError`` when counting takes more than 300 seconds.
  func countDecisions(_ topic: String, partitions: Int) throws -> Int {
    var count = 0
    try read(topic, partitions: partitions) { message in
      for header in message.headers where header.name == DecisionBlock.countHeader {
        count += header.value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      }
    }
    return count
  }

  /// Reads the committed records of a topic once.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are read.
  ///   - take: gets each record, in the order of its partition.
  /// - Throws: `KafkaError` when reading fails, ``BenchmarkError`` when it takes more than 300 seconds.
  func read(_ topic: String, partitions: Int, _ take: (borrowing KafkaMessageView) -> Void) throws {
    let consumer = try KafkaConsumer.committed(
      topic, partitions: partitions, group: "rouse-bench-count", kafka: kafka,
      properties: ["enable.partition.eof": "true", "queued.max.messages.kbytes": "131072"])
    defer { consumer.close(timeout: .seconds(2)) }
    var open = Set((0..<Int32(partitions)).map { KafkaTopicPartition(topic: topic, partition: $0) })
    let deadline = ContinuousClock.now + Self.readTimeout
    while !open.isEmpty {
      try consumer.forEachMessage(maxMessages: 10_000, timeout: .milliseconds(100), take)
      for case .partitionEnd(let position) in consumer.takeEvents() { open.remove(position.partition) }
      if ContinuousClock.now > deadline {
        throw BenchmarkError(
          "reading the records of \(topic) took more than \(Self.readTimeout.components.seconds) s")
      }
    }
  }
}
