import ArgumentParser
import Foundation
import KafkaClient
import Pipeline

/// The broker of a benchmark: one that is there, or an embedded one in a process of its own, so that its work does not
/// count as ours.
final class BenchBroker {
  let kafka: KafkaConfiguration
  let isEmbedded: Bool
  private let child: BenchBrokerProcess?

  private let properties: [(key: String, value: String)]

  /// - Parameters:
  ///   - bootstrap: nil starts an embedded broker.
  ///   - properties: of every client.
  init(bootstrap: String?, properties: [(key: String, value: String)] = []) throws {
    self.properties = properties
    if let bootstrap {
      kafka = KafkaConfiguration([("bootstrap.servers", bootstrap)] + properties)
      isEmbedded = false
      child = nil
    } else {
      let child = try BenchBrokerProcess()
      kafka = KafkaConfiguration(
        [("bootstrap.servers", child.bootstrapServers), ("session.timeout.ms", "6000")] + properties)
      isEmbedded = true
      self.child = child
    }
  }

  /// Where it is, and the properties that were given, secrets left out.
  var text: String {
    let place = isEmbedded ? "embedded, in another process" : kafka["bootstrap.servers"] ?? ""
    return properties.isEmpty ? place : "\(place) (\(KafkaConfiguration(properties)))"
  }

  func create(_ plan: TopicPlan) throws {
    if let child {
      for topic in plan.topics { try child.create(topic.name, partitions: topic.partitions) }
      return
    }
    for outcome in try plan.create(KafkaAdmin(kafka)) { if let error = outcome.error { throw error } }
  }

  /// The embedded broker keeps little anyway, and goes.
  func delete(_ topics: [String]) throws(KafkaError) {
    guard child == nil else { return }
    _ = try KafkaAdmin(kafka).deleteTopics(topics, timeout: .seconds(30))
  }

  /// How many committed records a topic has.
  func count(_ topic: String, partitions: Int) throws -> Int {
    let consumer = try KafkaConsumer(
      kafka.merging([
        "group.id": "rouse-bench-count", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "earliest", "queued.max.messages.kbytes": "16384",
        "fetch.wait.max.ms": "20",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    let all = (0..<Int32(partitions)).map { KafkaTopicPartition(topic: topic, partition: $0) }
    if isEmbedded {
      // It drops the oldest, has no transaction marks among the records, and numbers them all.
      return try all.reduce(0) { try $0 + Int(consumer.watermarks(of: $1, timeout: .seconds(10)).high) }
    }
    try consumer.assign(Dictionary(uniqueKeysWithValues: all.map { ($0, KafkaOffset.beginning) }))
    var count = 0
    var open = Set(all)
    let deadline = ContinuousClock.now + .seconds(300)
    while !open.isEmpty {
      count += try consumer.forEachMessage(maxMessages: 10_000, timeout: .milliseconds(100)) { _ in }
      for case .partitionEnd(let position) in consumer.takeEvents() { open.remove(position.partition) }
      if ContinuousClock.now > deadline { throw Failure("counting the records of \(topic) took more than 300 s") }
    }
    return count
  }
}

/// A child process with an embedded broker. It ends when its standard input does, so also when this process dies.
private final class BenchBrokerProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  let bootstrapServers: String

  init() throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["bench", "broker"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    bootstrapServers = try Self.line(output)
  }

  func create(_ topic: String, partitions: Int) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(topic) \(partitions)\n".utf8))
    guard try Self.line(output) == "ok" else { throw Failure("the embedded broker did not make the topic \(topic)") }
  }

  private static func line(_ pipe: Pipe) throws -> String {
    var bytes: [UInt8] = []
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    throw Failure("the process of the embedded broker ended early")
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

/// The embedded broker as a process: says where it listens, then makes a topic for every line `name partitions`.
struct BenchBrokerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broker", abstract: "An embedded broker until standard input ends; the benchmarks start it.",
    shouldDisplay: false)

  func run() throws {
    let broker = try EmbeddedBroker()
    try Output.print(broker.bootstrapServers + "\n")
    while let line = readLine() {
      let words = line.split(separator: " ")
      guard words.count == 2, let partitions = Int(words[1]), partitions > 0 else {
        throw Failure("expected a topic's name and its number of partitions, found '\(line)'")
      }
      try broker.createTopic(String(words[0]), partitions: partitions)
      try Output.print("ok\n")
    }
  }
}
