import KafkaClient

extension PipelineSettings {
  /// How many partitions the log has.
  func logPartitionCount(_ cluster: any Cluster = KafkaCluster()) throws(KafkaError) -> Int32 {
    let count = try cluster.partitionCount(of: topics.log, client([:]))
    guard count > 0 else { throw Self.missing(topics.log) }
    return count
  }

  static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
