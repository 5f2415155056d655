import Installation
import KafkaClient

extension AuditFeed {
  /// The shortest time between two publications of the status.
  private static let statusInterval = Duration.seconds(1)

  /// Publishes the positions of the audit feed, at most once a second, and notes the turn.
  func publishStatus() {
    guard let consumer, clock.elapsed >= nextStatus else { return }
    nextStatus = clock.elapsed + Self.statusInterval
    counters.status.turned(PipelineStatus.StageThread(role: .audit, number: 0), at: clock.wallMicroseconds)
    var partitions: [PipelineStatus.AuditPartitionStatus] = []
    for (partition, offset) in next.sorted(by: { $0.key < $1.key }) {
      let topic = partition.topic == settings.topics.decisions ? "decisions" : "commands"
      var status = PipelineStatus.AuditPartitionStatus(topic: topic, number: partition.partition, next: offset)
      status.storedTo = storedTo[partition].map { $0 * 1000 }
      do throws(KafkaError) {
        status.end = try consumer.cachedWatermarks(of: partition)?.high
        if let end = status.end { status.next = ends.next(of: partition, offset, end: end) }
      } catch { repeated.log(error) }
      partitions.append(status)
    }
    counters.status.set(partitions)
  }
}
