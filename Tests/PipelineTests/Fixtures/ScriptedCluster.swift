import KafkaClient

@testable import Installation
@testable import Pipeline

/// A cluster whose consumer returns the batches of a test, and whose broker refuses the records that the test names.
///
/// It behaves as Kafka and librdkafka do where order is at stake. A refused record fails its whole batch. A gapless producer
/// ends with it; the batches behind it are in flight already. The broker refuses them as out of sequence if it has
/// taken a batch of this producer in this partition before, and takes them otherwise.
final class ScriptedCluster: Cluster {
  let partitions: Int32
  /// The number of partitions of topics that have another number.
  var otherCounts: [String: Int32] = [:]
  /// The results of the next polls.
  var batches: [KafkaBatch] = []
  /// The code with which the broker refuses a record; nil if it takes it.
  var refusal: (KafkaMessage) -> KafkaErrorCode? = { _ in nil }
  /// The most records of a batch.
  var batchRecordsMax = 2
  /// The number of producers that were made.
  var producersMade = 0
  /// The largest record that the client takes.
  var clientBytesMax = 4_194_304
  /// The records that the broker took, in order. Their offsets are 0.
  var taken: [KafkaMessage] = []
  /// The records that a consumer finds which assigns partitions by hand.
  var stored: [KafkaMessage] = []
  /// The offsets that were committed, with their remarks.
  var committed: [KafkaTopicPartition: KafkaCommittedOffset] = [:]
  /// Called after each commit.
  var onCommit: () -> Void = {}
  /// The number of the producer's batches, of those that are queued, that the broker answers during a poll or a flush. By
  /// default it answers all of them.
  var answers: (Int) -> Int = { $0 }
  /// Chooses which batch the broker answers next, and the fate of batches whose producer has failed or is gone; nil for
  /// partition after partition, in order.
  var below: ((Int) -> Int)?
  /// Moves on when a producer waits in vain.
  var clock: SteppedClock?
  /// The time that the commit of a transaction takes on that clock.
  var commitTime = Duration.zero
  /// The longest wait that the last poll allowed.
  fileprivate(set) var pollTimeout = Duration.zero
  /// Batches of producers that are gone, which may still arrive.
  fileprivate var stragglers: [[[KafkaMessage]]] = []
  /// The listener of the consumer of a group.
  weak var listener: (any KafkaRebalanceListener)?
  /// The partitions that the group has assigned.
  private(set) var assigned: Set<KafkaTopicPartition> = []
  /// The most records that were queued in producers at once.
  fileprivate(set) var queuedMost = 0
  /// The partitions in which a consumer went to another offset, in order.
  var seeks: [KafkaTopicPartition] = []

  init(partitions: Int32) { self.partitions = partitions }

  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    if let listener { self.listener = listener }
    return ScriptedConsumer(self)
  }

  /// Assigns partitions to the member, as in a rebalance.
  func assign(_ partitions: some Sequence<KafkaTopicPartition>) {
    let new = Set(partitions).subtracting(assigned)
    guard !new.isEmpty else { return }
    assigned.formUnion(new)
    _ = listener?.assigned(new.sorted())
  }

  /// Takes partitions away from the member, as in a rebalance.
  func revoke(_ partitions: [KafkaTopicPartition]) {
    listener?.revoked(partitions)
    assigned.subtract(partitions)
  }

  /// Forgets the member, as when it ends or crashes.
  func forget() { assigned = [] }

  /// Lets a batch of a producer that is gone arrive, or loses it and all behind it.
  fileprivate func straggle() {
    guard let below, !stragglers.isEmpty, below(2) == 0 else { return }
    let place = below(stragglers.count)
    if below(3) == 0 || stragglers[place].isEmpty {
      stragglers.remove(at: place)
    } else {
      taken += stragglers[place].removeFirst()
    }
  }

  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    producersMade += 1
    return RefusedProducer(self, isGapless: configuration["enable.gapless.guarantee"] == "true")
  }
  func partitionCounts(
    of topics: [String], _ configuration: KafkaConfiguration
  ) throws(KafkaError) -> [Int32] { topics.map { otherCounts[$0] ?? partitions } }
}

