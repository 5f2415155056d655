import Domain
import Foundation
import KafkaClient

/// A topic that a feed follows from its own positions, in no group: what both feeds of a view share.
struct FollowedTopic {
  let name: String
  private let kafka: KafkaConfiguration
  private let now: () -> Date
  private let decoder = PublicRecordDecoder()

  /// The largest number of records of a transaction.
  /// - Beyond: the others go into the next one.
  static let batchRecordsMax = 2000
  /// The time between two looks at the ends of the partitions.
  static let lookInterval = Duration.seconds(1)
  /// The time between two looks at the number of partitions.
  static let countInterval = Duration.seconds(60)
  /// The longest wait for an answer of the brokers. A process that is told to end waits for two of them at most.
  private static let brokerTimeout = Duration.seconds(3)
  /// The longest wait for the ends of the partitions. Nothing is read meanwhile.
  private static let lookTimeout = Duration.seconds(1)
  private static let pollTimeout = Duration.milliseconds(100)

  /// Names the topic.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - kafka: The properties of librdkafka, with a `group.id`, which only names the client: nothing is committed.
  ///   - now: The wall clock.
  init(_ name: String, kafka: KafkaConfiguration, now: @escaping () -> Date) {
    self.name = name
    self.now = now
    let defaults: KafkaConfiguration = [
      "fetch.wait.max.ms": "100", "queued.min.messages": "100000", "queued.max.messages.kbytes": "16384",
    ]
    self.kafka = defaults.merging(kafka).merging([
      "enable.auto.commit": "false", "auto.offset.reset": "earliest", "enable.partition.eof": "true",
      "isolation.level": "read_committed",
    ])
  }

  /// Returns the numbers of the partitions.
  func partitions() throws(DeviceFeed.FeedError) -> [Int32] {
    try Self.kafka { () throws(KafkaError) in
      try KafkaAdmin(kafka).describeTopics([name], timeout: Self.brokerTimeout).flatMap(\.partitions).map(\.id)
    }
  }

  /// Makes a consumer, and asks for the ends of partitions.
  func consumer(of partitions: [Int32]) throws(DeviceFeed.FeedError) -> (KafkaConsumer, ends: [KafkaPosition]) {
    try Self.kafka { () throws(KafkaError) in
      let consumer = try KafkaConsumer(kafka)
      return (consumer, try consumer.ends(partitions.map(place), timeout: Self.brokerTimeout))
    }
  }

  /// Makes a consumer read on from positions; 0 stands for the beginning.
  func assign(_ consumer: KafkaConsumer, _ next: [Int32: Int64]) throws(DeviceFeed.FeedError) {
    let starts = next.map { (place($0.key), $0.value == 0 ? KafkaOffset.beginning : .at($0.value)) }
    try Self.kafka { () throws(KafkaError) in try consumer.assign(Dictionary(uniqueKeysWithValues: starts)) }
  }

  /// Returns the next records and events.
  func poll(_ consumer: KafkaConsumer) throws(DeviceFeed.FeedError) -> KafkaBatch {
    try Self.kafka { () throws(KafkaError) in
      try consumer.poll(maxMessages: Self.batchRecordsMax, timeout: Self.pollTimeout)
    }
  }

  /// Asks the brokers for the ends of partitions.
  func ends(_ consumer: KafkaConsumer, of partitions: some Sequence<Int32>) throws(KafkaError) -> [KafkaPosition] {
    try consumer.ends(partitions.map(place), timeout: Self.lookTimeout)
  }

  /// Returns the number of records before the ends that were not read.
  ///
  /// - Parameters:
  ///   - ends: The ends of the partitions.
  ///   - next: The offset of the next record, by partition.
  ///   - reached: The ends that were reached. Control records stand between the last record and the end.
  static func lag(to ends: [KafkaPosition], next: [Int32: Int64], reached: [Int32: Int64]) -> Int64 {
    ends.reduce(0) { lag, end in
      let partition = end.partition.partition
      return lag + max(0, end.offset - max(next[partition] ?? 0, reached[partition] ?? 0))
    }
  }

  /// Reads a record as intake does.
  ///
  /// - Parameters:
  ///   - message: The record.
  ///   - sort: The sort of the topic.
  /// - Returns: The content, and the time of the record, which is that of the clock if it has none; nil for a record that intake refuses.
  func content(
    of message: KafkaMessage, _ sort: PublicRecordDecoder.TopicSort
  ) -> (content: LogRecord.Content, time: Timestamp)? {
    let written = message.timestampMilliseconds.flatMap { time in
      time >= 0 && time < Int64.max / 1000 ? Timestamp(microseconds: time * 1000) : nil
    }
    let time = written ?? Timestamp(microseconds: Int64(now().timeIntervalSince1970 * 1_000_000))
    let record = CloudEventRecord(
      headers: message.headers.map { CloudEventRecord.Header(name: $0.name, value: $0.value) }, key: message.key,
      value: message.value, timestamp: time)
    // Intake has made a dead letter of what it refuses, with the reason.
    guard let content = try? decoder.decode(record, from: sort, now: time) else { return nil }
    return (content, time)
  }

  private func place(_ partition: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: name, partition: partition)
  }

  /// Runs a call of Kafka.
  private static func kafka<Value>(_ body: () throws(KafkaError) -> Value) throws(DeviceFeed.FeedError) -> Value {
    do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
  }

  /// Runs a call of the file.
  static func store<Value>(_ body: () throws(DeviceStoreError) -> Value) throws(DeviceFeed.FeedError) -> Value {
    do throws(DeviceStoreError) { return try body() } catch { throw .store(error) }
  }
}
