import CLibrdkafka
import Glibc

/// Owns an `rd_kafka_topic_partition_list_t`.
@safe struct PartitionListHandle: ~Copyable {
  let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  /// Makes a list of partitions without offsets.
  init(_ partitions: [KafkaTopicPartition]) {
    self.init(partitions.map { ($0, Int64(RD_KAFKA_OFFSET_INVALID)) })
  }

  /// Makes a list of positions.
  init(_ positions: [KafkaPosition]) {
    self.init(positions.map { ($0.partition, $0.offset) })
  }

  /// Makes a list for a subscription.
  init(topics: [String]) {
    self.init(topics.map { (KafkaTopicPartition(topic: $0, partition: -1), Int64(RD_KAFKA_OFFSET_INVALID)) })
  }

  /// Makes a list of partitions with librdkafka's raw offsets.
  init(_ entries: [(KafkaTopicPartition, Int64)]) {
    // Neither call returns NULL; the topic's name is copied. The element pointer is valid until the next addition,
    // and is used before it.
    unsafe pointer = rd_kafka_topic_partition_list_new(Int32(entries.count))
    for (partition, offset) in entries {
      let element = unsafe rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
      unsafe element?.pointee.offset = offset
    }
  }

  /// Makes a list of positions that are committed with a remark.
  init(_ offsets: [KafkaCommittedOffset]) {
    self.init(offsets.map { ($0.position.partition, $0.position.offset) })
    for (index, offset) in offsets.enumerated() where !offset.metadata.isEmpty {
      // The list has an element for each offset, in order. librdkafka frees the copy together with the list, with `free`.
      let element = unsafe pointer.pointee.elems + index
      unsafe element.pointee.metadata = UnsafeMutableRawPointer(strdup(offset.metadata))
      unsafe element.pointee.metadata_size = offset.metadata.utf8.count
    }
  }

  /// Takes over a list that librdkafka handed out.
  init(owning pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) {
    unsafe self.pointer = unsafe pointer
  }

  /// The list's entries, copied.
  var entries: [PartitionEntry] { unsafe PartitionEntry.read(pointer) }

  /// The error of the first entry that has one; `nil` if none has.
  func firstFailure(_ operation: String) -> KafkaError? {
    guard let entry = entries.first(where: { $0.code != RD_KAFKA_RESP_ERR_NO_ERROR }) else { return nil }
    return KafkaError(entry.code, operation: "\(operation) \(entry.partition)")
  }

  deinit {
    // This handle owns the pointer.
    unsafe rd_kafka_topic_partition_list_destroy(pointer)
  }
}

/// One entry of a partition list.
struct PartitionEntry {
  var partition: KafkaTopicPartition
  /// librdkafka's raw offset: a real one from 0, or one of `RD_KAFKA_OFFSET_…`.
  var offset: Int64
  var code: rd_kafka_resp_err_t
  /// The remark that the offset was committed with.
  var metadata: String

  /// The position; `nil` if the offset is not a real one.
  var position: KafkaPosition? { offset >= 0 ? KafkaPosition(partition, offset: offset) : nil }

  /// Copies the entries of a list; none if the list is NULL.
  static func read(_ list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> [PartitionEntry] {
    guard let list = unsafe list, let elements = unsafe list.pointee.elems else { return [] }
    // `elems` holds `cnt` entries whose topic is a NUL-terminated string owned by the list.
    return unsafe UnsafeBufferPointer(start: elements, count: Int(list.pointee.cnt)).map { element in
      unsafe PartitionEntry(
        partition: KafkaTopicPartition(
          topic: element.topic.map { unsafe String(cString: $0) } ?? "", partition: element.partition),
        offset: element.offset, code: element.err,
        // `metadata` is NULL or holds `metadata_size` bytes that the list owns.
        metadata: element.metadata.map {
          unsafe String(
            decoding: UnsafeRawBufferPointer(start: $0, count: element.metadata_size), as: UTF8.self)
        } ?? "")
    }
  }
}

extension KafkaOffset {
  /// The offset as librdkafka writes it: a real one from 0, or one of `RD_KAFKA_OFFSET_…`.
  var raw: Int64 {
    switch self {
    case .at(let offset): offset
    case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
    case .end: Int64(RD_KAFKA_OFFSET_END)
    case .committed: Int64(RD_KAFKA_OFFSET_STORED)
    }
  }
}
