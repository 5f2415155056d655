import Foundation
import Histogram
import KafkaClient
import Synchronization

/// Reads commands on a separate thread, as a sender would, and records their latencies.
final class CommandReader: Sendable {
  /// The prefix of event ids that carry the moment when the event was due, in microseconds.
  static let mark = "bench-due-"

  private let kafka: KafkaConfiguration
  private let topic: String
  private let partitions: Int
  private let measuredFrom: Double
  private let state = Mutex(State())

  private struct State {
    var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    var isAsked = false
    var isDone = false
    var error: KafkaError?
  }

  /// The reader ends when it was asked to and no command came for this time.
  private static let quietSeconds = 1.0

  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of commands.
  ///   - partitions: the number of its partitions.
  ///   - measuredFrom: the moment, in seconds of ``MonotonicClock``; commands of events that were due earlier are ignored.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int, measuredFrom: Double) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    self.measuredFrom = measuredFrom
  }

  /// Starts the thread.
  func start() {
    let thread = Thread { [self] in
      do throws(KafkaError) {
        try read()
      } catch {
        state.withLock { $0.error = error }
      }
      state.withLock { $0.isDone = true }
    }
    thread.name = "bench-reader"
    thread.start()
  }

  /// Waits for the last command.
  /// - Returns: the latencies, in microseconds.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws(KafkaError) -> Histogram<UInt64> {
    state.withLock { $0.isAsked = true }
    while !state.withLock({ $0.isDone }) { Thread.sleep(forTimeInterval: 0.01) }
    let (latencies, error) = state.withLock { ($0.latencies, $0.error) }
    if let error { throw error }
    return latencies
  }

  private func read() throws(KafkaError) {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": "rouse-bench-latency", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "fetch.wait.max.ms": "20",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.assign(
      Dictionary(
        uniqueKeysWithValues: (0..<Int32(partitions)).map {
          (KafkaTopicPartition(topic: topic, partition: $0), KafkaOffset.beginning)
        }))
    var last = MonotonicClock.seconds()
    var found: [UInt64] = []
    while true {
      let count = try consumer.forEachMessage(maxMessages: 500, timeout: .milliseconds(20)) { message in
        let now = MonotonicClock.seconds()
        let due = message.withValue { value -> Double? in
          guard let value else { return nil }
          return CommandBytes.newestDue(in: value)
        }
        if let due, due >= measuredFrom { found.append(UInt64(max(1, (now - due) * 1e6))) }
      }
      if count > 0 { last = MonotonicClock.seconds() }
      let isAsked = state.withLock { state in
        for latency in found { state.latencies.record(latency) }
        return state.isAsked
      }
      found.removeAll(keepingCapacity: true)
      if isAsked, MonotonicClock.seconds() - last > Self.quietSeconds { return }
    }
  }
}
