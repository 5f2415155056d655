import CLibrdkafka

extension ConsumerHandle {
  /// Waits for a message, then passes the messages that are already here to the producer, as a C program would: poll, produce
  /// with a copy, destroy. Returns their number.
  func forward(
    max: Int, timeout: Duration, to producer: ProducerHandle, topic: String, queueFullTimeout: Duration
  ) throws(KafkaError) -> Int {
    var wait = timeout.wholeMilliseconds
    var count = 0
    for _ in 0..<max {
      // This loop must destroy each message that the call returns; NULL means that none came.
      guard let message = unsafe rd_kafka_consumer_poll(client.pointer, wait) else { break }
      defer { unsafe rd_kafka_message_destroy(message) }
      wait = 0
      guard unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
        unsafe note(message)
        continue
      }
      unsafe try producer.forward(message, to: topic, queueFullTimeout: queueFullTimeout)
      count += 1
    }
    return count
  }
}

extension ProducerHandle {
  /// Queues a consumed message again, for the partition of the same number.
  func forward(
    _ message: UnsafeMutablePointer<rd_kafka_message_t>, to topic: String, queueFullTimeout: Duration
  ) throws(KafkaError) {
    let topicHandle = try handle(of: topic)
    var deadline: Deadline?
    // Key and value live as long as the message and are copied before the call returns.
    while unsafe rd_kafka_produce(
      topicHandle.pointer, message.pointee.partition, RD_KAFKA_MSG_F_COPY, message.pointee.payload,
      message.pointee.len, message.pointee.key, message.pointee.key_len, nil) != 0
    {
      let failure = client.failure(rd_kafka_last_error(), "forwarding to \(topic)")
      guard failure.code == .queueFull else { throw failure }
      deadline = deadline ?? Deadline(in: queueFullTimeout)
      guard let remaining = deadline?.remaining, remaining > .zero else { throw failure }
      client.serve(min(remaining, .milliseconds(50)))
    }
    deliveries.took(1, tag: 0)
  }
}
