import KafkaClient

/// How far planners are behind the log, asked of the broker now and then: the group's offsets, which planners commit with
/// their transactions, against the ends of the log. Where no offset is committed (planners have never run, or a broker
/// keeps none, as the embedded one) nothing is known, and nobody has to wait.
struct PlannerLag {
  struct Excess: Equatable {
    var partition: Int32
    var records: Int64
  }

  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private var consumer: (any ClusterConsumer)?
  private var partitionCount: Int32 = 0
  private var next = Duration.zero
  private var last: Excess?
  /// Time between two questions.
  private static let interval = Duration.seconds(2)

  init(settings: PipelineSettings, cluster: any Cluster, clock: any StageClock) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
  }

  /// The partition that is furthest behind, if it is too far; as of the last question. Once too far, a planner has to be
  /// back at half of the limit. A broker that does not answer leaves it at what was known.
  mutating func excess() throws(KafkaError) -> Excess? {
    guard settings.intake.plannerLagMax > 0, clock.elapsed >= next else { return last }
    next = clock.elapsed + Self.interval
    do throws(KafkaError) {
      let limit = last == nil ? settings.intake.plannerLagMax : settings.intake.plannerLagMax / 2
      last = try furthest().flatMap { $0.records > limit ? $0 : nil }
    } catch {
      guard error.isRetriable else { throw error }
    }
    return last
  }

  private mutating func furthest() throws(KafkaError) -> Excess? {
    let consumer: any ClusterConsumer
    if let kept = self.consumer {
      consumer = kept
    } else {
      // Never subscribes: it only asks for the group's offsets.
      consumer = try cluster.consumer(
        settings.client([
          "group.id": "\(settings.group)-planner", "isolation.level": "read_uncommitted", "enable.auto.commit": "false",
        ]), listener: nil)
      self.consumer = consumer
    }
    if partitionCount == 0 { partitionCount = try settings.logPartitionCount(cluster) }
    let log = (0..<partitionCount).map { KafkaTopicPartition(topic: settings.topics.log, partition: $0) }
    var furthest: Excess?
    for position in try consumer.committed(log, timeout: .seconds(2)) {
      let end = try consumer.watermarks(of: position.partition, timeout: .seconds(2)).high
      let behind = Excess(partition: position.partition.partition, records: end - position.offset)
      if behind.records > furthest?.records ?? -1 { furthest = behind }
    }
    return furthest
  }

  mutating func close() {
    consumer?.close(timeout: .seconds(2))
    consumer = nil
  }
}
