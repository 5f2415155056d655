import KafkaClient

extension PipelineSettings {
  /// How many partitions the log has.
  func logPartitionCount() throws(KafkaError) -> Int32 {
    let admin = try KafkaAdmin(client([:]))
    let log = try admin.describeTopics([topics.log], timeout: .seconds(30)).first
    guard let log, !log.partitions.isEmpty else { throw Self.missing(topics.log) }
    return Int32(log.partitions.count)
  }

  static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
