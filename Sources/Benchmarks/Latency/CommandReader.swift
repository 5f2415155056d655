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
  private let starts: [KafkaPosition]
  private let thread = BenchmarkThread(name: "bench-reader")
  private let latencies = Mutex(Histogram<UInt64>(numberOfSignificantValueDigits: .three))

  private static let group = "rouse-bench-latency"
  /// The time without a command, in seconds, after which the reader ends if it was asked to.
  private static let quietSeconds = 1.0

  /// Makes a reader of what is committed from now on. The commands that are there already, as those of a search for the maximum, would
  /// hold it up: the embedded broker returns one batch of each partition at a time.
  /// - Parameters:
  ///   - kafka: the properties of the consumer.
  ///   - topic: the topic of commands.
  ///   - partitions: the number of its partitions.
  /// - Throws: `KafkaError` when a broker does not answer within 30 seconds.
  init(kafka: KafkaConfiguration, topic: String, partitions: Int) throws(KafkaError) {
    self.kafka = kafka
    self.topic = topic
    self.partitions = partitions
    starts = try KafkaConsumer.committedEnds(topic, partitions: partitions, group: Self.group, kafka: kafka)
  }

  /// Starts the thread.
  /// - Parameter measuredFrom: the moment, in seconds of ``MonotonicClock``; commands of events that were due earlier are ignored.
  func start(measuredFrom: Double) { thread.start { [self] in try read(measuredFrom: measuredFrom) } }

  /// Waits for the last command.
  /// - Returns: the latencies, in microseconds.
  /// - Throws: `KafkaError` when reading failed.
  func end() throws -> Histogram<UInt64> {
    try thread.end()
    return latencies.withLock { $0 }
  }

  private func read(measuredFrom: Double) throws(KafkaError) {
    let consumer = try KafkaConsumer.committed(
      topic, partitions: partitions, group: Self.group, kafka: kafka, from: starts)
    defer { consumer.close(timeout: .seconds(2)) }
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
      latencies.withLock { latencies in for latency in found { latencies.record(latency) } }
      found.removeAll(keepingCapacity: true)
      if thread.isAsked, MonotonicClock.seconds() - last > Self.quietSeconds { return }
    }
  }
}

/// Finds the moment that a benchmark's event ids carry in the bytes of a command.
///
/// A search in the bytes costs the reader far less than parsing, which would compete with the pipeline for the processor.
enum CommandBytes {
  private static let mark = Array(CommandReader.mark.utf8)

  /// The text that marks a command which an event caused at once. A command that waited for its time, or that shares
  /// another widget's push, is late on purpose and not slow.
  private static let atOnce = Array(#""reason":"EMITTED""#.utf8)

  /// Returns the moment when the newest of the command's events was due: the event that caused it.
  /// - Parameter value: the JSON of a command.
  /// - Returns: seconds of ``MonotonicClock``; nil when no id carries a moment, and for a command that no event caused at
  ///   once.
  static func newestDue(in value: Span<UInt8>) -> Double? {
    guard contains(atOnce, in: value) else { return nil }
    var newest: Int?
    var place = 0
    var matched = 0
    while place < value.count {
      matched = value[place] == mark[matched] ? matched + 1 : value[place] == mark[0] ? 1 : 0
      place += 1
      guard matched == mark.count else { continue }
      matched = 0
      var microseconds = 0
      while place < value.count, (0x30...0x39).contains(value[place]) {
        microseconds = microseconds &* 10 &+ Int(value[place] - 0x30)
        place += 1
      }
      newest = max(newest ?? 0, microseconds)
    }
    return newest.map { Double($0) / 1e6 }
  }

  private static func contains(_ text: [UInt8], in value: Span<UInt8>) -> Bool {
    guard value.count >= text.count else { return false }
    return (0...value.count - text.count).contains { place in
      text.indices.allSatisfy { value[place + $0] == text[$0] }
    }
  }
}
