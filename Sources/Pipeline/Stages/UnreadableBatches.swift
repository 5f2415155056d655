import KafkaClient
import Logging

/// Logs batches of records that librdkafka cannot unpack (`KafkaError.unreadableBatch`). Such a batch stops its partition, and
/// librdkafka reports it again with every fetch: each batch is logged once.
struct UnreadableBatches {
  private var logged: Set<KafkaPosition> = []
  /// The most batches that are remembered as logged; beyond it all are forgotten. Each batch stops its partition, so
  /// each partition has one at a time.
  private static let loggedMax = 1000

  /// Logs and counts an unreadable batch, unless it was logged before.
  ///
  /// - Parameters:
  ///   - error: An error of a poll.
  ///   - isSkippable: Whether an operator can order to pass over the batch.
  ///   - logger: Gets the batch as critical.
  ///   - counters: Counts the batch.
  /// - Returns: Whether the error is about an unreadable batch, logged now or before.
  @discardableResult
  mutating func take(
    _ error: KafkaError, isSkippable: Bool = true, logger: Logger, counters: PipelineCounters
  ) -> Bool {
    guard let place = error.unreadableBatch else { return false }
    guard !logged.contains(place) else { return true }
    if logged.count >= Self.loggedMax { logged.removeAll() }
    logged.insert(place)
    counters.add(.unreadableBatches)
    let metadata: Logger.Metadata = [
      "topic": "\(place.partition.topic)", "partition": "\(place.partition.partition)", "offset": "\(place.offset)",
      "error": "\(error)",
    ]
    logger.report(isSkippable ? .batchUnreadable : .stateBatchUnreadable, metadata: metadata)
    return true
  }
}