private final class ScriptedMembership: GroupMembership {}

/// The consumer of a `ScriptedCluster`.
private final class ScriptedConsumer: ClusterConsumer {
  private let cluster: ScriptedCluster
  private var assigned: [KafkaTopicPartition: Int64] = [:]

  init(_ cluster: ScriptedCluster) { self.cluster = cluster }

  func subscribe(_ topics: [String]) throws(KafkaError) {}
  func assignment() throws(KafkaError) -> [KafkaTopicPartition] { [] }
  func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    for (partition, offset) in partitions { if case .at(let offset) = offset { assigned[partition] = offset } }
  }
  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    for partition in partitions { assigned[partition] = nil }
  }
  /// Whether everything that was assigned is paused.
  private var pausesAll = false
  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) { pausesAll = true }
  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) { pausesAll = false }
  func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
    cluster.seeks.append(partition)
  }
  func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch {
    cluster.pollTimeout = timeout
    for (partition, offset) in assigned {
      if let found = stored(partition).first(where: { $0.offset >= offset }) { return KafkaBatch(messages: [found]) }
    }
    guard !cluster.batches.isEmpty else { return KafkaBatch() }
    if !pausesAll {
      let batch = cluster.batches.removeFirst()
      cluster.assign(batch.messages.map(\.topicPartition))
      return batch
    }
    return KafkaBatch()
  }
  func committed(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition] { [] }
  func watermarks(of partition: KafkaTopicPartition, timeout: Duration) throws(KafkaError) -> KafkaWatermarks {
    KafkaWatermarks(low: stored(partition).first?.offset ?? 0, high: (stored(partition).last?.offset ?? -1) + 1)
  }
  func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks? { nil }
  private func stored(_ partition: KafkaTopicPartition) -> [KafkaMessage] {
    cluster.stored.filter { $0.topicPartition == partition }
  }
  func committedOffsets(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset] { partitions.compactMap { cluster.committed[$0] } }
  func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError) {
    for offset in offsets { cluster.committed[offset.position.partition] = offset }
    cluster.onCommit()
  }
  func membership() throws(KafkaError) -> any GroupMembership { ScriptedMembership() }
  func describeGroup(timeout: Duration) throws(KafkaError) -> KafkaGroup { KafkaGroup(isStable: true, members: []) }
  func rejoin(_ topics: [String], timeout: Duration) throws(KafkaError) {}
  func leave(timeout: Duration) -> Bool {
    cluster.forget()
    return true
  }
  func close(timeout: Duration) -> Bool { true }
}

/// The producer of a `ScriptedCluster`.
private final class RefusedProducer: ClusterProducer {
  private let cluster: ScriptedCluster
  /// A record in the queue, and the number that its report carries.
  private typealias Queued = (record: KafkaMessage, tag: UInt64)
  private var queue: [KafkaTopicPartition: [Queued]] = [:]
  private var failures: [KafkaDeliveryFailure] = []
  private(set) var counts = KafkaDeliveryCounts(sent: 0, delivered: 0, failed: 0, purged: 0)
  private let isGapless: Bool
  private var isFatal = false
  /// The partitions in which the broker has taken a batch of this producer.
  private var known: Set<KafkaTopicPartition> = []
  /// The partitions in which a batch was refused or was not sent.
  private var gaps: Set<KafkaTopicPartition> = []

  init(_ cluster: ScriptedCluster, isGapless: Bool) {
    self.cluster = cluster
    self.isGapless = isGapless
  }

