import Installation
import KafkaClient

/// The lag of planners behind the log: for each log partition, its end minus the offset that planners have committed.
/// The broker is asked every two seconds. If no offset is committed (planners have never run, or the broker keeps none,
/// as the embedded one) the lag is unknown, and intake does not wait.
struct PlannerLag {
  /// A log partition whose planner is too far behind.
  struct Excess: Equatable {
    /// The log partition.
    var partition: Int32
    /// The number of records that it is behind.
    var records: Int64
  }

  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private var consumer: OnDemandConsumer
  private var partitionCount: Int32 = 0
  private var next = Duration.zero
  private var last: Excess?
  /// The shortest time between two questions to the broker.
  private static let interval = Duration.seconds(2)

  /// Makes a meter that shows how far the planners are behind. It does not ask the broker yet.
  ///
  /// - Parameters:
  ///   - settings: The limit, and how to reach Kafka.
  ///   - cluster: Makes the consumer that asks.
  ///   - clock: The thread's clock.
  init(settings: PipelineSettings, cluster: any Cluster, clock: any StageClock) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
    consumer = OnDemandConsumer(
      cluster,
      settings.client([
        "group.id": settings.cluster.plannerGroup, "isolation.level": "read_uncommitted", "enable.auto.commit": "false",
      ]))
  }

  /// Returns the log partition whose planner is furthest behind, if it is more than `plannerLagMax` records; nil
  /// otherwise. Once a planner was that far behind, half of the limit counts until all are within it. Between two
  /// questions, and if the broker does not answer, the last result is returned.
  ///
  /// - Throws: `KafkaError` that does not pass by itself.
  mutating func excess() throws(KafkaError) -> Excess? {
    guard settings.intake.plannerLagMax > 0, clock.elapsed >= next else { return last }
    next = clock.elapsed + Self.interval
    do throws(KafkaError) {
      let limit = last == nil ? settings.intake.plannerLagMax : settings.intake.plannerLagMax / 2
      last = try furthest().flatMap { $0.records > limit ? $0 : nil }
    } catch {
      guard error.isRetriable else { throw error }
      if let refusal = try consumer.missingPermission() { throw refusal }
    }
    return last
  }

  private mutating func furthest() throws(KafkaError) -> Excess? {
    let consumer = try consumer.use()
    if partitionCount == 0 { partitionCount = try settings.cluster.logPartitionCount(cluster) }
    let log = (0..<partitionCount).map { KafkaTopicPartition(topic: settings.topics.log, partition: $0) }
    var furthest: Excess?
    for position in try consumer.committed(log, timeout: .seconds(2)) {
      let end = try consumer.watermarks(of: position.partition, timeout: .seconds(2)).high
      let behind = Excess(partition: position.partition.partition, records: end - position.offset)
      if behind.records > furthest?.records ?? -1 { furthest = behind }
    }
    return furthest
  }

  /// Closes the consumer.
  mutating func close() { consumer.close() }
}
