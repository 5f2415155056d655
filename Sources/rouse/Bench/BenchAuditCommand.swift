import ArgumentParser
import Benchmarks
import Domain
import JSON

struct BenchAuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Measure how fast an audit store takes decisions in, and the bytes that each needs.",
    discussion: """
      Reads records as planners write them and stores the decisions and commands in them, on one thread. Fills a new \
      file and leaves it there; remove it afterwards.

      EXAMPLE
        rouse bench audit --store /tmp/bench.sqlite --decisions 1000000
      """)

  @Option(help: ArgumentHelp("The file to fill; there must be none yet.", valueName: "file"))
  var store: String
  @Option(help: ArgumentHelp("Decisions to store.", valueName: "count"))
  var decisions = 1_000_000
  @Option(help: ArgumentHelp("Devices that they are about.", valueName: "count"))
  var devices = 100_000
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--decisions", decisions, 1...1_000_000_000)
    try BenchLimits.check("--devices", devices, 1...10_000_000)
  }

  func run() throws {
    if Files.exists(store) {
      throw Failure("there is a file at \(store) already; the benchmark fills a new one: remove it or name another")
    }
    let result = try AuditBenchmark.run(decisions: decisions, devices: devices, path: store)
    switch output.format {
    case .text:
      try Output.print(
        """
        machine    \(BenchMachine.text)
        decisions  \(Digits.grouped(result.decisions)) about \(Digits.count(devices, "device")), \
        with \(Digits.count(result.commands, "command"))
        speed      \(Digits.grouped(Int(result.decisionsPerSecond))) decisions/s (\(Digits.decimal(result.seconds, 2)) s), \
        \(Digits.decimal(result.processorPerMillion, 2)) CPU-s a million
        size       \(Digits.decimal(result.bytesPerDecision, 1)) bytes a decision

        """)
    case .json: try Output.print(json(result))
    }
  }

  private func json(_ result: AuditBenchmark.Result) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.member("devices", devices)
    json.member("decisions", result.decisions)
    json.member("commands", result.commands)
    json.member("seconds", rounded: result.seconds)
    json.member("decisionsPerSecond", Int(result.decisionsPerSecond))
    json.member("processorSecondsPerMillionDecisions", rounded: result.processorPerMillion)
    json.member("bytesPerDecision", rounded: result.bytesPerDecision)
    json.endObject()
    return json.bytes
  }
}
