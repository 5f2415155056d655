package import KafkaClient

extension ClusterSettings {
  /// Returns the number of partitions of the log.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`. One for a topic that the cluster does not name is not fatal: it may be made later, or the permission to
  ///   describe it may be given.
  package func logPartitionCount(_ cluster: any Cluster = RealCluster()) throws(KafkaError) -> Int32 {
    try partitionCounts(of: [topics.log], cluster)[0]
  }

  /// Returns the number of partitions of the log, and whether commands have as many. If so, a device has the same partition number in
  /// both topics, because both are keyed by device. Decisions have the partition number of the log record that they result from, so
  /// their topic needs at least as many partitions; further ones stay empty.
  ///
  /// - Parameter cluster: The cluster to ask.
  /// - Throws: `KafkaError`, fatal if the topic of decisions has too few partitions.
  package func outputPartitions(_ cluster: any Cluster) throws(KafkaError) -> (count: Int32, areShared: Bool) {
    let counts = try partitionCounts(of: [topics.log, topics.decisions, topics.commands], cluster)
    guard counts[1] >= counts[0] else {
      throw KafkaError(
        code: .unknownPartition,
        message:
          "it has \(counts[1]) partitions and \(topics.log) has \(counts[0]), but decisions are written to the partition of the log that they result from; add partitions to \(topics.decisions) until it has \(counts[0]), then restart the audit, which reads the partitions that it finds at its start",
        operation: "looking up \(topics.decisions)", isFatal: true, isRetriable: false)
    }
    return (counts[0], counts[0] == counts[2])
  }

  private func partitionCounts(of names: [String], _ cluster: any Cluster) throws(KafkaError) -> [Int32] {
    let counts: [Int32]
    do throws(KafkaError) { counts = try cluster.partitionCounts(of: names, client([:])) } catch {
      guard error.code == .unknownTopicOrPartition else { throw error }
      throw KafkaError(
        code: error.code,
        message:
          "\(error.message); make Rouse's topics with `rouse topics create`, or give this principal the permission Describe on them (`rouse topics acls`)",
        operation: error.operation, isFatal: error.isFatal, isRetriable: error.isRetriable)
    }
    for (name, count) in zip(names, counts) where count == 0 { throw Self.missing(name) }
    return counts
  }

  /// Returns the error for a topic that does not exist.
  ///
  /// - Parameter topic: The name of the topic.
  package static func missing(_ topic: String) -> KafkaError {
    KafkaError(
      code: .unknownTopicOrPartition, message: "make Rouse's topics first: rouse topics create",
      operation: "looking up \(topic)", isFatal: true, isRetriable: false)
  }
}
