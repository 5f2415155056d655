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

  /// The figures of a gateway with slow clients.
  package struct SlowRound: Sendable {
    /// The number of slow connections.
    package var connections: Int
    /// The bytes that each of them sent of its body before it became slow.
    package var bytes: Int
    /// The resident memory of this process without them, and the most with them.
    package var memory: (before: Int, peak: Int)
    /// The number of slow requests that were cut off, or refused because of the bound on all bodies.
    package var cutOff: (slow: Int, overload: Int)
    /// The events a second of the other clients.
    package var ratePerSecond: Int
    /// The latencies of their requests, in milliseconds.
    package var latencies: (p50: Double, p99: Double, max: Double)
    /// The number of their requests that were answered with anything but 202.
    package var refused: Int
  }

  /// Slow clients, and the rate of the others.
  package struct SlowClients: Sendable {
    /// The number of connections.
    package var connections: Int
    /// The bytes that each sends of its body before it becomes slow.
    package var bytes: Int
    /// The events a second of the other clients.
    package var ratePerSecond: Int
    /// Returns the command that runs ``SlowLoad`` with arguments in another process.
    package var client: @Sendable (_ arguments: [String]) -> ChildProgram

    /// Describes the clients.
    package init(
      connections: Int, bytes: Int, ratePerSecond: Int,
      client: @escaping @Sendable (_ arguments: [String]) -> ChildProgram
    ) {
      self.connections = connections
      self.bytes = bytes
      self.ratePerSecond = ratePerSecond
      self.client = client
    }
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
    try await withGateway { server in try batches.map { try round($0, server.address.port) } }
  }

  /// Measures a gateway that has slow clients beside others, whose requests have one event each.
  /// - Throws: ``BenchmarkError`` when clients fail or the slow ones find no place, `KafkaError` when the broker fails.
  package func run(_ slow: SlowClients) async throws -> SlowRound {
    // All clients have one address, which gets three quarters of the connections at most.
    try await withGateway(connectionsMax: (slow.connections + connections + 16) * 2) { server in
      try round(slow, server)
    }
  }

  /// Starts a gateway, and ends it after `work`.
  private func withGateway<Result>(
    connectionsMax: Int? = nil, _ work: (GatewayServer) throws -> Result
  ) async throws -> Result {
    let topic = "rouse-bench-\(UUID().uuidString.prefix(8)).events"
    try broker.create([KafkaNewTopic(name: topic, partitions: partitions)])
    var settings = GatewaySettings(
      listen: HTTPAddress(host: "127.0.0.1", port: 0),
      topics: GatewayTopics(events: topic, devices: topic, signals: topic))
    settings.limits.threads = threads
    if let connectionsMax { settings.limits.connectionsMax = connectionsMax }
    let server = try await GatewayServer.start(
      settings, kafka: broker.kafka, access: nil, registry: MetricRegistry(), logger: Logger(label: "bench"))
    let producer = BenchmarkThread(name: "producer")
    producer.start { try server.runProducer {} }
    let result: Result
    do {
      result = try work(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
    try producer.end()
    try broker.delete([topic])
    return result
  }

  /// The longest time in which the slow connections must be open.
  private static let openSeconds = 60.0

  private func round(_ slow: SlowClients, _ server: GatewayServer) throws -> SlowRound {
    progress("without slow connections")
    _ = try load(1, server.address.port, rate: slow.ratePerSecond)
    let before = ProcessMemory.residentBytes ?? 0
    ProcessMemory.restartPeak()
    let arguments = [
      "--port", "\(server.address.port)", "--connections", "\(slow.connections)", "--bytes", "\(slow.bytes)",
    ]
    progress("opening \(slow.connections) slow connections")
    let clients = try RunningProgram(slow.client(arguments))
    let end = MonotonicClock.seconds() + Self.openSeconds
    while server.connectionCount < slow.connections {
      guard MonotonicClock.seconds() < end, clients.isRunning else {
        clients.stop()
        throw BenchmarkError(
          "only \(server.connectionCount) of \(slow.connections) slow connections are open; raise the limit of open files (ulimit -n)"
        )
      }
      Thread.sleep(forTimeInterval: 0.05)
    }
    progress("\(slow.connections) slow connections, \(slow.ratePerSecond) events/s")
    let others = try load(1, server.address.port, rate: slow.ratePerSecond)
    let report = try clients.end()
    return SlowRound(
      connections: slow.connections, bytes: slow.bytes, memory: (before, ProcessMemory.peakBytes ?? 0),
      cutOff: (Int(try report.figure("cutOff")), Int(try report.figure("refused"))), ratePerSecond: slow.ratePerSecond,
      latencies: (others.p50, others.p99, others.max), refused: Int(others.refused))
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
    let report = try RunningProgram(client(arguments)).end()
    return (
      try report.figure("events"), try report.figure("refused"), try report.figure("p50"), try report.figure("p99"),
      try report.figure("max")
    )
  }
}

extension JSONValue {
  /// Returns a number of the report of clients.
  /// - Throws: ``BenchmarkError`` when there is none of this name.
  fileprivate func figure(_ name: String) throws -> Double {
    guard case .number(let number)? = self[name] else { throw BenchmarkError("the clients reported no \(name)") }
    return number
  }
}

/// A program of clients, which runs until it is done or its standard input ends.
private struct RunningProgram {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts a program.
  /// - Throws: Foundation's error when it cannot be started.
  init(_ program: ChildProgram) throws {
    process.executableURL = program.executable
    process.arguments = program.arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Whether the program has not ended.
  var isRunning: Bool { process.isRunning }

  /// Ends the program without its result.
  func stop() { process.terminate() }

  /// Ends its standard input, and waits for it to end.
  /// - Returns: the report on its standard output.
  /// - Throws: ``BenchmarkError`` when it fails.
  func end() throws -> JSONValue {
    try input.fileHandleForWriting.close()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkError("the process of the clients failed") }
    return try JSONValue(parsing: String(decoding: bytes, as: UTF8.self))
  }
}
