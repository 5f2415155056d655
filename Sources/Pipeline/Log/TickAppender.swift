import Domain
import Installation
import KafkaClient

/// Appends ticks to log partitions whose planner has a due timer while no other record comes. A tick is a log record like
/// any other, so a replay fires the same timers at the same places.
final class TickAppender {
  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private var producer: (any ClusterProducer)?
  /// The log partitions with a tick that this thread has not read yet, each with the instant when the tick was
  /// appended.
  private var underway: [Int32: Duration] = [:]
  /// The time after which a tick that was appended and not read counts as lost.
  private static let patience = Duration.seconds(5)
  /// The shortest time between two ticks of a partition. If the broker's clock is behind this machine's, a timer stays due
  /// for a while.
  private static let spacing = Duration.milliseconds(500)
  /// The instant of the last tick of each partition.
  private var last: [Int32: Duration] = [:]
  private static let tick = {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    return bytes
  }()

  /// Makes an appender. Its producer is made with the first tick.
  ///
  /// - Parameters:
  ///   - settings: The log, and how to reach Kafka.
  ///   - cluster: Makes the producer.
  ///   - clock: The thread's clock.
  init(settings: PipelineSettings, cluster: any Cluster, clock: any StageClock) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
  }

  /// Appends a tick, unless one was appended less than 0.5 s ago, or less than 5 s ago and was not read yet.
  ///
  /// - Parameter partition: The log partition.
  /// - Returns: Whether a tick was appended.
  /// - Throws: `KafkaError` of the producer, which is replaced for the next tick.
  func append(_ partition: Int32) throws(KafkaError) -> Bool {
    let now = clock.elapsed
    if let since = underway[partition], now - since < Self.patience { return false }
    if let previous = last[partition], now - previous < Self.spacing { return false }
    do throws(KafkaError) {
      if producer == nil { producer = try make() }
      try producer?.send(
        KafkaRecord(topic: settings.topics.log, partition: partition, key: nil, value: Self.tick))
      try producer?.poll(timeout: .zero)
    } catch {
      producer = nil
      throw error
    }
    underway[partition] = now
    last[partition] = now
    return true
  }

  /// Notes that a record of a partition was read. The partition no longer waits for its tick, because any record moves
  /// log time.
  ///
  /// - Parameter partition: The log partition.
  func consumed(_ partition: Int32) {
    if !underway.isEmpty { underway[partition] = nil }
  }

  private func make() throws(KafkaError) -> any ClusterProducer {
    try cluster.producer(
      settings.client(["enable.idempotence": "true"], defaults: ["linger.ms": "1"]), queueFullTimeout: .seconds(1))
  }
}
