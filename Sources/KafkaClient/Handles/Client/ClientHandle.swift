import CLibrdkafka
import Glibc

/// Owns an `rd_kafka_t` and the state that its callbacks write. Used by one thread.
@safe final class ClientHandle {
  let pointer: OpaquePointer
  let callbacks: ClientCallbacks
  private var isLeftBehind = false
  private var isAbandoned = false

  /// Makes a client, which connects in the background.
  init(
    _ kind: rd_kafka_type_t, _ configuration: KafkaConfiguration, callbacks: ClientCallbacks, operation: String
  ) throws(KafkaError) {
    let handle = try ConfigurationHandle(configuration)
    try callbacks.register(on: handle, kind: kind)
    unsafe pointer = try handle.makeClient(kind, operation: operation)
    self.callbacks = callbacks
    // With `log.queue` lines wait in a separate queue until they are sent to the main one (NULL), which polls
    // serve; without it the answer is an error that changes nothing.
    unsafe _ = rd_kafka_set_log_queue(pointer, nil)
  }

  /// Runs the callbacks of events that have arrived, and waits at most `timeout` for the first one. Returns the number
  /// of events.
  @discardableResult
  func serve(_ timeout: Duration) -> Int {
    unsafe Int(rd_kafka_poll(pointer, timeout.wholeMilliseconds))
  }

  /// Returns the error that this client cannot recover from; `nil` if it met none.
  func fatalCause(operation: String) -> KafkaError? {
    unsafe KafkaError.fatal(of: pointer, operation: operation)
  }

  /// Throws if a call returned an error.
  func check(_ code: rd_kafka_resp_err_t, _ operation: @autoclosure () -> String) throws(KafkaError) {
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
    throw failure(code, operation())
  }

  /// Throws if a call returned an error object, and releases the object.
  func check(_ error: OpaquePointer?, _ operation: @autoclosure () -> String) throws(KafkaError) {
    guard let error = unsafe error else { return }
    throw unsafe explained(KafkaError(consuming: error, operation: operation()))
  }

  /// Returns the error for a code: the client's fatal error if the code stands for it, else an error of this code, with
  /// the newest connection failure added if that may be the cause.
  func failure(_ code: rd_kafka_resp_err_t, _ operation: String) -> KafkaError {
    if code == RD_KAFKA_RESP_ERR__FATAL, let fatal = fatalCause(operation: operation) { return fatal }
    return explained(KafkaError(code, operation: operation))
  }

  /// Returns the error, with the newest connection failure added to its message if that may be the cause.
  func explained(_ error: KafkaError) -> KafkaError {
    let connection: [KafkaErrorCode] = [.timedOut, .transportFailed, .allBrokersDown, .waitingForCoordinator]
    guard connection.contains(error.code) else { return error }
    // The failure waits in the client's queue until it is served. A consumer's queue also holds messages and must not be served
    // here; its poll has done that.
    if unsafe rd_kafka_type(pointer) == RD_KAFKA_PRODUCER { serve(.zero) }
    guard let problem = callbacks.lastConnectionProblem else { return error }
    var explained = error
    explained.message += "; the last connection failed with: \(problem)"
    return explained
  }

  /// Makes `deinit` destroy this client on a separate thread, because that may take long: librdkafka waits for commits that it
  /// cannot send until `session.timeout.ms` has passed.
  func leaveBehind() {
    isLeftBehind = true
    callbacks.letGo()
  }

  /// Keeps this client until the process ends, because librdkafka would end the process if the client were destroyed.
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

/// A client that is no longer used but not yet destroyed, and the state that its callbacks write.
@safe private final class Remains {
  private let pointer: OpaquePointer
  private let callbacks: ClientCallbacks

  init(pointer: OpaquePointer, callbacks: ClientCallbacks) {
    unsafe self.pointer = unsafe pointer
    self.callbacks = callbacks
  }

  func destroy() {
    // The client is owned here and not used elsewhere. The flag says not to leave the group: `ConsumerHandle.close` has
    // left it, or gave up waiting. It has no effect on a producer. No callback runs after the call, and `callbacks`
    // lives until then.
    unsafe rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
  }

  /// Leaks the client on purpose. librdkafka's threads continue, so the state that they use must stay.
  func keep() { unsafe _ = Unmanaged.passRetained(self) }

  func destroyInBackground() {
    var thread = pthread_t()
    // The thread takes over the only reference. The callbacks no longer refer to the caller's objects.
    let opaque = unsafe Unmanaged.passRetained(self).toOpaque()
    let refused = unsafe pthread_create(&thread, nil, { unsafe Remains.run($0) }, opaque) != 0
    if refused { unsafe _ = Remains.run(opaque) } else { pthread_detach(thread) }
  }

  private static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Takes the reference that `destroyInBackground` handed over, exactly once.
    if let opaque = unsafe opaque { unsafe Unmanaged<Remains>.fromOpaque(opaque).takeRetainedValue().destroy() }
    return nil
  }
}

extension KafkaError {
  /// Returns the fatal error of a client; `nil` if it met none.
  static func fatal(of client: OpaquePointer?, operation: String) -> KafkaError? {
    // Asks for the code first and reads the text only on an error, because each poll calls this.
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

/// Administrative requests, which every kind of client can send.
extension ClientHandle {
  /// Sends a request, waits for its answer, and returns what `read` copies out of it.
  ///
  /// An answer that comes after the time-out is dropped by librdkafka if the request went to a broker with a given id or to the
  /// controller. No other request may be sent here; see `AdminHandle`.
  ///
  /// - Parameter answersMax: The number of requests that `send` sends. The first answer that `read` takes is returned; if there is
  ///   none, the error of the last one is thrown.
  func ask<Answer>(
    _ kind: rd_kafka_admin_op_t, _ timeout: Duration, _ operation: String, answersMax: Int = 1,
    send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void,
    read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
  ) throws(KafkaError) -> Answer {
    // The time added to the broker's time-out when waiting for librdkafka's own answer, which always comes.
    let answerSlack = Duration.milliseconds(500)
    // This method owns options and queue; the queue is destroyed before the client.
    let options = unsafe rd_kafka_AdminOptions_new(pointer, kind)
    defer { unsafe rd_kafka_AdminOptions_destroy(options) }
    // Valid from 0 ms to an hour.
    let milliseconds = min(timeout, .seconds(3600)).wholeMilliseconds
    unsafe _ = rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)
    if kind == RD_KAFKA_ADMIN_OP_CREATETOPICS {
      unsafe _ = rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, nil, 0)
    }
    let queue = unsafe rd_kafka_queue_new(pointer)
    defer { unsafe rd_kafka_queue_destroy(queue) }
    unsafe send(options, queue)
    let deadline = Deadline(in: timeout + answerSlack)
    var refusal: KafkaError?
    for _ in 0..<answersMax {
      guard let event = unsafe rd_kafka_queue_poll(queue, deadline.remaining.wholeMilliseconds) else { break }
      // The caller destroys it after reading it.
      defer { unsafe rd_kafka_event_destroy(event) }
      do throws(KafkaError) {
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
          let text = unsafe rd_kafka_event_error_string(event).map { unsafe String(cString: $0) }
          throw explained(KafkaError(code, operation: operation, message: text))
        }
        return unsafe try read(event)
      } catch { refusal = error }
    }
    throw refusal ?? failure(RD_KAFKA_RESP_ERR__TIMED_OUT, operation)
  }
}
