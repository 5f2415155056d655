import CLibrdkafka
import Glibc

/// The state that librdkafka's callbacks write. There is one per client, and only the thread that polls the client uses it.
final class ClientCallbacks {
  /// The largest number of events that wait for the caller. When one more arrives, the oldest quarter is dropped,
  /// because events are for logs.
  static let eventsMax = 256

  private(set) var events: [KafkaEvent] = []
  /// The message of the newest connection failure, to explain a time-out.
  private(set) var lastConnectionProblem: String?
  /// The error that the client cannot recover from.
  private(set) var fatal: KafkaError?
  var names = TopicNameCache()
  let deliveries: DeliveryLedger
  let rebalance: RebalanceState
  private var logSink: KafkaLogSink?
  private var statisticsSink: KafkaStatisticsSink?

  init(
    logSink: KafkaLogSink?, statisticsSink: KafkaStatisticsSink? = nil, deliveries: DeliveryLedger = DeliveryLedger(),
    rebalance: RebalanceState = .init()
  ) {
    self.logSink = logSink
    self.statisticsSink = statisticsSink
    self.deliveries = deliveries
    self.rebalance = rebalance
  }

  /// Adds an event. If ``eventsMax`` events wait already, drops the oldest quarter of them first.
  func add(_ event: KafkaEvent) {
    if events.count >= Self.eventsMax { events.removeFirst(Self.eventsMax / 4) }
    events.append(event)
  }

  /// Takes all waiting events.
  func takeEvents() -> [KafkaEvent] {
    guard !events.isEmpty else { return [] }
    defer { events = [] }
    return events
  }

  /// Drops the references to the caller's sinks and rebalance listener, which are not called any more.
  func letGo() {
    logSink = nil
    statisticsSink = nil
    rebalance.listener = nil
  }

  fileprivate func log(level: Int32, facility: String, message: String) {
    logSink?(KafkaLogLine(level: level, facility: facility, message: message))
  }

  fileprivate func took(statistics json: [UInt8]) { statisticsSink?(json) }

  fileprivate func failed(_ error: KafkaError) {
    if error.isFatal {
      fatal = fatal ?? error
    } else {
      if error.code.endsConnection { lastConnectionProblem = error.message }
      add(.error(error))
    }
  }
}

extension ClientCallbacks {
  /// Registers librdkafka's callbacks for a client of a kind. The configuration keeps an unowned reference to this object, which
  /// must therefore outlive the client: ``ClientHandle`` holds both and destroys the client first.
  func register(on configuration: borrowing ConfigurationHandle, kind: rd_kafka_type_t) throws(KafkaError) {
    if logSink != nil { try configuration.set("log.queue", "true") }
    let (logs, statistics) = (logSink != nil, statisticsSink != nil)
    unsafe configuration.register { pointer in
      // The opaque comes back unchanged as the last argument of each callback.
      unsafe rd_kafka_conf_set_opaque(pointer, Unmanaged.passUnretained(self).toOpaque())
      unsafe rd_kafka_conf_set_error_cb(pointer, errorCallback)
      unsafe rd_kafka_conf_set_log_cb(pointer, logs ? logCallback : silentLogCallback)
      // Without the callback librdkafka makes no statistics, whatever the interval is.
      if statistics { unsafe rd_kafka_conf_set_stats_cb(pointer, statisticsCallback) }
      if kind == RD_KAFKA_CONSUMER {
        unsafe rd_kafka_conf_set_rebalance_cb(pointer, rebalanceCallback)
        unsafe rd_kafka_conf_set_offset_commit_cb(pointer, offsetCommitCallback)
      } else {
        unsafe rd_kafka_conf_set_dr_msg_cb(pointer, deliveryCallback)
      }
    }
  }

  /// Returns the object that a callback's opaque pointer stands for; nil for a NULL pointer.
  static func from(_ opaque: UnsafeMutableRawPointer?) -> ClientCallbacks? {
    // The opaque is the unowned reference set above, and the object outlives the client that calls back.
    unsafe opaque.map { unsafe Unmanaged<ClientCallbacks>.fromOpaque($0).takeUnretainedValue() }
  }
}

// Each function below is called by librdkafka inside a poll, flush or close on the thread that owns the client
// (log lines included, by `log.queue`); pointers are valid for the call only, and nothing here throws or traps.

