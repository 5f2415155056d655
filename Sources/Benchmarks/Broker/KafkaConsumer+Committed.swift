import KafkaClient

extension KafkaConsumer {
  /// Makes a reader of the committed records of a topic. It shares nothing with other members of its group.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are read.
  ///   - group: the group's name, which librdkafka asks of every consumer.
  ///   - kafka: the properties that every client starts from.
  ///   - properties: more properties of the consumer.
  ///   - starts: the places to read from; a partition that is not among them is read from its beginning.
  /// - Throws: `KafkaError` when a property is refused.
  static func committed(
    _ topic: String, partitions: Int, group: String, kafka: KafkaConfiguration, properties: KafkaConfiguration = [:],
    from starts: [KafkaPosition] = []
  ) throws(KafkaError) -> KafkaConsumer {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": group, "isolation.level": "read_committed", "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "fetch.wait.max.ms": "20",
      ]).merging(properties))
    var places: [KafkaTopicPartition: KafkaOffset] = [:]
    for partition in all(topic, partitions) { places[partition] = .beginning }
    for start in starts { places[start.partition] = .at(start.offset) }
    try consumer.assign(places)
    return consumer
  }

  /// Returns the places behind the committed records of a topic.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are asked for.
  ///   - group: the group's name, which librdkafka asks of every consumer.
  ///   - kafka: the properties that every client starts from.
  /// - Throws: `KafkaError` when a broker does not answer within 30 seconds.
  static func committedEnds(
    _ topic: String, partitions: Int, group: String, kafka: KafkaConfiguration
  ) throws(KafkaError) -> [KafkaPosition] {
    let consumer = try KafkaConsumer(
      kafka.merging(["group.id": group, "isolation.level": "read_committed", "enable.auto.commit": "false"]))
    defer { consumer.close(timeout: .seconds(2)) }
    let ends = try consumer.ends(all(topic, partitions), timeout: .seconds(30))
    guard ends.count == partitions else {
      throw KafkaError(
        code: .timedOut, message: "the brokers told \(ends.count) of \(partitions) ends within 30 s",
        operation: "asking for the ends of \(topic)", isRetriable: true)
    }
    return ends
  }

  private static func all(_ topic: String, _ partitions: Int) -> [KafkaTopicPartition] {
    (0..<Int32(partitions)).map { KafkaTopicPartition(topic: topic, partition: $0) }
  }
}
