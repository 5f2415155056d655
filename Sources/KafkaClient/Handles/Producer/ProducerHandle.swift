import CLibrdkafka

/// The calls of a producer. Used by one thread.
@safe final class ProducerHandle {
  let client: ClientHandle
  private let topicProperties: [String: KafkaConfiguration]
  private var topics: [String: TopicHandle] = [:]
  private var lastTopic: TopicHandle?
  /// The buffer for the records of one call, reused.
  var messages: [rd_kafka_message_t] = unsafe []

  init(_ configuration: KafkaConfiguration, callbacks: ClientCallbacks) throws(KafkaError) {
    client = try ClientHandle(RD_KAFKA_PRODUCER, configuration, callbacks: callbacks, operation: "making a producer")
    topicProperties = configuration.topicProperties
  }

  var deliveries: DeliveryLedger { client.callbacks.deliveries }

  /// Copies a message into the queue and waits for room for at most `queueFullTimeout`. The partitioner chooses a `nil`
  /// partition; a `nil` timestamp is now.
  func send(
    topic: String, partition: Int32?, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
    headers: [KafkaHeader], timestampMilliseconds: Int64?, tag: UInt64, queueFullTimeout: Duration
  ) throws(KafkaError) {
    let topicHandle = try handle(of: topic)
    var fields = unsafe [
      Field.topic(topicHandle.pointer), Field.partition(partition ?? RD_KAFKA_PARTITION_UA),
      // The bytes are copied before the call returns.
      Field.flags(RD_KAFKA_MSG_F_COPY), Field.key(key), Field.value(value), Field.tag(tag),
    ]
    if let timestampMilliseconds { unsafe fields.append(Field.timestamp(timestampMilliseconds)) }
    let list = headers.isEmpty ? nil : HeaderListHandle(headers)
    if let list { unsafe fields.append(Field.headers(list.pointer)) }
    // The deadline is made at the first refusal, because reading the clock for every message would cost as much as sending it.
    var deadline: Deadline?
    while true {
      // The fields and all they point at live for the call. The caller owns the returned error, if any.
      guard let error = unsafe rd_kafka_produceva(client.pointer, fields, fields.count) else {
        list?.handOver()
        deliveries.took(1, tag: tag)
        return
      }
      let failure = unsafe KafkaError(
        consuming: error, operation: "producing to \(topic)\(partition.map { "[\($0)]" } ?? "")")
      try wait(for: failure, until: &deadline, queueFullTimeout)
    }
  }

  /// Works like the other overload, for a message without headers, timestamp and tag.
  func send(
    topic: String, partition: Int32?, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?,
    queueFullTimeout: Duration
  ) throws(KafkaError) {
    let topicHandle = try handle(of: topic)
    var deadline: Deadline?
    while true {
      // Both are copied before the call returns and only read, as the copy flag is set; an address for zero bytes is
      // never read.
      let code = unsafe rd_kafka_produce(
        topicHandle.pointer, partition ?? RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
        value.map { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress) ?? emptyBytes }, value?.count ?? 0,
        key.baseAddress ?? UnsafeRawPointer(emptyBytes), key.count, nil)
      if code == 0 {
        deliveries.took(1, tag: 0)
        return
      }
      // The thread's last error belongs to this call.
      let failure = KafkaError(
        code: KafkaErrorCode(rd_kafka_last_error()), message: rd_kafka_last_error().words,
        operation: "producing to \(topic)\(partition.map { "[\($0)]" } ?? "")")
      try wait(for: failure, until: &deadline, queueFullTimeout)
    }
  }

  /// Waits up to 50 ms for room if a full queue refused a message; throws every other refusal, and the refusal by a full queue
  /// once the deadline has passed.
  func wait(
    for failure: KafkaError, until deadline: inout Deadline?, _ queueFullTimeout: Duration
  ) throws(KafkaError) {
    guard failure.code == .queueFull else {
      if failure.code == .fatal, let fatal = client.fatalCause(operation: failure.operation) { throw fatal }
      throw failure
    }
    let end = deadline ?? Deadline(in: queueFullTimeout)
    deadline = end
    guard end.remaining > .zero else { throw client.queueFull(failure) }
    client.serve(min(end.remaining, .milliseconds(50)))
  }

  /// Returns the topic's handle, which is made at the first call for a topic and kept for the producer's life.
  func handle(of topic: String) throws(KafkaError) -> TopicHandle {
    if let lastTopic, lastTopic.name == topic { return lastTopic }
    let handle: TopicHandle
    if let known = topics[topic] {
      handle = known
    } else {
      handle = try TopicHandle(topic, client, topicProperties[topic])
      topics[topic] = handle
    }
    lastTopic = handle
    return handle
  }

  /// Waits until every message has its report. Returns whether all had it in time.
  func flush(_ timeout: Duration) throws(KafkaError) -> Bool {
    let code = unsafe rd_kafka_flush(client.pointer, timeout.wholeMilliseconds)
    if code == RD_KAFKA_RESP_ERR__TIMED_OUT { return false }
    try client.check(code, "flushing the producer")
    return true
  }

  /// Discards all messages without a delivery report; their reports arrive when callbacks are run next.
  func purge() {
    // Both flags are valid for a producer, for which the call cannot fail.
    unsafe _ = rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
  }
}

