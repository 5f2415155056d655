import CLibrdkafka

/// A message in librdkafka's memory, which is read without copying. It cannot outlive the call that lent it.
@safe public struct KafkaMessageView: ~Copyable {
  private let pointer: UnsafeMutablePointer<rd_kafka_message_t>
  /// The topic that the message was read from.
  public let topic: String

  /// Takes over a message that is not an error; `topic` is the name of its topic.
  init(owning pointer: UnsafeMutablePointer<rd_kafka_message_t>, topic: String) {
    unsafe self.pointer = unsafe pointer
    self.topic = topic
  }

  /// The number of the partition that the message was read from.
  public var partition: Int32 { unsafe pointer.pointee.partition }

  /// The message's offset in the partition.
  public var offset: Int64 { unsafe pointer.pointee.offset }

  /// Milliseconds since 1970 in UTC, set by the producer or the broker, depending on the topic's configuration; any
  /// number is possible. `nil` if the message carries no timestamp.
  public var timestampMilliseconds: Int64? {
    var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
    // Reads fields of the message, which is alive.
    let timestamp = unsafe rd_kafka_message_timestamp(pointer, &kind)
    return kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp
  }

  /// Calls `body` with the value, which is not copied.
  /// - Parameter body: Receives the value, valid for the call; `nil` is a null value (on a compacted topic, a tombstone), which
  ///   differs from an empty one.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withValue<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe try lend(pointer.pointee.payload, pointer.pointee.len, body)
  }

  /// A copy of the key; `nil` is a null key.
  public var key: [UInt8]? { unsafe copy(pointer.pointee.key, pointer.pointee.key_len) }

  /// A copy of the value; `nil` is a null value.
  public var value: [UInt8]? { unsafe copy(pointer.pointee.payload, pointer.pointee.len) }

  /// A copy of the headers, in order.
  public var headers: [KafkaHeader] {
    var list: OpaquePointer?
    // The list belongs to the message. Names are NUL-terminated; a value has `size` bytes, and is NULL when null.
    guard unsafe rd_kafka_message_headers(pointer, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list else {
      return []
    }
    let count = unsafe rd_kafka_header_cnt(list)
    var headers: [KafkaHeader] = []
    headers.reserveCapacity(count)
    for index in 0..<count {
      var name: UnsafePointer<CChar>?
      var value: UnsafeRawPointer?
      var size = 0
      guard unsafe rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR else {
        break
      }
      unsafe headers.append(KafkaHeader(name.map { unsafe String(cString: $0) } ?? "", copy(value, size)))
    }
    return headers
  }

  /// Copies the whole message.
  public func copy() -> KafkaMessage {
    KafkaMessage(
      topic: topic, partition: partition, offset: offset, timestampMilliseconds: timestampMilliseconds, key: key,
      value: value, headers: headers)
  }

  private func lend<Result: ~Copyable, Failure: Error>(
    _ start: UnsafeRawPointer?, _ count: Int, _ body: (Span<UInt8>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The bytes live as long as the message, which `self` owns, and are never written to. The span cannot leave the closure.
    guard let start = unsafe start else { return try body(nil) }
    return unsafe try body(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count).span)
  }

  private func copy(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    guard let start = unsafe start else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  deinit {
    // This handle owns the pointer.
    unsafe rd_kafka_message_destroy(pointer)
  }
}
