import KafkaClient
import Synchronization

/// Reads committed decisions on a separate thread, and keeps the moments when each partition had new ones.
final class DecisionWatch: Sendable {
  private let kafka: KafkaConfiguration
  private let topic: String
  private let partitions: Int
  private let thread = BenchmarkThread(name: "bench-watch")
  /// For each partition, the moments when new decisions were read, in seconds of ``MonotonicClock``, in ascending
  /// order.
  private let moments: Mutex<[[Double]]>

  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of decisions.
  ///   - partitions: the number of its partitions.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    moments = Mutex(Array(repeating: [], count: partitions))
  }

  /// Starts the thread.
  func start() { thread.start { [self] in try read() } }

  /// Ends the thread.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws { try thread.end() }

  /// Whether every partition had a new decision at or after a moment, in seconds of ``MonotonicClock``.
  /// - Throws: `KafkaError` when reading failed.
  func haveDecisions(since moment: Double) throws -> Bool {
    try thread.check()
    return moments.withLock { moments in moments.allSatisfy { ($0.last ?? 0) >= moment } }
  }

  /// Returns the longest time, in seconds, in which a partition had no new decision.
  /// - Parameters:
  ///   - start: the start of the time that counts, in seconds of ``MonotonicClock``.
  ///   - end: the end of the time that counts; nil: the newest decision of each partition.
  func longestSilence(since start: Double, to end: Double? = nil) -> Double {
    moments.withLock { moments in
      moments.reduce(0) { longest, moments in
        let within = [start] + moments.filter { $0 > start && $0 < end ?? .infinity } + (end.map { [$0] } ?? [])
        return zip(within, within.dropFirst()).reduce(longest) { max($0, $1.1 - $1.0) }
      }
    }
  }

  private func read() throws(KafkaError) {
    let consumer = try KafkaConsumer.committed(
      topic, partitions: partitions, group: "rouse-bench-watch", kafka: kafka)
    defer { consumer.close(timeout: .seconds(2)) }
    while !thread.isAsked {
      var seen: Set<Int> = []
      try consumer.forEachMessage(maxMessages: 500, timeout: .milliseconds(10)) { message in
        seen.insert(Int(message.partition))
      }
      let now = MonotonicClock.seconds()
      moments.withLock { moments in for partition in seen { moments[partition].append(now) } }
    }
  }
}
