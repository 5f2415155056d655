import CLibrdkafka
import Glibc

/// Owns an `rd_kafka_t` and what its callbacks write to. Used by one thread.
@safe final class ClientHandle {
  let pointer: OpaquePointer
  let callbacks: ClientCallbacks
  private var isLeftBehind = false
  private var isAbandoned = false

  /// Makes a client; it connects in the background.
  init(
    _ kind: rd_kafka_type_t, _ configuration: KafkaConfiguration, callbacks: ClientCallbacks, operation: String
  ) throws(KafkaError) {
    let handle = try ConfigurationHandle(configuration)
    try callbacks.register(on: handle, kind: kind)
    unsafe pointer = try handle.makeClient(kind, operation: operation)
    self.callbacks = callbacks
    // With `log.queue` lines wait in a queue of their own until they are sent to the main one (NULL), which polls
    // serve; without it the answer is an error that changes nothing.
    unsafe _ = rd_kafka_set_log_queue(pointer, nil)
  }

  /// Serves callbacks for at most this time; how many were served.
  @discardableResult
  func serve(_ timeout: Duration) -> Int {
    unsafe Int(rd_kafka_poll(pointer, timeout.wholeMilliseconds))
  }

  /// The error that this client cannot recover from, if it met one.
  func fatalError(operation: String) -> KafkaError? {
    unsafe KafkaError.fatal(of: pointer, operation: operation)
  }

  /// Throws what a call answered, if it was an error.
  func check(_ code: rd_kafka_resp_err_t, _ operation: @autoclosure () -> String) throws(KafkaError) {
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
    throw failure(code, operation())
  }

  /// Throws what a call answered, if it was an error; releases it.
  func check(_ error: OpaquePointer?, _ operation: @autoclosure () -> String) throws(KafkaError) {
    guard let error = unsafe error else { return }
    throw unsafe explained(KafkaError(consuming: error, operation: operation()))
  }

  /// The error behind a code: the fatal one when there is one, and with the connection's state when that is the cause.
  func failure(_ code: rd_kafka_resp_err_t, _ operation: String) -> KafkaError {
    if code == RD_KAFKA_RESP_ERR__FATAL, let fatal = fatalError(operation: operation) { return fatal }
    return explained(KafkaError(code, operation: operation))
  }

  /// The error, with the newest words about a failing connection when it may come from that.
  func explained(_ error: KafkaError) -> KafkaError {
    let connection: [KafkaErrorCode] = [.timedOut, .transportFailed, .allBrokersDown, .waitingForCoordinator]
    guard connection.contains(error.code) else { return error }
    // The words wait in the queue until they are served. A consumer's queue holds messages too and must not be
    // served here; its poll has done that.
    if unsafe rd_kafka_type(pointer) == RD_KAFKA_PRODUCER { serve(.zero) }
    guard let problem = callbacks.lastConnectionProblem else { return error }
    var explained = error
    explained.message += "; the last connection failed with: \(problem)"
    return explained
  }

  /// Lets the end of this client happen on a thread of its own, as it may take long.
  ///
  /// librdkafka waits for commits that it cannot send until `session.timeout.ms` has passed, whatever it is told.
  func leaveBehind() {
    isLeftBehind = true
    callbacks.letGo()
  }

  /// Leaves this client to the end of the process, for one that librdkafka cannot destroy without ending the process.
  func abandon() {
    isAbandoned = true
    callbacks.letGo()
  }

  deinit {
    let remains = unsafe Remains(pointer: pointer, callbacks: callbacks)
    if isAbandoned {
      remains.keep()
    } else if isLeftBehind {
      remains.destroyInBackground()
    } else {
      remains.destroy()
    }
  }
}

/// A client that nobody uses any more, and what its callbacks write to.
@safe private final class Remains {
  private let pointer: OpaquePointer
  private let callbacks: ClientCallbacks

  init(pointer: OpaquePointer, callbacks: ClientCallbacks) {
    unsafe self.pointer = unsafe pointer
    self.callbacks = callbacks
  }

  func destroy() {
    // Owned, and used by nobody else. The flag says that the group was left before, by `ConsumerHandle.close`, or is
    // not to be waited for; it has no effect on a producer. No callback runs after this, and `callbacks` lives until then.
    unsafe rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
  }

  /// librdkafka's threads go on, so what they use stays.
  func keep() { unsafe _ = Unmanaged.passRetained(self) }

  func destroyInBackground() {
    var thread = pthread_t()
    // The thread takes over the only reference; the callbacks were emptied, so nothing of the caller's is touched there.
    let opaque = unsafe Unmanaged.passRetained(self).toOpaque()
    let refused = unsafe pthread_create(&thread, nil, { unsafe Remains.run($0) }, opaque) != 0
    if refused { unsafe _ = Remains.run(opaque) } else { pthread_detach(thread) }
  }

  private static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // The reference that was handed over above, exactly once.
    if let opaque = unsafe opaque { unsafe Unmanaged<Remains>.fromOpaque(opaque).takeRetainedValue().destroy() }
    return nil
  }
}

extension KafkaError {
  /// The fatal error of a client, if it met one.
  static func fatal(of client: OpaquePointer?, operation: String) -> KafkaError? {
    // Asked without room for the text first: nearly always there is none, and asking is for every poll.
    guard let client = unsafe client, unsafe rd_kafka_fatal_error(client, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR else {
      return nil
    }
    var text = [CChar](repeating: 0, count: 512)
    // The text is NUL-terminated within its size.
    let code = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe rd_kafka_fatal_error(client, buffer.baseAddress, buffer.count)
    }
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    let message = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return KafkaError(code: KafkaErrorCode(code), message: message, operation: operation, isFatal: true)
  }
}
