import Domain
import Installation
import KafkaClient

/// Encoded log records on their way to the producer, so that each call to librdkafka queues many.
///
/// Records for all partitions (events) are encoded once, and every partition's call refers to the same bytes. Records for
/// one partition (registrations, tombstones, signals) are listed by partition. Only one kind is collected at a time, so
/// that handing over partition by partition keeps the order of each partition.
struct OutgoingRecords {
  private var writer = BinaryWriter()
  /// The places of the records for all partitions.
  private var shared: [KafkaRecordPlace] = []
  /// The places of the records for one partition, by partition.
  private var keyed: [[KafkaRecordPlace]] = []
  /// The number of log records, each partition's copy counted.
  private(set) var copies = 0
  /// The bytes of the log records, each partition's copy counted.
  private(set) var copiedBytes = 0

  /// Whether nothing was collected.
  var isEmpty: Bool { copies == 0 }

  /// Whether a record can be added without changing the order in any partition.
  ///
  /// - Parameter isShared: Whether the record is for all partitions.
  func takes(isShared: Bool) -> Bool { isEmpty || isShared != shared.isEmpty }

  /// Adds a record for all partitions, without a key.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - partitions: The number of partitions.
  mutating func addShared(_ record: LogRecord, partitions: Int32) {
    let start = writer.bytes.count
    record.encode(into: &writer)
    let end = writer.bytes.count
    shared.append(KafkaRecordPlace(key: nil, value: start..<end))
    copies += Int(partitions)
    copiedBytes += (end - start) * Int(partitions)
  }

  /// Adds a record for one partition.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - key: The key.
  ///   - partition: The partition, from 0.
  mutating func add(_ record: LogRecord, key: Identifier, to partition: Int32) {
    while keyed.count <= Int(partition) { keyed.append([]) }
    let start = writer.bytes.count
    writer.piece(ofAtMost: key.utf8.count) { span in for byte in key.utf8 { span.append(byte) } }
    let end = writer.bytes.count
    record.encode(into: &writer)
    keyed[Int(partition)].append(KafkaRecordPlace(key: start..<end, value: end..<writer.bytes.count))
    copies += 1
    copiedBytes += writer.bytes.count - start
  }

  /// Queues the records, in the order of each partition.
  ///
  /// - Parameters:
  ///   - topic: The name of the log.
  ///   - partitions: The number of its partitions.
  ///   - tag: The tag of the records.
  ///   - producer: The producer of the log.
  /// - Throws: `KafkaError`; some of the records may be queued by then.
  func send(
    to topic: String, partitions: Int32, tag: UInt64, _ producer: any ClusterProducer
  ) throws(KafkaError) {
    let bytes = writer.bytes
    if !shared.isEmpty {
      for partition in 0..<partitions {
        try producer.send(topic: topic, partition: partition, records: shared, in: bytes.span, tag: tag)
      }
      return
    }
    for partition in keyed.indices where !keyed[partition].isEmpty {
      try producer.send(
        topic: topic, partition: Int32(partition), records: keyed[partition], in: bytes.span, tag: tag)
    }
  }

  /// Removes everything, and keeps the memory.
  mutating func removeAll() {
    writer.reset()
    shared.removeAll(keepingCapacity: true)
    for partition in keyed.indices { keyed[partition].removeAll(keepingCapacity: true) }
    copies = 0
    copiedBytes = 0
  }
}
