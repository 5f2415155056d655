import KafkaClient

extension PipelineSettings {
  /// How many partitions the log has.
  func logPartitionCount(_ cluster: any Cluster = KafkaCluster()) throws(KafkaError) -> Int32 {
    try partitionCounts(of: [topics.log], cluster)[0]
  }

  /// How many partitions the log has, and whether decisions and commands have as many: keyed by device as the log's
  /// records are, they then have the same partition numbers.
  func outputPartitions(_ cluster: any Cluster) throws(KafkaError) -> (count: Int32, areShared: Bool) {
    let counts = try partitionCounts(of: [topics.log, topics.decisions, topics.commands], cluster)
    return (counts[0], counts.allSatisfy { $0 == counts[0] })
  }

  private func partitionCounts(of names: [String], _ cluster: any Cluster) throws(KafkaError) -> [Int32] {
    let counts = try cluster.partitionCounts(of: names, client([:]))
    for (name, count) in zip(names, counts) where count == 0 { throw Self.missing(name) }
    return counts
  }

  static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
