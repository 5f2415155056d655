import CLibrdkafka

/// Administrative calls. Used by one thread.
///
/// Requests to the coordinator of a group that librdkafka looks for itself are left out on purpose. librdkafka 2.0.2 aborts the
/// process when it finds the coordinator after the request has timed out, for example after an outage, or when the broker does not
/// know the request (issue 4605 of librdkafka, `rd_kafka_enq_once_del_source_return`). These are `DescribeConsumerGroups` without
/// a broker, `DeleteGroups`, `DeleteConsumerGroupOffsets`, `ListConsumerGroupOffsets` and `AlterConsumerGroupOffsets`. Requests to the
/// controller, to the leaders of partitions, to all brokers or to a broker with a given id are not: their late answers are
/// dropped.
@safe final class AdminHandle {
  private let client: ClientHandle

  init(_ configuration: KafkaConfiguration, callbacks: ClientCallbacks) throws(KafkaError) {
    // A producer, because it joins no group.
    client = try ClientHandle(
      RD_KAFKA_PRODUCER, configuration, callbacks: callbacks, operation: "making an admin client")
  }

  func createTopics(_ topics: [KafkaNewTopic], _ timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    let operation = "creating the topics \(topics.map(\.name).joined(separator: ", "))"
    let requests = try NewTopicListHandle(topics)
    return unsafe try client.ask(RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout, operation) { options, queue in
      // The topics are copied into the request.
      unsafe requests.with { pointers, count in
        unsafe rd_kafka_CreateTopics(client.pointer, pointers, count, options, queue)
      }
    } read: { (event: OpaquePointer) throws(KafkaError) in
      // NULL for an event of another type, which does not come. The results belong to the event.
      guard let result = unsafe rd_kafka_event_CreateTopics_result(event) else { return [] }
      var count = 0
      guard let results = unsafe rd_kafka_CreateTopics_result_topics(result, &count) else { return [] }
      return unsafe UnsafeBufferPointer(start: results, count: count).map { unsafe TopicResult.read($0) }
    }
  }

  func deleteTopics(_ topics: [String], _ timeout: Duration) throws(KafkaError) -> [KafkaTopicResult] {
    let operation = "deleting the topics \(topics.joined(separator: ", "))"
    // The names are copied, and never NULL.
    var names = unsafe topics.map { unsafe rd_kafka_DeleteTopic_new($0) }
    defer { for index in unsafe names.indices { unsafe rd_kafka_DeleteTopic_destroy(names[index]) } }
    return unsafe try client.ask(RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout, operation) { options, queue in
      // The list is copied into the request.
      unsafe rd_kafka_DeleteTopics(client.pointer, &names, names.count, options, queue)
    } read: { (event: OpaquePointer) throws(KafkaError) in
      // NULL for an event of another type, which does not come. The results belong to the event.
      guard let result = unsafe rd_kafka_event_DeleteTopics_result(event) else { return [] }
      var count = 0
      guard let results = unsafe rd_kafka_DeleteTopics_result_topics(result, &count) else { return [] }
      return unsafe UnsafeBufferPointer(start: results, count: count).map {
        unsafe TopicResult.read($0, operation: "deleting")
      }
    }
  }

