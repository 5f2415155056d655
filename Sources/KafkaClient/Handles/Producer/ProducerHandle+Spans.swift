/// Lends the bytes of arrays and spans to librdkafka, which copies them before the call returns.
extension ProducerHandle {
  func send(_ record: KafkaRecord, queueFullTimeout: Duration) throws(KafkaError) {
    unsafe try lend(record.key) { (key: UnsafeRawBufferPointer?) throws(KafkaError) in
      unsafe try lend(record.value) { (value: UnsafeRawBufferPointer?) throws(KafkaError) in
        unsafe try send(
          topic: record.topic, partition: record.partition, key: key, value: value, headers: record.headers,
          timestampMilliseconds: record.timestampMilliseconds, tag: record.tag, queueFullTimeout: queueFullTimeout)
      }
    }
  }

  func send(
    topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>, queueFullTimeout: Duration
  ) throws(KafkaError) {
    unsafe try key.withUnsafeBytes { (key: UnsafeRawBufferPointer) throws(KafkaError) in
      unsafe try value.withUnsafeBytes { (value: UnsafeRawBufferPointer) throws(KafkaError) in
        unsafe try send(topic: topic, partition: partition, key: key, value: value, queueFullTimeout: queueFullTimeout)
      }
    }
  }

  func send(
    topic: String, partition: Int32?, removing key: Span<UInt8>, queueFullTimeout: Duration
  ) throws(KafkaError) {
    unsafe try key.withUnsafeBytes { (key: UnsafeRawBufferPointer) throws(KafkaError) in
      unsafe try send(topic: topic, partition: partition, key: key, value: nil, queueFullTimeout: queueFullTimeout)
    }
  }

  func send(
    topic: String, partition: Int32?, records: [KafkaRecordPlace], in bytes: Span<UInt8>, tag: UInt64,
    queueFullTimeout: Duration
  ) throws(KafkaError) {
    unsafe try bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws(KafkaError) in
      unsafe try send(
        topic: topic, partition: partition, records: records, in: bytes, tag: tag, queueFullTimeout: queueFullTimeout)
    }
  }

  func send(
    topic: String, partition: Int32?, key: [UInt8]?, value: Span<UInt8>, headers: [KafkaHeader],
    timestampMilliseconds: Int64?, tag: UInt64, queueFullTimeout: Duration
  ) throws(KafkaError) {
    unsafe try lend(key) { (key: UnsafeRawBufferPointer?) throws(KafkaError) in
      unsafe try value.withUnsafeBytes { (value: UnsafeRawBufferPointer) throws(KafkaError) in
        unsafe try send(
          topic: topic, partition: partition, key: key, value: value, headers: headers,
          timestampMilliseconds: timestampMilliseconds, tag: tag, queueFullTimeout: queueFullTimeout)
      }
    }
  }

  private func lend(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws(KafkaError) -> Void
  ) throws(KafkaError) {
    guard let bytes else { return try body(nil) }
    // Valid until `body` returns.
    unsafe try bytes.span.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) throws(KafkaError) in
      unsafe try body(buffer)
    }
  }
}