/// Transactions. Each call of librdkafka returns NULL or an error object that the caller owns.
extension ProducerHandle {
  func initTransactions(_ timeout: Duration) throws(KafkaError) {
    unsafe try client.check(
      rd_kafka_init_transactions(client.pointer, timeout.wholeMilliseconds), "initialising transactions")
  }

  func beginTransaction() throws(KafkaError) {
    unsafe try client.check(rd_kafka_begin_transaction(client.pointer), "beginning a transaction")
  }

  func sendOffsets(
    _ positions: [KafkaPosition], _ group: GroupMetadataHandle, _ timeout: Duration
  ) throws(KafkaError) {
    let list = PartitionListHandle(positions)
    let error = unsafe rd_kafka_send_offsets_to_transaction(
      client.pointer, list.pointer, group.pointer, timeout.wholeMilliseconds)
    unsafe try client.check(error, "sending offsets to the transaction")
  }

  func commitTransaction(_ timeout: Duration) throws(KafkaError) {
    let deadline = Deadline(in: timeout)
    flushInShortSteps(before: deadline)
    unsafe try client.check(
      rd_kafka_commit_transaction(client.pointer, deadline.remaining.wholeMilliseconds), "committing the transaction")
  }

  /// The number of steps after which a commit leaves it to librdkafka to wait for the queued messages. Together they last 60 ms.
  private static let flushSteps = 24

  /// Waits for up to 60 ms until the broker has every queued message, as the commit itself does first. librdkafka looks for that each
  /// 10 ms, unless a report of a message wakes it. With `delivery.report.only.error` there is none, so nearly every commit would
  /// take 10 ms more.
  private func flushInShortSteps(before deadline: Deadline) {
    // 1 ms at first, later more: each step wakes librdkafka's threads.
    for step in 0..<Self.flushSteps where !deadline.hasPassed {
      // Any other answer than "not yet" is the commit's to tell.
      if unsafe rd_kafka_flush(client.pointer, Int32(1 + step / 6)) != RD_KAFKA_RESP_ERR__TIMED_OUT { return }
    }
  }

  func abortTransaction(_ timeout: Duration) throws(KafkaError) {
    unsafe try client.check(
      rd_kafka_abort_transaction(client.pointer, timeout.wholeMilliseconds), "aborting the transaction")
  }
}

extension ClientHandle {
  /// Returns the error of a send for which the queue stayed full.
  fileprivate func queueFull(_ error: KafkaError) -> KafkaError {
    var error = error
    error.message = "the producer's queue stayed full; the broker takes messages more slowly than they are produced"
    error.isRetriable = true
    if let problem = callbacks.lastConnectionProblem {
      error.message += "; the last connection failed with: \(problem)"
    }
    return error
  }
}

/// Owns an `rd_kafka_topic_t`, and keeps the client alive until it is released, as librdkafka asks.
@safe final class TopicHandle {
  let name: String
  let pointer: OpaquePointer
  private let client: ClientHandle

  /// Makes a handle. With `properties`, they replace those that the client has for all topics.
  init(_ name: String, _ client: ClientHandle, _ properties: KafkaConfiguration?) throws(KafkaError) {
    // NULL stands for the client's own properties.
    var configuration: OpaquePointer?
    if let properties { unsafe configuration = try Self.configuration(properties, client, of: name) }
    // NULL on an invalid name, with the reason in the thread's last error. The call takes over the configuration in either case.
    guard let pointer = unsafe rd_kafka_topic_new(client.pointer, name, configuration) else {
      throw KafkaError(
        code: KafkaErrorCode(rd_kafka_last_error()), message: rd_kafka_last_error().words,
        operation: "using the topic \"\(name)\"", isRetriable: false)
    }
    unsafe self.pointer = unsafe pointer
    self.name = name
    self.client = client
  }

