import KafkaClient

@testable import Installation
@testable import Operating
@testable import Pipeline

/// A cluster that notes which permissions the calls of a stage need, and passes them on to another one.
///
/// The permissions follow Kafka's protocol: reading and joining need `read`; producing and transactions need `write`; asking
/// for offsets, ends and members needs `describe`. A consumer with a group asks for the group's coordinator, also when it
/// does not join.
final class AccessRecorder: Cluster {
  /// The permissions that were needed, by resource with a whole name.
  final class Notes {
    private(set) var operations: [AccessRule.Resource: Set<AccessRule.Operation>] = [:]

    func add(_ kind: AccessRule.ResourceKind, _ name: String, _ operation: AccessRule.Operation) {
      operations[AccessRule.Resource(kind, name), default: []].insert(operation)
    }

    func add(_ partitions: some Sequence<KafkaTopicPartition>, _ operation: AccessRule.Operation) {
      for partition in partitions { add(.topic, partition.topic, operation) }
    }
  }

  private let inner: any Cluster
  private let notes: Notes

  init(_ inner: any Cluster, _ notes: Notes) {
    self.inner = inner
    self.notes = notes
  }

  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    let group = configuration["group.id"] ?? ""
    notes.add(.group, group, .describe)
    return RecordedConsumer(try inner.consumer(configuration, listener: listener), group: group, notes)
  }

  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    if let id = configuration["transactional.id"] { notes.add(.transactionalID, id, .write) }
    return RecordedProducer(try inner.producer(configuration, queueFullTimeout: queueFullTimeout), notes)
  }

  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32] {
    for topic in topics { notes.add(.topic, topic, .describe) }
    return try inner.partitionCounts(of: topics, configuration)
  }
}

/// A membership with the name of its group.
private final class RecordedMembership: GroupMembership {
  let inner: any GroupMembership
  let group: String

  init(_ inner: any GroupMembership, group: String) {
    self.inner = inner
    self.group = group
  }
}

private final class RecordedConsumer: ClusterConsumer {
  private let inner: any ClusterConsumer
  private let group: String
  private let notes: AccessRecorder.Notes

  init(_ inner: any ClusterConsumer, group: String, _ notes: AccessRecorder.Notes) {
    self.inner = inner
    self.group = group
    self.notes = notes
  }

  func subscribe(_ topics: [String]) throws(KafkaError) {
    noteJoining(topics)
    try inner.subscribe(topics)
  }

  func rejoin(_ topics: [String], timeout: Duration) throws(KafkaError) {
    noteJoining(topics)
    try inner.rejoin(topics, timeout: timeout)
  }

  private func noteJoining(_ topics: [String]) {
    notes.add(.group, group, .read)
    for topic in topics { notes.add(.topic, topic, .read) }
  }

  func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    notes.add(partitions.keys, .read)
    try inner.incrementalAssign(partitions)
  }

  func committed(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition] {
    noteAsking(partitions)
    return try inner.committed(partitions, timeout: timeout)
  }

  func committedOffsets(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset] {
    noteAsking(partitions)
    return try inner.committedOffsets(partitions, timeout: timeout)
  }

  private func noteAsking(_ partitions: [KafkaTopicPartition]) {
    notes.add(.group, group, .describe)
    notes.add(partitions, .describe)
  }

  func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError) {
    notes.add(.group, group, .read)
    notes.add(offsets.map(\.position.partition), .read)
    try inner.commitInBackground(offsets)
  }

  func watermarks(of partition: KafkaTopicPartition, timeout: Duration) throws(KafkaError) -> KafkaWatermarks {
    notes.add([partition], .describe)
    return try inner.watermarks(of: partition, timeout: timeout)
  }

  func describeGroup(timeout: Duration) throws(KafkaError) -> KafkaGroup {
    notes.add(.group, group, .describe)
    return try inner.describeGroup(timeout: timeout)
  }

  func membership() throws(KafkaError) -> any GroupMembership {
    RecordedMembership(try inner.membership(), group: group)
  }

  // The broker is not asked for more than above.
  func assignment() throws(KafkaError) -> [KafkaTopicPartition] { try inner.assignment() }
  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try inner.incrementalUnassign(partitions)
  }
  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) { try inner.pause(partitions) }
  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) { try inner.resume(partitions) }
  func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
    try inner.seek(partition, to: offset)
  }
  func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch {
    try inner.poll(maxMessages: maxMessages, timeout: timeout)
  }
  func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks? {
    try inner.cachedWatermarks(of: partition)
  }
  func leave(timeout: Duration) -> Bool { inner.leave(timeout: timeout) }
  func close(timeout: Duration) -> Bool { inner.close(timeout: timeout) }
}

private final class RecordedProducer: ClusterProducer {
  private let inner: any ClusterProducer
  private let notes: AccessRecorder.Notes

  init(_ inner: any ClusterProducer, _ notes: AccessRecorder.Notes) {
    self.inner = inner
    self.notes = notes
  }

  func send(_ record: KafkaRecord) throws(KafkaError) {
    notes.add(.topic, record.topic, .write)
    try inner.send(record)
  }

  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    notes.add(.topic, topic, .write)
    try inner.send(topic: topic, partition: partition, key: key, value: value)
  }

  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    notes.add(.topic, topic, .write)
    try inner.send(topic: topic, partition: partition, removing: key)
  }

  func send(
    topic: String, partition: Int32, value: Span<UInt8>, headers: [KafkaHeader]
  ) throws(KafkaError) {
    notes.add(.topic, topic, .write)
    try inner.send(topic: topic, partition: partition, value: value, headers: headers)
  }

  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>
  ) throws(KafkaError) {
    notes.add(.topic, topic, .write)
    try inner.send(topic: topic, partition: partition, records: records, in: bytes)
  }

  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64
  ) throws(KafkaError) {
    notes.add(.topic, topic, .write)
    try inner.send(topic: topic, partition: partition, records: records, in: bytes, tag: tag)
  }

  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {
    guard let membership = group as? RecordedMembership else {
      preconditionFailure("the membership comes from a consumer of the same cluster")
    }
    notes.add(.group, membership.group, .read)
    notes.add(positions.map(\.partition), .read)
    try inner.sendOffsetsToTransaction(positions, group: membership.inner, timeout: timeout)
  }

  // The rest concerns records that were sent, or the transaction of an id that is noted already.
  var counts: KafkaDeliveryCounts { inner.counts }
  func inFlight(tag: UInt64) -> UInt64 { inner.inFlight(tag: tag) }
  func poll(timeout: Duration) throws(KafkaError) { try inner.poll(timeout: timeout) }
  func flush(timeout: Duration) throws(KafkaError) -> Bool { try inner.flush(timeout: timeout) }
  func takeDeliveryFailures() -> [KafkaDeliveryFailure] { inner.takeDeliveryFailures() }
  func initTransactions(timeout: Duration) throws(KafkaError) { try inner.initTransactions(timeout: timeout) }
  func beginTransaction() throws(KafkaError) { try inner.beginTransaction() }
  func commitTransaction(timeout: Duration) throws(KafkaError) { try inner.commitTransaction(timeout: timeout) }
  func abortTransaction(timeout: Duration) throws(KafkaError) { try inner.abortTransaction(timeout: timeout) }
}