  func describeTopicConfiguration(_ topic: String, _ timeout: Duration) throws(KafkaError) -> [String: String] {
    let operation = "describing the configuration of the topic \(topic)"
    // Not NULL for a resource type and a name that are not empty.
    guard !topic.isEmpty, let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic) else {
      throw KafkaError(code: .invalidArgument, message: "the topic has no name", operation: operation)
    }
    defer { unsafe rd_kafka_ConfigResource_destroy(resource) }
    return unsafe try client.ask(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout, operation) { options, queue in
      // The resource is copied into the request.
      var resources: [OpaquePointer?] = unsafe [resource]
      unsafe rd_kafka_DescribeConfigs(client.pointer, &resources, resources.count, options, queue)
    } read: { (event: OpaquePointer) throws(KafkaError) in
      // One resource was asked for. What is read belongs to the event.
      guard let result = unsafe rd_kafka_event_DescribeConfigs_result(event) else { return [:] }
      var count = 0
      guard let results = unsafe rd_kafka_DescribeConfigs_result_resources(result, &count), count > 0,
        let described = unsafe results[0]
      else { return [:] }
      let code = unsafe rd_kafka_ConfigResource_error(described)
      guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
        let text = unsafe rd_kafka_ConfigResource_error_string(described).map { unsafe String(cString: $0) }
        throw KafkaError(code, operation: operation, message: text)
      }
      return unsafe Self.entries(of: described)
    }
  }

  private static func entries(of resource: OpaquePointer) -> [String: String] {
    var count = 0
    guard let list = unsafe rd_kafka_ConfigResource_configs(resource, &count) else { return [:] }
    var entries: [String: String] = [:]
    for index in 0..<count {
      // A sensitive entry has no value. Strings are NUL-terminated and belong to the resource.
      guard let entry = unsafe list[index], let name = unsafe rd_kafka_ConfigEntry_name(entry),
        let value = unsafe rd_kafka_ConfigEntry_value(entry)
      else { continue }
      unsafe entries[String(cString: name)] = unsafe String(cString: value)
    }
    return entries
  }

  func describeCluster(_ timeout: Duration) throws(KafkaError) -> KafkaCluster {
    var metadata: UnsafePointer<rd_kafka_metadata>?
    // All topics: asking for one by name would make it where brokers create topics by themselves.
    let code = unsafe rd_kafka_metadata(client.pointer, 1, nil, &metadata, timeout.wholeMilliseconds)
    try client.check(code, "asking for the cluster's topics")
    guard let metadata = unsafe metadata else { return KafkaCluster(brokers: [], topics: []) }
    // The caller destroys it. Each array is followed by its length. Strings are NUL-terminated.
    defer { unsafe rd_kafka_metadata_destroy(metadata) }
    let brokers = unsafe UnsafeBufferPointer(start: metadata.pointee.brokers, count: Int(metadata.pointee.broker_cnt))
    let topics = unsafe UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
    return unsafe KafkaCluster(
      brokers: brokers.map { broker in
        unsafe KafkaBroker(id: broker.id, host: String(cString: broker.host), port: Int(broker.port))
      },
      topics: topics.map { unsafe Self.topic($0) })
  }

  private static func topic(_ topic: rd_kafka_metadata_topic) -> KafkaTopic {
    let name = unsafe String(cString: topic.topic)
    let partitions = unsafe UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
    let failed = unsafe topic.err != RD_KAFKA_RESP_ERR_NO_ERROR
    return unsafe KafkaTopic(
      name: name,
      partitions: partitions.map { partition in
        unsafe KafkaPartition(
          id: partition.id, leader: partition.leader >= 0 ? partition.leader : nil,
          replicaCount: Int(partition.replica_cnt), inSyncReplicaCount: Int(partition.isr_cnt))
      }.sorted { $0.id < $1.id },
      error: failed ? KafkaError(topic.err, operation: "describing the topic \(name)") : nil)
  }
}

/// Reads the result that a request reports for each topic.
private enum TopicResult {
  /// Returns a copy of a result, which librdkafka frees together with its event.
  static func read(_ result: OpaquePointer?, operation: String = "creating") -> KafkaTopicResult {
    guard let result = unsafe result else { return KafkaTopicResult(name: "", error: nil) }
    let name = unsafe rd_kafka_topic_result_name(result).map { unsafe String(cString: $0) } ?? ""
    let code = unsafe rd_kafka_topic_result_error(result)
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return KafkaTopicResult(name: name, error: nil) }
    let text = unsafe rd_kafka_topic_result_error_string(result).map { unsafe String(cString: $0) }
    return KafkaTopicResult(
      name: name, error: KafkaError(code, operation: "\(operation) the topic \(name)", message: text))
  }
}

/// Owns the `rd_kafka_NewTopic_t` of a request.
@safe private struct NewTopicListHandle: ~Copyable {
  private var pointers: [OpaquePointer?] = unsafe []

  init(_ topics: [KafkaNewTopic]) throws(KafkaError) {
    for topic in topics {
      var text = [CChar](repeating: 0, count: 256)
      // NULL on invalid arguments, with the reason as a NUL-terminated text. -1 is the cluster's default.
      let pointer = unsafe text.withUnsafeMutableBufferPointer { buffer in
        unsafe rd_kafka_NewTopic_new(
          topic.name, Int32(clamping: topic.partitions), topic.replicas.map { Int32(clamping: $0) } ?? -1,
          buffer.baseAddress, buffer.count)
      }
      guard let pointer = unsafe pointer else {
        // Thrown with every stored property set, so `deinit` releases the others.
        throw KafkaError(
          code: .invalidArgument,
          message: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self),
          operation: "creating the topic \"\(topic.name)\"")
      }
      unsafe pointers.append(pointer)
      for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
        // Both are copied; the broker judges them.
        unsafe _ = rd_kafka_NewTopic_set_config(pointer, name, value)
      }
    }
  }

  /// Calls `body` with the array of new topics and its length. The array is valid during the call only.
  func with(_ body: (UnsafeMutablePointer<OpaquePointer?>?, Int) -> Void) {
    var copy = unsafe pointers
    unsafe copy.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress, $0.count) }
  }

  deinit {
    // This handle owns the pointer.
    for index in unsafe pointers.indices { unsafe rd_kafka_NewTopic_destroy(pointers[index]) }
  }
}
