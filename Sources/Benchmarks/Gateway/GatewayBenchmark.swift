import Foundation
import Gateway
import JSON
import KafkaClient
import Logging
import Observing
import Serving

/// Measures a gateway in this process, with its clients in another one: the events a second, and the latency at half of that.
package struct GatewayBenchmark {
  private let broker: BenchmarkBroker
  private let partitions: Int
  private let threads: Int
  private let connections: Int
  private let seconds: Int
  private let client: (_ arguments: [String]) -> ChildProgram
  private let progress: (String) -> Void

  /// The figures of one size of requests.
  package struct Round: Sendable {
    /// The number of events of a request.
    package var batch: Int
    /// The largest number of events a second.
    package var maximumPerSecond: Double
    /// The processor time of this process divided by the measured time, at the maximum.
    package var processorShare: Double
    /// The events a second at which latencies were measured.
    package var ratePerSecond: Double
    /// The latencies of requests at that rate, in milliseconds.
    package var latencies: (p50: Double, p99: Double, max: Double)
    /// The number of requests, in both parts, that were answered with anything but 202.
    package var refused: Int
  }

  /// Creates a benchmark.
  /// - Parameters:
  ///   - broker: the broker.
  ///   - partitions: the number of partitions of the topic.
  ///   - threads: the number of threads of the gateway's server.
  ///   - connections: the number of connections of the clients.
  ///   - seconds: the time to measure each part, after its warm-up.
  ///   - client: returns the command that runs ``GatewayLoad`` with arguments in another process.
  ///   - progress: called with a few words before each part of the work.
  package init(
    broker: BenchmarkBroker, partitions: Int, threads: Int, connections: Int, seconds: Int,
    client: @escaping (_ arguments: [String]) -> ChildProgram, progress: @escaping (String) -> Void
  ) {
    self.broker = broker
    self.partitions = partitions
    self.threads = threads
    self.connections = connections
    self.seconds = seconds
    self.client = client
    self.progress = progress
  }

  /// Runs the benchmark.
  /// - Parameter batches: the numbers of events of a request.
  /// - Throws: ``BenchmarkError`` when the clients fail, `KafkaError` when the broker does.
  package func run(batches: [Int]) async throws -> [Round] {
    let topic = "rouse-bench-\(UUID().uuidString.prefix(8)).events"
    try broker.create([KafkaNewTopic(name: topic, partitions: partitions)])
    var settings = GatewaySettings(
      listen: HTTPAddress(host: "127.0.0.1", port: 0),
      topics: GatewayTopics(events: topic, devices: topic, signals: topic))
    settings.limits.threads = threads
    let server = try await GatewayServer.start(
      settings, kafka: broker.kafka, access: nil, registry: MetricRegistry(), logger: Logger(label: "bench"))
    let producer = BenchmarkThread(name: "producer")
    producer.start { try server.runProducer {} }
    var rounds: [Round] = []
    do {
      for batch in batches { rounds.append(try round(batch, server.address.port)) }
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
    try producer.end()
    try broker.delete([topic])
    return rounds
  }

  private func round(_ batch: Int, _ port: Int) throws -> Round {
    progress("\(batch) events a request, as fast as possible")
    let start = ProcessUsage.now()
    let full = try load(batch, port, rate: nil)
    let usage = .now() - start
    let maximum = full.events / Double(seconds)
    let rate = (maximum / 2).rounded(.down)
    guard rate > 0 else { throw BenchmarkError("the gateway acknowledged nothing within \(seconds) s") }
    progress("\(batch) events a request, \(Int(rate)) events/s")
    let half = try load(batch, port, rate: Int(rate))
    return Round(
      batch: batch, maximumPerSecond: maximum, processorShare: usage.processorSeconds / usage.wallSeconds,
      ratePerSecond: rate, latencies: (half.p50, half.p99, half.max), refused: Int(full.refused + half.refused))
  }

  private func load(
    _ batch: Int, _ port: Int, rate: Int?
  ) throws -> (events: Double, refused: Double, p50: Double, p99: Double, max: Double) {
    var arguments = [
      "--port", "\(port)", "--connections", "\(connections)", "--batch", "\(batch)", "--seconds", "\(seconds)",
    ]
    if let rate { arguments += ["--rate", "\(rate)"] }
    let report = try JSONValue(parsing: try client(arguments).output())
    func figure(_ name: String) throws -> Double {
      guard case .number(let number)? = report[name] else { throw BenchmarkError("the clients reported no \(name)") }
      return number
    }
    return (try figure("events"), try figure("refused"), try figure("p50"), try figure("p99"), try figure("max"))
  }
}

extension ChildProgram {
  /// Runs the program to its end, without standard input.
  /// - Returns: the text on its standard output.
  /// - Throws: ``BenchmarkError`` when it fails, Foundation's error when it cannot be started.
  fileprivate func output() throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkError("the process of the clients failed") }
    return String(decoding: bytes, as: UTF8.self)
  }
}
