import Domain
import KafkaClient

/// Appends ticks to log partitions whose planner has a timer due while nothing else comes in. A tick is a log record
/// like any other, so a replay fires the same timers at the same places.
final class TickAppender {
  private let settings: PipelineSettings
  private let cluster: any Cluster
  private let clock: any StageClock
  private var producer: (any ClusterProducer)?
  /// Partitions with a tick on its way, and since when.
  private var underway: [Int32: Duration] = [:]
  /// A tick that did not come back in this time is given up.
  private static let patience = Duration.seconds(5)
  /// Shortest time between two ticks of a partition: with a broker's clock behind ours a timer stays due for a while.
  private static let spacing = Duration.milliseconds(500)
  private var last: [Int32: Duration] = [:]
  private static let tick = {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    return bytes
  }()

  init(settings: PipelineSettings, cluster: any Cluster, clock: any StageClock) {
    self.settings = settings
    self.cluster = cluster
    self.clock = clock
  }

  /// - Returns: whether a tick was appended; not while one is on its way.
  func append(_ partition: Int32) throws(KafkaError) -> Bool {
    let now = clock.elapsed
    if let since = underway[partition], now - since < Self.patience { return false }
    if let previous = last[partition], now - previous < Self.spacing { return false }
    do throws(KafkaError) {
      if producer == nil { producer = try make() }
      try producer?.send(
        topic: settings.topics.log, partition: partition, key: nil, value: Self.tick, headers: [],
        timestampMilliseconds: nil, tag: 0)
      try producer?.poll(timeout: .zero)
    } catch {
      producer = nil
      throw error
    }
    underway[partition] = now
    last[partition] = now
    return true
  }

  /// A record of the partition was read.
  func consumed(_ partition: Int32) {
    if !underway.isEmpty { underway[partition] = nil }
  }

  private func make() throws(KafkaError) -> any ClusterProducer {
    try cluster.producer(
      settings.client(["enable.idempotence": "true"], defaults: ["linger.ms": "1"]), queueFullTimeout: .seconds(1))
  }
}
