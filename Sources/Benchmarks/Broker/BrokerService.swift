import KafkaClient

/// The process of a benchmark's embedded broker. It runs the broker, and creates topics when the benchmark asks for them.
///
/// Protocol: the service first writes the broker's address. Then it answers every input line `name partitions` with
/// `ok`. It ends with its input.
package enum BrokerService {
  /// The answer to a request that was carried out.
  static let done = "ok"

  /// Serves until `read` returns nil.
  /// - Parameters:
  ///   - read: returns the next line of input, without its line feed; nil at the end.
  ///   - write: writes one line of output.
  /// - Throws: ``BenchmarkError`` for a malformed line, `KafkaError` when the broker fails, and what `write` throws.
  package static func run(read: () -> String?, write: (String) throws -> Void) throws {
    let broker = try EmbeddedBroker()
    try write(broker.bootstrapServers)
    while let line = read() {
      let request = try TopicRequest(line)
      try broker.createTopic(request.topic, partitions: request.partitions)
      try write(done)
    }
  }

  /// The request to create a topic: one line of input.
  struct TopicRequest: Equatable {
    var topic: String
    var partitions: Int

    /// Reads `name partitions`.
    /// - Throws: ``BenchmarkError`` when the line is anything else.
    init(_ line: String) throws(BenchmarkError) {
      let words = line.split(separator: " ")
      guard words.count == 2, let partitions = Int(words[1]), partitions > 0 else {
        throw BenchmarkError("expected a topic's name and its number of partitions, found '\(line)'")
      }
      topic = String(words[0])
      self.partitions = partitions
    }
  }
}
