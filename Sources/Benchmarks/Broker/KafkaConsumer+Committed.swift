import KafkaClient

extension KafkaConsumer {
  /// Makes a reader of the committed records of a topic, from their beginning. It shares nothing with other members of its group.
  /// - Parameters:
  ///   - topic: the topic's name.
  ///   - partitions: the number of its partitions; all of them are read.
  ///   - group: the group's name, which librdkafka asks of every consumer.
  ///   - kafka: the properties that every client starts from.
  ///   - properties: more properties of the consumer.
  /// - Throws: `KafkaError` when a property is refused.
  static func committed(
    _ topic: String, partitions: Int, group: String, kafka: KafkaConfiguration, properties: KafkaConfiguration = [:]
  ) throws(KafkaError) -> KafkaConsumer {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": group, "isolation.level": "read_committed", "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "fetch.wait.max.ms": "20",
      ]).merging(properties))
    try consumer.assign(
      Dictionary(
        uniqueKeysWithValues: (0..<Int32(partitions)).map {
          (KafkaTopicPartition(topic: topic, partition: $0), KafkaOffset.beginning)
        }))
    return consumer
  }
}
