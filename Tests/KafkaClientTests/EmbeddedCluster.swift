import Foundation
import KafkaClient

/// An embedded broker with settings that make tests fast.
struct EmbeddedCluster {
  let broker: EmbeddedBroker

  init(topics: [String: Int] = [:]) throws {
    broker = try EmbeddedBroker()
    for (topic, partitions) in topics.sorted(by: { $0.key < $1.key }) {
      try broker.createTopic(topic, partitions: partitions)
    }
  }

  func producer(_ more: KafkaConfiguration = [:]) throws -> KafkaProducer {
    try KafkaProducer(Settings.producer(broker.bootstrapServers).merging(more))
  }

  /// A consumer of partition 0 of a topic, from its beginning.
  func consumer(of topic: String, _ more: KafkaConfiguration = [:]) throws -> KafkaConsumer {
    let consumer = try KafkaConsumer(Settings.consumer(broker.bootstrapServers).merging(more))
    try consumer.assign([KafkaTopicPartition(topic: topic, partition: 0): .beginning])
    return consumer
  }
}

enum Settings {
  static func producer(_ servers: String) -> KafkaConfiguration {
    ["bootstrap.servers": servers, "linger.ms": "1", "message.timeout.ms": "20000"]
  }

  static func consumer(_ servers: String, group: String = "readers") -> KafkaConfiguration {
    [
      "bootstrap.servers": servers, "group.id": group, "fetch.wait.max.ms": "20", "auto.offset.reset": "earliest",
      "session.timeout.ms": "6000", "heartbeat.interval.ms": "300", "enable.auto.commit": "false",
    ]
  }
}

/// The longest wait of a test for something that must happen. On a busy machine a rebalance of the embedded broker may
/// take several session time-outs.
let patience = Duration.seconds(150)

extension KafkaConsumer {
  /// Polls until `count` messages have arrived, or patience ends.
  func take(_ count: Int) throws -> [KafkaMessage] {
    var messages: [KafkaMessage] = []
    try pollUntil { batch in
      messages += batch.messages
      return messages.count >= count
    }
    return messages
  }

  /// Polls until the condition holds, or patience ends. Returns whether it held.
  @discardableResult
  func pollUntil(_ condition: (KafkaBatch) throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + patience
    while ContinuousClock.now < end {
      if try condition(poll(maxMessages: 500, timeout: .milliseconds(50))) { return true }
    }
    return false
  }
}

/// A listener that records its calls.
final class NotingListener: KafkaRebalanceListener {
  var held: Set<KafkaTopicPartition> = []
  /// Whether the group has given an assignment, even an empty one.
  var wasCalled = false
  var revocations = 0
  var losses = 0
  var starts: [KafkaTopicPartition: KafkaOffset] = [:]
  var onRevoked: ([KafkaTopicPartition]) -> Void = { _ in }

  func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    held.formUnion(partitions)
    wasCalled = true
    return starts
  }

  func revoked(_ partitions: [KafkaTopicPartition]) {
    onRevoked(partitions)
    held.subtract(partitions)
    revocations += 1
  }

  func lost(_ partitions: [KafkaTopicPartition]) {
    held.subtract(partitions)
    losses += 1
  }
}

/// Returns the error that a call throws; `nil` if it throws none.
func failure(of body: () throws(KafkaError) -> Void) -> KafkaError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
