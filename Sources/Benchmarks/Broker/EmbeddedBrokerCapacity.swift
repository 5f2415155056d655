/// The capacity of the embedded broker, which keeps the newest 5 MB and 100,000 records of a partition.
///
/// A benchmark that needs more would lose its own input, so the load is spread over enough partitions. Both bounds are
/// used with a margin, because a fleet does not spread evenly.
package enum EmbeddedBrokerCapacity {
  /// The largest number of partitions that a benchmark uses.
  package static let partitionsMax = 1024
  private static let recordsPerPartition = 80_000
  private static let bytesPerPartition = 3_500_000

  /// Returns the number of partitions that the largest topic of a benchmark needs.
  /// - Parameters:
  ///   - records: the records that the topic will hold.
  ///   - bytes: their size altogether.
  package static func partitionsNeeded(records: Int, bytes: Int) -> Int {
    max(records / recordsPerPartition, bytes / bytesPerPartition) + 1
  }

  /// Returns the number of partitions to create on an embedded broker.
  /// - Parameters:
  ///   - wanted: the number that the user asked for; nil takes as many as needed.
  ///   - records: the records that the largest topic will hold.
  ///   - bytes: their size altogether.
  /// - Throws: ``BenchmarkError`` when `wanted` is too few, or when the load needs more than ``partitionsMax``.
  package static func partitions(wanted: Int?, records: Int, bytes: Int) throws(BenchmarkError) -> Int {
    let needed = partitionsNeeded(records: records, bytes: bytes)
    if let wanted, wanted < needed {
      throw BenchmarkError(
        "the embedded broker keeps 5 MB of a partition, so this load needs --partitions \(needed) or more; "
          + "with --bootstrap a real one has no such limit")
    }
    guard needed <= partitionsMax else {
      throw BenchmarkError("this load is too large for the embedded broker; name a real one with --bootstrap")
    }
    return wanted ?? needed
  }
}
