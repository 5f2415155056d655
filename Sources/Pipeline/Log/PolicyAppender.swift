import Domain
public import KafkaClient

/// Puts a policy into force: a record on every log partition. From that record on each planner decides by it, whenever
/// it gets there, and a replay finds it at the same place.
public struct PolicyAppender {
  private let settings: PipelineSettings

  public init(settings: PipelineSettings) { self.settings = settings }

  /// Appends to every partition.
  public func apply(document: String) throws(KafkaError) {
    try append(document, to: Array(try 0..<settings.logPartitionCount()), timestamp: timestamp)
  }

  /// Appends to the partitions that hold no record yet, so that a new installation starts with a policy.
  /// - Returns: how many partitions were empty.
  public func seed(document: String) throws(KafkaError) -> Int {
    let empty = try emptyPartitions()
    try append(document, to: empty, timestamp: timestamp)
    return empty.count
  }

  /// The log partitions that hold no record yet.
  public func emptyPartitions() throws(KafkaError) -> [Int32] {
    let consumer = try KafkaConsumer(settings.client(["group.id": "\(settings.group)-seed"]))
    defer { consumer.close(timeout: .seconds(2)) }
    var empty: [Int32] = []
    for partition in try 0..<settings.logPartitionCount() {
      let topic = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
      let end = try retrying { () throws(KafkaError) in
        try consumer.watermarks(of: topic, timeout: .seconds(10)).high
      }
      if end == 0 { empty.append(partition) }
    }
    return empty
  }

  /// In a replay log time is the events', and a policy must not move it. 0 would mean now to librdkafka.
  private var timestamp: Int64? { settings.timestamps == .event ? 1 : nil }

  private func append(_ document: String, to partitions: [Int32], timestamp: Int64?) throws(KafkaError) {
    guard !partitions.isEmpty else { return }
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .policy(document: document)).encode(into: &bytes)
    let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
    for partition in partitions {
      try producer.send(
        topic: settings.topics.log, partition: partition, key: nil, value: bytes, timestampMilliseconds: timestamp)
    }
    let delivered = try producer.flush(timeout: .seconds(30))
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
    guard delivered else {
      throw KafkaError(
        code: .timedOut, message: "the broker did not confirm in 30 s", operation: "appending the policy",
        isRetriable: true)
    }
  }
}
