import Installation
import KafkaClient
import Logging

/// The lag of an intake thread. Positions are noted by poll, and the lag is published once a second.
extension Intake {
  private static let statusInterval = Duration.seconds(1)

  /// Notes the positions behind the newest batch.
  func notePositions() {
    guard let batch = underway.list.last else { return }
    for run in batch.runs where !run.isReleased {
      let last = batch.messages[run.indices.upperBound - 1]
      positions[run.partition] = SourcePosition(next: last.offset + 1, timestamp: last.timestampMilliseconds)
    }
  }

  /// Publishes the records that are not read yet, if a second has passed. The ends are those of the last fetches.
  func publishLag(_ consumer: any ClusterConsumer) {
    guard clock.elapsed >= nextStatus else { return }
    nextStatus = clock.elapsed + Self.statusInterval
    var lag: [PipelineStatus.IntakePartitionStatus] = []
    for (partition, position) in positions {
      do throws(KafkaError) {
        guard let end = try consumer.cachedWatermarks(of: partition)?.high else { continue }
        lag.append(
          PipelineStatus.IntakePartitionStatus(
            topic: partition.topic, number: partition.partition,
            next: ends.next(of: partition, position.next, end: end), end: end,
            readTo: position.timestamp.map { $0 * 1000 }))
      } catch {
        logger.debug("the end of a partition is not known", metadata: ["error": "\(error)"])
      }
    }
    counters.status.set(lag: lag, of: number)
  }
}

/// The place up to which intake has read a source partition.
struct SourcePosition {
  /// The offset behind the last record that was read.
  var next: Int64
  /// The timestamp of that record, in ms since 1970; nil if it has none.
  var timestamp: Int64?
}
