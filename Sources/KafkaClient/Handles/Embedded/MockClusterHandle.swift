import CLibrdkafka

/// Owns an `rd_kafka_mock_cluster_t`, which runs in the client that it was made with.
@safe final class MockClusterHandle {
  private let client: ClientHandle
  private let pointer: OpaquePointer

  init(brokers: Int, logSink: KafkaLogSink?) throws(KafkaError) {
    client = try ClientHandle(
      RD_KAFKA_PRODUCER, [:], callbacks: ClientCallbacks(logSink: logSink), operation: "starting the embedded broker")
    // NULL if no port could be opened.
    guard let pointer = unsafe rd_kafka_mock_cluster_new(client.pointer, Int32(clamping: brokers)) else {
      throw KafkaError(
        code: .invalidArgument, message: "no port could be opened on 127.0.0.1",
        operation: "starting the embedded broker", isRetriable: true)
    }
    unsafe self.pointer = unsafe pointer
  }

  var bootstrapServers: String {
    // A string of the cluster.
    unsafe String(cString: rd_kafka_mock_cluster_bootstraps(pointer))
  }

  // The calls below are queued to the cluster's own thread and wait for it; their strings live for the call.

  func createTopic(_ name: String, partitions: Int, replicas: Int) throws(KafkaError) {
    let code = unsafe rd_kafka_mock_topic_create(pointer, name, Int32(clamping: partitions), Int32(clamping: replicas))
    try client.check(code, "creating the topic \(name) in the embedded broker")
  }

  func pushErrors(_ request: Int16, _ codes: [KafkaErrorCode]) {
    let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0.rawValue) }
    unsafe rd_kafka_mock_push_request_errors_array(pointer, request, errors.count, errors)
  }

  func clearErrors(_ request: Int16) {
    unsafe rd_kafka_mock_clear_request_errors(pointer, request)
  }

  func setTopicError(_ topic: String, _ code: KafkaErrorCode?) {
    unsafe rd_kafka_mock_topic_set_error(pointer, topic, rd_kafka_resp_err_t(rawValue: code?.rawValue ?? 0))
  }

  func setUp(_ isUp: Bool, broker: Int32) throws(KafkaError) {
    let code =
      unsafe isUp ? rd_kafka_mock_broker_set_up(pointer, broker) : rd_kafka_mock_broker_set_down(pointer, broker)
    try client.check(code, "taking the embedded broker \(broker) \(isUp ? "up" : "down")")
  }

  func setRoundTripTime(_ time: Duration, broker: Int32) throws(KafkaError) {
    let code = unsafe rd_kafka_mock_broker_set_rtt(pointer, broker, time.wholeMilliseconds)
    try client.check(code, "slowing the embedded broker \(broker)")
  }

  func setLeader(_ partition: KafkaTopicPartition, broker: Int32) throws(KafkaError) {
    let code = unsafe rd_kafka_mock_partition_set_leader(pointer, partition.topic, partition.partition, broker)
    try client.check(code, "setting the leader of \(partition) in the embedded broker")
  }

  deinit {
    // This handle owns the pointer; the client is a stored property and goes after this.
    unsafe rd_kafka_mock_cluster_destroy(pointer)
  }
}
