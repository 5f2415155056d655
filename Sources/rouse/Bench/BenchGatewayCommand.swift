import ArgumentParser
import Benchmarks
import Domain
import JSON

/// Measures the HTTP gateway.
struct BenchGatewayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway", abstract: "Measure the HTTP gateway: events a second, and the latency at half of them.",
    discussion: """
      The gateway runs in this process, its clients in another one. First each connection publishes as fast as it is \
      answered. Then requests are sent by the clock at half of that rate, and a latency counts from the moment when its \
      request was due.

      EXAMPLE
        rouse bench gateway --bootstrap localhost:9092
        rouse bench gateway --batch 1 --batch 100 --connections 32
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
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--partitions", partitions, 1...1000)
    try BenchLimits.check("--threads", threads, 1...64)
    try BenchLimits.check("--connections", connections, 1...1000)
    for batch in batch { try BenchLimits.check("--batch", batch, 1...3000) }
    try BenchLimits.check("--seconds", seconds, 1...3600)
  }

  func run() async throws {
    let progress = ProgressLine()
    let broker = try address.broker()
    let benchmark = GatewayBenchmark(
      broker: broker, partitions: partitions, threads: threads, connections: connections, seconds: seconds,
      client: { .rouse(list: ["bench", "gateway-client"] + $0) }, progress: { progress.show("\($0)") })
    let rounds = try await benchmark.run(batches: batch.isEmpty ? [100, 1] : batch)
    progress.end()
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(rounds, broker.text)))
    case .json: try Output.print(json(rounds, broker.text))
    }
  }

  private func text(_ rounds: [GatewayBenchmark.Round], _ broker: String) -> String {
    var text = """
      \(BenchMachine.lines)
      broker    \(broker), \(Digits.count(partitions, "partition"))
      gateway   \(Digits.count(threads, "thread")), \(Digits.count(connections, "connection"))

      """
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
        json.object("latencyMilliseconds") { json in
          json.member("p50", rounded: round.latencies.p50)
          json.member("p99", rounded: round.latencies.p99)
          json.member("max", rounded: round.latencies.max)
        }
        json.member("refused", round.refused)
      }
    }
    return json.bytes
  }
}
