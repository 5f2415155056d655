import Installation
import KafkaClient
import Logging

/// Asks for operators' orders to pass over records, on behalf of one stage. Belongs to the stage's thread.
struct SkipReader {
  private let clock: any StageClock
  private let logger: Logger
  private var consumer: OnDemandConsumer
  /// The earliest instant of the next question, on the thread's clock.
  private var next = Duration.zero
  /// The shortest time between two questions. A stopped partition takes an order at most about this long after it was
  /// given. Questions are rare, because the stage does nothing else until the broker answers.
  static let interval = Duration.seconds(3)
  private static let patience = Duration.seconds(1)

  /// Makes a reader, which asks nothing yet.
  ///
  /// - Parameters:
  ///   - settings: The address of Kafka, and the topics.
  ///   - cluster: Makes the consumer that asks.
  ///   - clock: The thread's clock.
  ///   - logger: Logs questions that fail.
  init(settings: ClusterSettings, cluster: any Cluster, clock: any StageClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
    consumer = OnDemandConsumer(
      cluster, settings.client(["group.id": "\(settings.skipGroup)", "enable.auto.commit": "false"]))
  }

  /// Returns the orders for the places at which a stage is stopped. Asks the broker at most every three seconds, about
  /// all places at once.
  ///
  /// - Parameter places: The offsets that cannot be read, one of each partition.
  /// - Returns: The orders for exactly these places; none if it is too early to ask, or the broker does not answer.
  mutating func orders(for places: [KafkaPosition]) -> [Skip] {
    guard !places.isEmpty, clock.elapsed >= next else { return [] }
    next = clock.elapsed + Self.interval
    do throws(KafkaError) {
      let offsets = try consumer.use().committedOffsets(places.map(\.partition), timeout: Self.patience)
      return offsets.compactMap { Skip($0) }.filter { places.contains($0.first) }
    } catch {
      let cause = (try? consumer.missingPermission()) ?? error
      logger.warning("could not ask for orders to pass over records; trying again", metadata: ["error": "\(cause)"])
      return []
    }
  }

  /// Closes the consumer.
  mutating func close() { consumer.close() }
}

extension Skip {
  /// Logs and counts that a stage took the order.
  func taken(_ logger: Logger, _ counters: PipelineCounters) {
    counters.add(.skipsTaken)
    logger.report(
      .recordsSkipped,
      metadata: [
        "topic": "\(first.partition.topic)", "partition": "\(first.partition.partition)", "from": "\(first.offset)",
        "to": "\(next)",
      ])
  }
}