  /// Returns a copy of the client's properties for topics, with `properties` set. The caller owns it.
  private static func configuration(
    _ properties: KafkaConfiguration, _ client: ClientHandle, of topic: String
  ) throws(KafkaError) -> OpaquePointer? {
    // Never NULL for a client that lives.
    let pointer = unsafe rd_kafka_default_topic_conf_dup(client.pointer)
    for (key, value) in properties.properties {
      var text = [CChar](repeating: 0, count: 512)
      // Both strings live for the call and are copied by it; the text is NUL-terminated within its size.
      let result = unsafe text.withUnsafeMutableBufferPointer { buffer in
        unsafe rd_kafka_topic_conf_set(pointer, key, value, buffer.baseAddress, buffer.count)
      }
      guard result != RD_KAFKA_CONF_OK else { continue }
      unsafe rd_kafka_topic_conf_destroy(pointer)
      throw KafkaError(
        code: .invalidArgument,
        message: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self),
        operation: "setting the property \"\(key)\" of the topic \"\(topic)\"", isRetriable: false)
    }
    return unsafe pointer
  }

  deinit {
    // This handle owns the pointer.
    unsafe rd_kafka_topic_destroy(pointer)
  }
}

extension rd_kafka_resp_err_t {
  fileprivate var words: String { KafkaErrorCode(self).explanation }
}

/// Owns an `rd_kafka_headers_t` until a message takes it over.
@safe private final class HeaderListHandle {
  let pointer: OpaquePointer
  private var isOwned = true

  init(_ headers: [KafkaHeader]) {
    // Never NULL; names and values are copied. A NULL value is a null one, so an empty one needs an address.
    unsafe pointer = rd_kafka_headers_new(headers.count)
    for header in headers {
      let count = header.name.utf8.count
      if let value = header.value {
        unsafe value.withUnsafeBytes { bytes in
          unsafe _ = rd_kafka_header_add(
            pointer, header.name, count, bytes.baseAddress ?? UnsafeRawPointer(emptyBytes), bytes.count)
        }
      } else {
        unsafe _ = rd_kafka_header_add(pointer, header.name, count, nil, 0)
      }
    }
  }

  /// Records that a message has taken over the list, so that this object does not free it.
  func handOver() {
    isOwned = false
  }

  deinit {
    // `rd_kafka_produceva` takes the list only when it succeeds.
    if isOwned { unsafe rd_kafka_headers_destroy(pointer) }
  }
}

/// An address for keys and values of zero bytes. librdkafka takes NULL for a null value, and reads nothing from this address.
nonisolated(unsafe) let emptyBytes = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

/// Makes the fields of a message for `rd_kafka_produceva`; each sets the member of the union that its type asks for.
private enum Field {
  static func topic(_ topic: OpaquePointer) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_RKT) { unsafe $0.rkt = unsafe topic }
  }

  static func partition(_ partition: Int32) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_PARTITION) { unsafe $0.i32 = partition }
  }

  static func flags(_ flags: Int32) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_MSGFLAGS) { unsafe $0.i = flags }
  }

  static func key(_ bytes: UnsafeRawBufferPointer?) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_KEY) { unsafe $0.mem = memory(bytes) }
  }

  static func value(_ bytes: UnsafeRawBufferPointer?) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_VALUE) { unsafe $0.mem = memory(bytes) }
  }

  static func tag(_ tag: UInt64) -> rd_kafka_vu_t {
    // Never dereferenced: it comes back in the delivery report.
    unsafe make(RD_KAFKA_VTYPE_OPAQUE) { unsafe $0.ptr = UnsafeMutableRawPointer(bitPattern: UInt(tag)) }
  }

  static func timestamp(_ milliseconds: Int64) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_TIMESTAMP) { unsafe $0.i64 = milliseconds }
  }

  static func headers(_ list: OpaquePointer) -> rd_kafka_vu_t {
    unsafe make(RD_KAFKA_VTYPE_HEADERS) { unsafe $0.headers = unsafe list }
  }

  private typealias Union = rd_kafka_vu_s.__Unnamed_union_u

  private static func make(_ type: rd_kafka_vtype_t, _ set: (inout Union) -> Void) -> rd_kafka_vu_t {
    var field = unsafe rd_kafka_vu_t()
    unsafe field.vtype = type
    unsafe set(&field.u)
    return unsafe field
  }

  private static func memory(_ bytes: UnsafeRawBufferPointer?) -> Union.__Unnamed_struct_mem {
    guard let bytes = unsafe bytes else { return unsafe .init(ptr: nil, size: 0) }
    // Only read, as the copy flag is set.
    return unsafe .init(ptr: UnsafeMutableRawPointer(mutating: bytes.baseAddress) ?? emptyBytes, size: bytes.count)
  }
}
