import KafkaClient

/// The cluster as the stages use it, and no more than that: Kafka in operation, a simulated one in tests.
///
/// What a client is told by its configuration means the same in every implementation: `group.id`, `transactional.id`,
/// `isolation.level`, `auto.offset.reset`, `enable.partition.eof`, `transaction.timeout.ms`, `session.timeout.ms`.
protocol Cluster: AnyObject {
  /// Makes a consumer, of a group or of partitions given by hand. It belongs to the thread that polls.
  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer
  /// Makes a producer. It belongs to one thread.
  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer
  /// How many partitions each topic has; 0 when there is no such topic.
  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32]
}

/// What the stages ask of a consumer. Each call means what the method of the same name of `KafkaConsumer` means.
protocol ClusterConsumer: AnyObject {
  func subscribe(_ topics: [String]) throws(KafkaError)
  func assignment() throws(KafkaError) -> [KafkaTopicPartition]
  func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError)
  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError)
  func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError)
  func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch
  func committed(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition]
  func commitInBackground(_ positions: [KafkaPosition]?) throws(KafkaError)
  func watermarks(of partition: KafkaTopicPartition, timeout: Duration) throws(KafkaError) -> KafkaWatermarks
  /// The consumer's place in its group now, for a producer of the same cluster.
  func membership() throws(KafkaError) -> any GroupMembership
  @discardableResult func close(timeout: Duration) -> Bool
}

/// What the stages ask of a producer. Each call means what the method of the same name of `KafkaProducer` means.
protocol ClusterProducer: AnyObject {
  var counts: KafkaDeliveryCounts { get }
  func send(
    topic: String, partition: Int32?, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader],
    timestampMilliseconds: Int64?, tag: UInt64
  ) throws(KafkaError)
  /// Queues a record whose key and value are lent.
  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError)
  /// Queues a record that removes its key from a compacted topic.
  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError)
  /// Queues records of one destination in order. When it throws, some of them may be queued.
  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError)
  func poll(timeout: Duration) throws(KafkaError)
  func flush(timeout: Duration) throws(KafkaError) -> Bool
  func takeDeliveryFailures() -> [KafkaDelivery]
  func initTransactions(timeout: Duration) throws(KafkaError)
  func beginTransaction() throws(KafkaError)
  /// - Parameter group: of a consumer of the same cluster.
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError)
  func commitTransaction(timeout: Duration) throws(KafkaError)
  func abortTransaction(timeout: Duration) throws(KafkaError)
}

extension ClusterProducer {
  /// One after the other, for producers that cannot do better.
  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError) {
    for record in records {
      let key = bytes.extracting(record.key)
      if let value = record.value {
        try send(topic: topic, partition: partition, key: key, value: bytes.extracting(value))
      } else {
        try send(topic: topic, partition: partition, removing: key)
      }
    }
  }
}

/// A consumer's place in its group: which group, generation and member.
protocol GroupMembership: AnyObject {}

/// Time as the stages have it. Log time is none of it: that is in the log.
protocol StageClock: AnyObject {
  /// Since an instant of its own; never runs backwards.
  var elapsed: Duration { get }
  /// Wall clock, µs since 1970; may jump.
  var wallMicroseconds: Int64 { get }
  /// Lets the calling thread wait.
  func sleep(_ duration: Duration)
}

/// A local store of snapshots, by name. Losing one costs time only: what it holds stands in `rouse.state` too.
protocol SnapshotStore: AnyObject {
  /// Begins a snapshot; the one of that name stays what it is until `commit`.
  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink
  /// The snapshot's bytes; nil when there is none.
  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)?
}

/// A snapshot being written.
protocol SnapshotSink: AnyObject {
  func write(_ bytes: [UInt8]) throws(SnapshotError)
  /// Puts it in the place of the one before, as a whole.
  func commit() throws(SnapshotError)
  /// Gives it up.
  func discard()
}

/// A snapshot being read.
protocol SnapshotSource: AnyObject {
  /// Up to this many bytes more; empty at the end.
  func read(_ count: Int) throws(SnapshotError) -> [UInt8]
}

/// A snapshot that cannot be written or read.
struct SnapshotError: Error, Equatable, CustomStringConvertible {
  /// What failed, where and why.
  var description: String
}
