import CLibrdkafka

/// Sending many records in one call, which reads the clock and takes the topic's lock once for all of them.
extension ProducerHandle {
  /// The largest number of records of one call to librdkafka, which holds the topic's lock during the call.
  private static let recordsMax = 1024

  /// Copies records of one topic into the queue, in order, and waits for room for at most `queueFullTimeout`.
  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: UnsafeRawBufferPointer, tag: UInt64,
    queueFullTimeout: Duration
  ) throws(KafkaError) {
    let topicHandle = try handle(of: topic)
    var next = 0
    var deadline: Deadline?
    while next < records.count {
      let count = min(Self.recordsMax, records.count - next)
      unsafe prepare(records[next..<next + count], in: bytes, tag: tag)
      // Keys and values live for the call, are copied before it returns and only read, as the copy flag is set.
      let queued = unsafe messages.withUnsafeMutableBufferPointer { messages in
        unsafe rd_kafka_produce_batch(
          topicHandle.pointer, partition ?? RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, messages.baseAddress,
          Int32(count))
      }
      deliveries.took(Int(queued), tag: tag)
      if queued == count {
        next += count
        continue
      }
      // Each refused record carries its error. After a full queue all remaining records are refused; another error ends the send.
      let refused = unsafe messages.prefix(count).firstIndex { unsafe $0.err != RD_KAFKA_RESP_ERR_NO_ERROR } ?? count
      next += refused
      guard refused < count else { continue }
      let failure = unsafe KafkaError(
        messages[refused].err, operation: "producing to \(topic)\(partition.map { "[\($0)]" } ?? "")")
      try wait(for: failure, until: &deadline, queueFullTimeout)
    }
  }

  private func prepare(_ records: ArraySlice<KafkaRecordPlace>, in bytes: UnsafeRawBufferPointer, tag: UInt64) {
    if unsafe messages.count < records.count {
      unsafe messages = unsafe Array(repeating: rd_kafka_message_t(), count: records.count)
    }
    let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress) ?? emptyBytes
    unsafe messages.withUnsafeMutableBufferPointer { messages in
      for (place, record) in zip(messages.indices, records) {
        precondition(
          max(record.key?.upperBound ?? 0, record.value?.upperBound ?? 0) <= bytes.count, "a record lies in the bytes")
        // Within the bytes, by the check above. NULL is a null key or value.
        unsafe messages[place].key = record.key.map { unsafe start + $0.lowerBound }
        unsafe messages[place].key_len = record.key?.count ?? 0
        unsafe messages[place].payload = record.value.map { unsafe start + $0.lowerBound }
        unsafe messages[place].len = record.value?.count ?? 0
        // Never dereferenced: it comes back in the delivery report.
        unsafe messages[place]._private = UnsafeMutableRawPointer(bitPattern: UInt(tag))
        unsafe messages[place].err = RD_KAFKA_RESP_ERR_NO_ERROR
      }
    }
  }
}
