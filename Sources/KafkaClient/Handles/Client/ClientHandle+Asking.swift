import CLibrdkafka

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