private let errorCallback:
  @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
    client, code, reason, opaque in
    guard let callbacks = unsafe ClientCallbacks.from(opaque) else { return }
    let code = rd_kafka_resp_err_t(rawValue: code)
    if code == RD_KAFKA_RESP_ERR__FATAL, let fatal = unsafe KafkaError.fatal(of: client, operation: "the kafka client")
    {
      callbacks.failed(fatal)
    } else {
      let message = unsafe reason.map { unsafe String(cString: $0) }
      callbacks.failed(KafkaError(code, operation: "the kafka client", message: message))
    }
  }

private let logCallback: @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void =
  {
    client, level, facility, message in
    // `rd_kafka_opaque` returns the opaque of the configuration that the client was made with.
    guard let client = unsafe client, let callbacks = unsafe ClientCallbacks.from(rd_kafka_opaque(client)) else {
      return
    }
    unsafe callbacks.log(
      level: level, facility: facility.map { unsafe String(cString: $0) } ?? "",
      message: message.map { unsafe String(cString: $0) } ?? "")
  }

/// Discards a log line. librdkafka calls it on its own threads, so it touches nothing.
private let silentLogCallback:
  @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void = { _, _, _, _ in }

private let statisticsCallback:
  @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Int32 = {
    _, json, count, opaque in
    if let callbacks = unsafe ClientCallbacks.from(opaque), let json = unsafe json {
      // The document has this many bytes, and lives for the call.
      callbacks.took(statistics: unsafe Array(UnsafeRawBufferPointer(start: json, count: count)))
    }
    // With 0 librdkafka releases the document.
    return 0
  }

private let deliveryCallback:
  @convention(c) (OpaquePointer?, UnsafePointer<rd_kafka_message_t>?, UnsafeMutableRawPointer?) -> Void = {
    _, message, opaque in
    guard let callbacks = unsafe ClientCallbacks.from(opaque), let message = unsafe message else { return }
    unsafe callbacks.deliveries.record(message, callbacks: callbacks)
  }

private let rebalanceCallback:
  @convention(c) (
    OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
    UnsafeMutableRawPointer?
  ) -> Void = { client, code, partitions, opaque in
    guard let client = unsafe client, let callbacks = unsafe ClientCallbacks.from(opaque) else { return }
    unsafe callbacks.rebalance.perform(code, partitions, client: client, callbacks: callbacks)
  }

private let offsetCommitCallback:
  @convention(c) (
    OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
    UnsafeMutableRawPointer?
  ) -> Void = { _, code, _, opaque in
    guard let callbacks = unsafe ClientCallbacks.from(opaque) else { return }
    // `_NO_OFFSET` says that there was nothing to commit.
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR, code != RD_KAFKA_RESP_ERR__NO_OFFSET else { return }
    callbacks.add(.error(KafkaError(code, operation: "committing offsets in the background")))
  }

/// Finds the name of a message's topic without making a new `String` for each message.
@safe struct TopicNameCache {
  /// The largest number of cached names; names beyond this number are not cached.
  private static let cachedMax = 64

  private var known: [(bytes: ContiguousArray<CChar>, name: String)] = []
  private var last = 0

  /// Returns the name of a topic; empty for NULL. The pointer must be valid during the call.
  mutating func name(of topic: OpaquePointer?) -> String {
    // A topic's name is a NUL-terminated string that lives as long as the topic; the caller holds a message, and the
    // message a reference to its topic. Names are compared by content, so a reused address cannot confuse them.
    guard let topic = unsafe topic, let text = unsafe rd_kafka_topic_name(topic) else { return "" }
    if last < known.count, unsafe matches(known[last].bytes, text) { return known[last].name }
    for index in known.indices where unsafe matches(known[index].bytes, text) {
      last = index
      return known[index].name
    }
    let name = unsafe String(cString: text)
    if known.count < Self.cachedMax {
      last = known.count
      known.append((ContiguousArray(name.utf8CString), name))
    }
    return name
  }

  private func matches(_ bytes: ContiguousArray<CChar>, _ text: UnsafePointer<CChar>) -> Bool {
    // Both are NUL-terminated.
    unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return false }
      return unsafe strcmp(base, text) == 0
    }
  }
}
