import KafkaClient

/// The ends of partitions that a consumer has reached. The consumer needs `enable.partition.eof=true`.
///
/// An offset is also taken by the end mark of each transaction, which no consumer gets to see. So the record behind the last one that was
/// read is not known from its offset: a partition can be read to its end, and still end one or more offsets later.
struct ReachedEnds {
  private var offsets: [KafkaTopicPartition: Int64] = [:]

  /// Notes the ends that a poll has told.
  ///
  /// - Parameter events: The events of a poll whose records were taken before.
  mutating func take(_ events: [KafkaEvent]) {
    for case .partitionEnd(let position) in events { offsets[position.partition] = position.offset }
  }

  /// Forgets the end of a partition that was taken away.
  mutating func forget(_ partition: KafkaTopicPartition) { offsets[partition] = nil }

  /// Returns the offset from which on a partition is left to read.
  ///
  /// - Parameters:
  ///   - partition: The partition.
  ///   - next: The offset behind the last record that was read.
  ///   - end: The end of the partition as of the last fetch.
  /// - Returns: The end that was reached, if no record was read behind it; else `next`. An end beyond `end` is that of a topic that was made
  ///   anew, and does not count.
  func next(of partition: KafkaTopicPartition, _ next: Int64, end: Int64) -> Int64 {
    guard let reached = offsets[partition], reached > next, reached <= end else { return next }
    return reached
  }
}
