import KafkaClient

extension PipelineSettings {
  /// Returns the number of partitions of the log.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`, fatal if the topic is missing.
  func logPartitionCount(_ cluster: any Cluster = RealCluster()) throws(KafkaError) -> Int32 {
    try partitionCounts(of: [topics.log], cluster)[0]
  }

  /// Returns the number of partitions of the log, and whether decisions and commands have as many. If so, a device has the
  /// same partition number in all three topics, because all are keyed by device.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`, fatal if a topic is missing.
  func outputPartitions(_ cluster: any Cluster) throws(KafkaError) -> (count: Int32, areShared: Bool) {
    let counts = try partitionCounts(of: [topics.log, topics.decisions, topics.commands], cluster)
    return (counts[0], counts.allSatisfy { $0 == counts[0] })
  }

  private func partitionCounts(of names: [String], _ cluster: any Cluster) throws(KafkaError) -> [Int32] {
    let counts = try cluster.partitionCounts(of: names, client([:]))
    for (name, count) in zip(names, counts) where count == 0 { throw Self.missing(name) }
    return counts
  }

  /// Returns the error for a topic that does not exist.
  ///
  /// - Parameter topic: The name of the topic.
  static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
