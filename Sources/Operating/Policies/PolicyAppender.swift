import Domain
public import Installation
public import KafkaClient
public import Policies

/// Puts a policy into force by appending it as a record to the log partitions. Each planner decides by the policy from
/// that record on, and a replay finds it at the same place.
public struct PolicyAppender {
  private let settings: ClusterSettings

  /// Makes an appender.
  ///
  /// - Parameter settings: The log, and how to reach Kafka.
  public init(settings: ClusterSettings) { self.settings = settings }

  /// The header of a policy record that says who applied it. Planners do not read it.
  static let appliedByHeader = "rouse-applied-by"

  /// Appends a policy to every partition.
  ///
  /// - Parameters:
  ///   - document: The policy.
  ///   - name: Who applies it: the id of a key, the subject of a token, or a user; nil if that is not known.
  /// - Throws: `KafkaError` if the broker did not confirm each record within 30 s. Some partitions may have the policy then; the message says
  ///   how many are missing. It does no harm to apply the policy again.
  public func apply(_ document: PolicyDocument, by name: String? = nil) throws(KafkaError) {
    try append(document, to: Array(try 0..<settings.logPartitionCount()), timestamp: timestamp, by: name)
  }

  /// Appends a policy to the log partitions to which no record was ever appended, so that a new installation starts
  /// with a policy.
  ///
  /// - Parameter document: The policy.
  /// - Returns: The number of partitions that were empty.
  /// - Throws: `KafkaError` if the broker did not confirm each record within 30 s.
  public func seed(_ document: PolicyDocument) throws(KafkaError) -> Int {
    let empty = try emptyPartitions()
    try append(document, to: empty, timestamp: timestamp)
    return empty.count
  }

  /// Returns the log partitions to which no record was ever appended.
  ///
  /// - Throws: `KafkaError` if the broker does not answer.
  public func emptyPartitions() throws(KafkaError) -> [Int32] {
    let consumer = try KafkaConsumer(settings.client(["group.id": settings.plannerGroup]))
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

  /// The timestamp that the policy records get, in ms since 1970; nil for the present time. With `timestamps` set to
  /// `event`, log time is the time of the events, and a policy record must not move it forward. So the timestamp is
  /// then 1, the smallest possible: librdkafka replaces 0 by the present time.
  private var timestamp: Int64? { settings.timestamps == .event ? 1 : nil }

  private func append(
    _ document: PolicyDocument, to partitions: [Int32], timestamp: Int64?, by name: String? = nil
  ) throws(KafkaError) {
    guard !partitions.isEmpty else { return }
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .policy(document: document.text)).encode(into: &bytes)
    let headers = name.map { [KafkaHeader(Self.appliedByHeader, Array($0.utf8))] } ?? []
    let producer = try KafkaProducer(settings.client(["enable.idempotence": "true"]))
    for partition in partitions {
      try producer.send(
        topic: settings.topics.log, partition: partition, key: nil, value: bytes, headers: headers,
        timestampMilliseconds: timestamp)
    }
    let delivered = try producer.flush(timeout: .seconds(30))
    let failures = producer.takeDeliveryFailures()
    guard !delivered || !failures.isEmpty else { return }
    throw Self.failure(failures.first?.error, unconfirmed: delivered ? failures.count : nil, of: partitions.count)
  }

  /// Returns the error for a policy that not every partition has confirmed.
  private static func failure(_ cause: KafkaError?, unconfirmed: Int?, of partitions: Int) -> KafkaError {
    var failure =
      cause
      ?? KafkaError(
        code: .timedOut, message: "the broker did not confirm in 30 s", operation: "appending the policy",
        isRetriable: true)
    if partitions > 1 {
      failure.message +=
        "; \(unconfirmed.map(String.init) ?? "some") of the \(partitions) log partitions did not confirm the policy, the others may "
        + "decide by it already: apply it again, which does no harm"
    }
    return failure
  }
}
