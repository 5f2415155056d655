import ArgumentParser
import Benchmarks
import Domain
import Histogram
import JSON

/// Measures the HTTP gateway.
struct BenchGatewayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway", abstract: "Measure the HTTP gateway: events a second, and the latency at half of them.",
    discussion: """
      The gateway runs in this process, its clients in another one. First each connection publishes as fast as it is \
      answered. Then requests are sent by the clock at half of that rate, and a latency counts from the moment when its \
      request was due.

      With --slow, clients in a third process hold connections whose requests never end: each sends some of its body at \
      once and then one byte a second. The memory of the gateway, and the latency of other clients beside them, are \
      measured. It and its clients need as many open files (ulimit -n).

      EXAMPLE
        rouse bench gateway --bootstrap localhost:9092
        rouse bench gateway --batch 1 --batch 100 --connections 32
        rouse bench gateway --slow 10000 --slow-bytes 16384 --rate 1000
      """)

  @OptionGroup var address: BenchAddressOptions
  @Option(help: ArgumentHelp("Partitions of the topic.", valueName: "count"))
  var partitions = 4
  @Option(help: ArgumentHelp("Threads of the gateway's server.", valueName: "count"))
  var threads = 2
  @Option(help: ArgumentHelp("Connections of the clients.", valueName: "count"))
  var connections = 64
  @Option(
    help: ArgumentHelp("Events of a request; may be repeated. (default: 100 and 1)", valueName: "count"))
  var batch: [Int] = []
  @Option(help: ArgumentHelp("How long to measure each part.", valueName: "s"))
  var seconds = 5
  @Option(help: ArgumentHelp("Measure beside this many slow connections.", valueName: "count"))
  var slow: Int?
  @Option(
    help: ArgumentHelp("Bytes of a body that each of them sends at once. (default: 1,024)", valueName: "count"))
  var slowBytes: Int?
  @Option(
    help: ArgumentHelp("Events a second of the other clients beside them. (default: 1,000)", valueName: "count"))
  var rate: Int?
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--partitions", partitions, 1...1000)
    try BenchLimits.check("--threads", threads, 1...64)
    try BenchLimits.check("--connections", connections, 1...1000)
    for batch in batch { try BenchLimits.check("--batch", batch, 1...3000) }
    try BenchLimits.check("--seconds", seconds, 1...3600)
    if let slow { try BenchLimits.check("--slow", slow, 1...100_000) }
    if let slowBytes { try BenchLimits.check("--slow-bytes", slowBytes, 0...900_000) }
    if let rate { try BenchLimits.check("--rate", rate, 1...100_000) }
    if slow != nil, !batch.isEmpty {
      throw ValidationError("--batch: not with --slow, beside which requests have one event")
    }
    if slow == nil, slowBytes != nil || rate != nil {
      throw ValidationError("--slow-bytes, --rate: only with --slow")
    }
  }

  func run() async throws {
    let progress = ProgressLine()
    let broker = try address.broker()
    let benchmark = GatewayBenchmark(
      broker: broker, partitions: partitions, threads: threads, connections: connections, seconds: seconds,
      client: { .rouse(list: ["bench", "gateway-client"] + $0) }, progress: { progress.show("\($0)") })
    if let slow {
      let clients = GatewayBenchmark.SlowClients(
        connections: slow, bytes: slowBytes ?? 1024, ratePerSecond: rate ?? 1000,
        client: { .rouse(list: ["bench", "gateway-slow"] + $0) })
      let round = try await benchmark.run(clients)
      progress.end()
      switch output.format {
      case .text: try Output.print(PrintableText(lines: text(round, broker.text)))
      case .json: try Output.print(json(round, broker.text))
      }
      return
    }
    let rounds = try await benchmark.run(batches: batch.isEmpty ? [100, 1] : batch)
    progress.end()
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(rounds, broker.text)))
    case .json: try Output.print(json(rounds, broker.text))
    }
  }

  /// The lines about the machine, the broker and the gateway.
  private func head(_ broker: String) -> String {
    """
    \(BenchMachine.lines)
    broker    \(broker), \(Digits.count(partitions, "partition"))
    gateway   \(Digits.count(threads, "thread")), \(Digits.count(connections, "connection"))

    """
  }

  private func text(_ round: GatewayBenchmark.SlowRound, _ broker: String) -> String {
    let (p50, p99, max) = round.latencies
    var text = head(broker)
    text +=
      "slow      \(Digits.count(round.connections, "connection")), each \(Digits.count(round.bytes, "byte")) at once and one a second\n"
    text += "  ended   \(Digits.count(round.cutOff.slow, "request")) for their time, "
    text += "\(Digits.count(round.cutOff.overload, "request")) for the bound on all bodies\n"
    text +=
      "  memory  \(Digits.grouped(round.memory.before >> 20)) MiB before, \(Digits.grouped(round.memory.peak >> 20)) MiB at most\n"
    text += "  latency of others at \(Digits.grouped(round.ratePerSecond)) events/s: "
    text += "p50 \(Digits.decimal(p50, 1)) ms, p99 \(Digits.decimal(p99, 1)) ms, max \(Digits.decimal(max, 1)) ms\n"
    if round.refused > 0 { text += "  refused \(Digits.count(round.refused, "request")) of others\n" }
    return text
  }

  private func json(_ round: GatewayBenchmark.SlowRound, _ broker: String) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      BenchMachine.write(to: &json)
      json.member("broker", broker)
      json.members([("partitions", partitions), ("threads", threads), ("connections", connections)])
      json.members([("slowConnections", round.connections), ("slowBytes", round.bytes)])
      json.members([("endedForTime", round.cutOff.slow), ("endedForBodies", round.cutOff.overload)])
      json.members([("memoryBytesBefore", round.memory.before), ("memoryBytesMax", round.memory.peak)])
      json.member("eventsPerSecond", round.ratePerSecond)
      write(round.latencies, to: &json)
      json.member("refused", round.refused)
    }
    return json.bytes
  }

  private func write(_ latencies: (p50: Double, p99: Double, max: Double), to json: inout JSONWriter) {
    json.object("latencyMilliseconds") { json in
      json.member("p50", rounded: latencies.p50)
      json.member("p99", rounded: latencies.p99)
      json.member("max", rounded: latencies.max)
    }
  }

  private func text(_ rounds: [GatewayBenchmark.Round], _ broker: String) -> String {
    var text = head(broker)
    for round in rounds {
      text += "requests  of \(Digits.count(round.batch, "event"))\n"
      text += "  maximum \(Digits.grouped(Int(round.maximumPerSecond))) events/s, "
      text += "\(Digits.decimal(round.processorShare * 100, 0)) % of a processor\n"
      let (p50, p99, max) = round.latencies
      text += "  latency at \(Digits.grouped(Int(round.ratePerSecond))) events/s: "
      text += "p50 \(Digits.decimal(p50, 1)) ms, p99 \(Digits.decimal(p99, 1)) ms, max \(Digits.decimal(max, 1)) ms\n"
      if round.refused > 0 { text += "  refused \(Digits.count(round.refused, "request"))\n" }
    }
    return text
  }

  private func json(_ rounds: [GatewayBenchmark.Round], _ broker: String) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      BenchMachine.write(to: &json)
      json.member("broker", broker)
      json.members([("partitions", partitions), ("threads", threads), ("connections", connections)])
      json.objects("rounds", rounds) { round, json in
        json.member("batch", round.batch)
        json.member("maximumEventsPerSecond", rounded: round.maximumPerSecond)
        json.member("processorShare", rounded: round.processorShare)
        json.member("eventsPerSecond", rounded: round.ratePerSecond)
        write(round.latencies, to: &json)
        json.member("refused", round.refused)
      }
    }
    return json.bytes
  }
}

