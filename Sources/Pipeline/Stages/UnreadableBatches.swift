import KafkaClient
import Logging

/// Tells operators of batches of records that librdkafka cannot unpack (`KafkaError.unreadableBatch`). Such a batch stops its
/// partition, and librdkafka reports it again with every fetch: each batch is told once.
struct UnreadableBatches {
  private var told: Set<KafkaPosition> = []
  /// The most batches that are remembered. Each stops a partition, so there are no more than partitions at a time.
  private static let toldMax = 1000

  /// Logs and counts an unreadable batch, unless it was told before.
  ///
  /// - Parameters:
  ///   - error: An error of a poll.
  ///   - logger: Gets the batch as critical.
  ///   - counters: Counts the batch.
  /// - Returns: Whether the error is about an unreadable batch, told now or before.
  mutating func take(_ error: KafkaError, logger: Logger, counters: PipelineCounters) -> Bool {
    guard let place = error.unreadableBatch else { return false }
    guard !told.contains(place) else { return true }
    if told.count >= Self.toldMax { told.removeAll() }
    told.insert(place)
    counters.add(.unreadableBatches)
    logger.critical(
      "a batch of records cannot be unpacked, and nothing behind it in its partition is read; raise receive.message.max.bytes, or see 'A batch that cannot be unpacked' on the page about crashes",
      metadata: [
        "topic": "\(place.partition.topic)", "partition": "\(place.partition.partition)", "offset": "\(place.offset)",
        "error": "\(error)",
      ])
    return true
  }
}