  func send(_ record: KafkaRecord) throws(KafkaError) {
    let message = KafkaMessage(
      topic: record.topic, partition: record.partition ?? 0, offset: 0,
      timestampMilliseconds: record.timestampMilliseconds, key: record.key, value: record.value,
      headers: record.headers)
    let operation = "producing to \(record.topic)"
    guard !isFatal else {
      throw KafkaError(code: .gaplessGuarantee, message: "ended", operation: operation, isFatal: true)
    }
    guard message.size <= cluster.clientBytesMax else {
      throw KafkaError(code: .messageTooLarge, message: "too large", operation: operation)
    }
    queue[message.topicPartition, default: []].append((message, record.tag))
    counts.sent += 1
    cluster.queuedMost = max(cluster.queuedMost, queue.values.reduce(0) { $0 + $1.count })
  }
  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    throw KafkaError(code: .unsupportedFeature, message: "not scripted", operation: "producing to \(topic)")
  }
  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    throw KafkaError(code: .unsupportedFeature, message: "not scripted", operation: "producing to \(topic)")
  }
  func inFlight(tag: UInt64) -> UInt64 {
    UInt64(queue.values.reduce(0) { $0 + $1.count { $0.tag & 0xff == tag & 0xff } })
  }

  func poll(timeout: Duration) throws(KafkaError) {
    answer(timeout)
    if isFatal { throw KafkaError(code: .gaplessGuarantee, message: "ended", operation: "producing", isFatal: true) }
  }

  func flush(timeout: Duration) throws(KafkaError) -> Bool {
    answer(timeout)
    return queue.isEmpty
  }

  /// Lets the broker answer some batches.
  private func answer(_ timeout: Duration) {
    let batches = queue.values.reduce(0) {
      $0 + ($1.count + cluster.batchRecordsMax - 1) / cluster.batchRecordsMax
    }
    for _ in 0..<cluster.answers(batches) {
      cluster.straggle()
      let partitions = queue.keys.sorted()
      guard !partitions.isEmpty else { break }
      answerOne(partitions[cluster.below?(partitions.count) ?? 0])
    }
    if !queue.isEmpty { cluster.clock?.elapsed += timeout }
  }

  private func answerOne(_ partition: KafkaTopicPartition) {
    guard let records = queue[partition] else { return }
    let batch = records.prefix(cluster.batchRecordsMax)
    queue[partition] = records.count > batch.count ? Array(records.dropFirst(batch.count)) : nil
    if isFatal, !gaps.contains(partition), let below = cluster.below, below(2) == 0 {
      // The producer had not sent the batch when it failed.
      fail(batch, partition, .gaplessGuarantee)
      gaps.insert(partition)
    } else if gaps.contains(partition), known.contains(partition) {
      fail(batch, partition, .outOfOrderSequence)
    } else if let code = batch.lazy.compactMap({ self.cluster.refusal($0.record) }).first {
      fail(batch, partition, code)
      if isGapless {
        gaps.insert(partition)
        isFatal = true
      }
    } else {
      cluster.taken += batch.map(\.record)
      counts.delivered += UInt64(batch.count)
      known.insert(partition)
    }
  }

  deinit {
    guard cluster.below != nil else { return }
    for (partition, records) in queue where !gaps.contains(partition) && known.contains(partition) {
      cluster.stragglers.append(
        stride(from: 0, to: records.count, by: cluster.batchRecordsMax).map { start in
          records[start..<min(start + cluster.batchRecordsMax, records.count)].map(\.record)
        }.prefix { batch in batch.allSatisfy { cluster.refusal($0) == nil } }.map { $0 })
    }
  }

  private func fail(
    _ batch: ArraySlice<Queued>, _ partition: KafkaTopicPartition, _ code: KafkaErrorCode
  ) {
    counts.failed += UInt64(batch.count)
    failures += batch.map { queued in
      KafkaDeliveryFailure(
        partition: partition, tag: queued.tag,
        error: KafkaError(code: code, message: "refused", operation: "delivering a message to \(partition)"))
    }
  }

  func takeDeliveryFailures() -> [KafkaDeliveryFailure] {
    defer { failures = [] }
    return failures
  }
  func initTransactions(timeout: Duration) throws(KafkaError) {}
  func beginTransaction() throws(KafkaError) {}
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) {}
  func commitTransaction(timeout: Duration) throws(KafkaError) { cluster.clock?.elapsed += cluster.commitTime }
  func abortTransaction(timeout: Duration) throws(KafkaError) {}
}

extension KafkaMessage {
  /// The bytes of key, value and headers.
  var size: Int {
    headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
  }

  /// The last header of a name, as text.
  func header(_ name: String) -> String? {
    headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}
