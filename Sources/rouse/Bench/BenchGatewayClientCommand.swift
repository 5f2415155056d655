import ArgumentParser
import Benchmarks
import Histogram
import JSON

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
