import ArgumentParser
import Benchmarks
import JSON

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
