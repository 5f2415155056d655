import Foundation
import KafkaClient
import Synchronization

/// Reads committed decisions on a separate thread, and keeps the moments when each partition had new ones.
final class DecisionWatch: Sendable {
  private let kafka: KafkaConfiguration
  private let topic: String
  private let partitions: Int
  private let state: Mutex<State>

  private struct State {
    /// The moments of each partition, in seconds of ``MonotonicClock``, in ascending order.
    var moments: [[Double]]
    var isAsked = false
    var isDone = false
    var error: KafkaError?
  }

  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of decisions.
  ///   - partitions: the number of its partitions.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    state = Mutex(State(moments: Array(repeating: [], count: partitions)))
  }

  /// Starts the thread.
  func start() {
    let thread = Thread { [self] in
      do throws(KafkaError) { try read() } catch { state.withLock { $0.error = error } }
      state.withLock { $0.isDone = true }
    }
    thread.name = "bench-watch"
    thread.start()
  }

  /// Ends the thread.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws(KafkaError) {
    state.withLock { $0.isAsked = true }
    while !state.withLock({ $0.isDone }) { Thread.sleep(forTimeInterval: 0.01) }
    if let error = state.withLock({ $0.error }) { throw error }
  }

  /// Whether every partition had a decision since a moment.
  /// - Throws: `KafkaError` when reading failed.
  func haveDecisions(since moment: Double) throws(KafkaError) -> Bool {
    let (have, error) = state.withLock { state in
      (state.moments.allSatisfy { ($0.last ?? 0) >= moment }, state.error)
    }
    if let error { throw error }
    return have
  }

  /// Returns the longest time, in seconds, in which a partition had no new decision.
  /// - Parameters:
  ///   - start: the begin of the time that counts.
  ///   - end: the end of the time that counts; nil is the newest decision of each partition.
  func longestSilence(since start: Double, to end: Double? = nil) -> Double {
    state.withLock { state in
      state.moments.reduce(0) { longest, moments in
        let within = [start] + moments.filter { $0 > start && $0 < end ?? .infinity } + (end.map { [$0] } ?? [])
        return zip(within, within.dropFirst()).reduce(longest) { max($0, $1.1 - $1.0) }
      }
    }
  }

  private func read() throws(KafkaError) {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": "rouse-bench-watch", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "fetch.wait.max.ms": "20",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.assign(
      Dictionary(
        uniqueKeysWithValues: (0..<Int32(partitions)).map {
          (KafkaTopicPartition(topic: topic, partition: $0), KafkaOffset.beginning)
        }))
    while !state.withLock({ $0.isAsked }) {
      var seen: Set<Int> = []
      try consumer.forEachMessage(maxMessages: 500, timeout: .milliseconds(10)) { message in
        seen.insert(Int(message.partition))
      }
      let now = MonotonicClock.seconds()
      state.withLock { state in for partition in seen { state.moments[partition].append(now) } }
    }
  }
}
