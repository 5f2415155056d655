import CLibrdkafka

/// A message that is still in librdkafka's memory, to be read without copying. It cannot outlive the call that lent it.
@safe public struct KafkaMessageView: ~Copyable {
  private let pointer: UnsafeMutablePointer<rd_kafka_message_t>
  /// The topic it was read from.
  public let topic: String

  /// Takes over a message without an error; `topic` is its topic's name.
  init(owning pointer: UnsafeMutablePointer<rd_kafka_message_t>, topic: String) {
    unsafe self.pointer = unsafe pointer
    self.topic = topic
  }

  /// The partition it was read from.
  public var partition: Int32 { unsafe pointer.pointee.partition }

  /// Its offset in the partition.
  public var offset: Int64 { unsafe pointer.pointee.offset }

  /// Milliseconds since 1970 in UTC, the producer's or the broker's as the topic says; `nil` when it carries none.
  public var timestampMilliseconds: Int64? {
    var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
    // Reads fields of the message, which is alive.
    let timestamp = unsafe rd_kafka_message_timestamp(pointer, &kind)
    return kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp
  }

  /// Lends the key; `nil` is a null key, which differs from an empty one.
  public func withKey<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe try lend(pointer.pointee.key, pointer.pointee.key_len, body)
  }

  /// Lends the value; `nil` is a null value (on a compacted topic, a tombstone), which differs from an empty one.
  public func withValue<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe try lend(pointer.pointee.payload, pointer.pointee.len, body)
  }

  /// The key, copied.
  public var key: [UInt8]? { unsafe copy(pointer.pointee.key, pointer.pointee.key_len) }

  /// The value, copied.
  public var value: [UInt8]? { unsafe copy(pointer.pointee.payload, pointer.pointee.len) }

  /// How many bytes the value has; 0 for a null one.
  public var valueCount: Int { unsafe pointer.pointee.len }

  /// The headers, copied, in order.
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

  /// The whole message, copied.
  public func copy() -> KafkaMessage {
    KafkaMessage(
      topic: topic, partition: partition, offset: offset, timestampMilliseconds: timestampMilliseconds, key: key,
      value: value, headers: headers)
  }

  private func lend<Result: ~Copyable, Failure: Error>(
    _ start: UnsafeRawPointer?, _ count: Int, _ body: (Span<UInt8>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The bytes live as long as the message, which `self` owns, and nobody writes to them; the span cannot leave the
    // closure.
    guard let start = unsafe start else { return try body(nil) }
    return unsafe try body(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count).span)
  }

  private func copy(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    guard let start = unsafe start else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  deinit {
    // Owned here.
    unsafe rd_kafka_message_destroy(pointer)
  }
}