/// Runs the clients of the benchmark of the gateway as a child process; hidden, because only the benchmark starts it.
struct BenchGatewayClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway-client", abstract: "Publish events to a gateway on this host; the benchmark starts it.",
    discussion: """
      EXAMPLE
        rouse bench gateway-client --port 8080 --batch 100 --seconds 5
      """, shouldDisplay: false)

  @Option(help: ArgumentHelp("The gateway's port.", valueName: "port"))
  var port: Int
  @Option(help: ArgumentHelp("Connections.", valueName: "count"))
  var connections = 16
  @Option(help: ArgumentHelp("Events of a request.", valueName: "count"))
  var batch = 1
  @Option(help: ArgumentHelp("How long to measure.", valueName: "s"))
  var seconds = 5
  @Option(help: ArgumentHelp("Events a second; without it, as many as are answered.", valueName: "count"))
  var rate: Int?

  func validate() throws {
    try BenchLimits.check("--port", port, 1...65_535)
    try BenchLimits.check("--connections", connections, 1...1000)
    try BenchLimits.check("--batch", batch, 1...3000)
    try BenchLimits.check("--seconds", seconds, 1...3600)
    if let rate { try BenchLimits.check("--rate", rate, 1...10_000_000) }
  }

  func run() throws {
    let load = GatewayLoad(
      port: port, connections: connections, batch: batch, seconds: seconds, rate: rate.map(Double.init))
    let result = try load.run()
    var json = JSONWriter()
    json.object { json in
      json.member("events", result.events)
      json.member("refused", result.refused)
      for (name, percentile) in [("p50", 50), ("p99", 99), ("max", 100)] as [(StaticString, Double)] {
        json.member(name, rounded: Double(result.latencies.valueAtPercentile(percentile)) / 1000)
      }
    }
    try Output.print(json.bytes)
  }
}

/// Runs the slow clients of the benchmark of the gateway as a child process; hidden, because only the benchmark starts it.
struct BenchGatewaySlowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway-slow", abstract: "Hold slow connections to a gateway on this host; the benchmark starts it.",
    discussion: """
      It ends with its standard input.

      EXAMPLE
        rouse bench gateway-slow --port 8080 --connections 100
      """, shouldDisplay: false)

  @Option(help: ArgumentHelp("The gateway's port.", valueName: "port"))
  var port: Int
  @Option(help: ArgumentHelp("Connections.", valueName: "count"))
  var connections = 100
  @Option(help: ArgumentHelp("Bytes of a body that are sent at once.", valueName: "count"))
  var bytes = 0

  func validate() throws {
    try BenchLimits.check("--port", port, 1...65_535)
    try BenchLimits.check("--connections", connections, 1...100_000)
    try BenchLimits.check("--bytes", bytes, 0...900_000)
  }

  func run() throws {
    let result = try SlowLoad(port: port, connections: connections, bytes: bytes).run()
    var json = JSONWriter()
    json.object { $0.members([("refused", result.refused), ("cutOff", result.cutOff)]) }
    try Output.print(json.bytes)
  }
}
