import Domain
import KafkaClient

/// Appends ticks to log partitions whose planner has a timer due while nothing else comes in. A tick is a log record
/// like any other, so a replay fires the same timers at the same places.
final class TickAppender {
  private let settings: PipelineSettings
  private var producer: KafkaProducer?
  /// Partitions with a tick on its way, and since when.
  private var underway: [Int32: ContinuousClock.Instant] = [:]
  /// A tick that did not come back in this time is given up.
  private static let patience = Duration.seconds(5)
  /// Shortest time between two ticks of a partition: with a broker's clock behind ours a timer stays due for a while.
  private static let spacing = Duration.milliseconds(500)
  private var last: [Int32: ContinuousClock.Instant] = [:]
  private static let tick = {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    return bytes
  }()

  init(settings: PipelineSettings) { self.settings = settings }

  /// - Returns: whether a tick was appended; not while one is on its way.
  func append(_ partition: Int32) throws(KafkaError) -> Bool {
    if let since = underway[partition], ContinuousClock.now - since < Self.patience { return false }
    if let previous = last[partition], ContinuousClock.now - previous < Self.spacing { return false }
    let producer: KafkaProducer
    if let kept = self.producer {
      producer = kept
    } else {
      producer = try make()
      self.producer = producer
    }
    try producer.send(topic: settings.topics.log, partition: partition, key: nil, value: Self.tick)
    try producer.poll()
    underway[partition] = .now
    last[partition] = .now
    return true
  }

  /// A record of the partition was read.
  func consumed(_ partition: Int32) {
    if !underway.isEmpty { underway[partition] = nil }
  }

  private func make() throws(KafkaError) -> KafkaProducer {
    try KafkaProducer(settings.client(["enable.idempotence": "true"], defaults: ["linger.ms": "1"]))
  }
}
