import ArgumentParser
import Benchmarks
import Domain
import JSON

struct BenchPipelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline",
    abstract: "Measure the cost of a decision, beside a plain copy of the same records.",
    discussion: """
      The cost is measured from the log to a committed transaction. Every round has topics of its own, with the same \
      fleet and the same events in the log, after one event for each subject that only warms up if there are more than 100. Modes take turns, so that noise of the \
      machine affects all of them alike; look at the ratios.

        transactional  decisions, commands, state and position, as in operation
        passthrough    a plain loop through the same librdkafka with the same settings: reads the output of the \
      transactional round, one record a decision, and writes it again, in transactions as often
        idempotent     without transactions
        unlogged       without decision records

      The decisions and records in the topics are counted; the run fails when one is missing or doubled. Processor time is that of \
      this process, librdkafka's threads included; the broker runs elsewhere. The embedded broker is slow and does not \
      isolate transactions: measure with a real one.

      EXAMPLE
        rouse bench pipeline --bootstrap localhost:9092
        rouse bench pipeline --bootstrap localhost:9092 --fan-out 100 --events 10000
        rouse bench pipeline --bootstrap localhost:9092 --devices 1000000 \\
          --fan-out 1000000 --events 1 --mode transactional --partitions 2 --workers 2
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @OptionGroup var fleet: BenchFleetOptions
  @Option(help: ArgumentHelp("Events of a round. (default: 500,000 / fan-out)", valueName: "count"))
  var events: Int?
  @Option(help: ArgumentHelp("Longest time between two commits, unless they are slow.", valueName: "ms"))
  var commitInterval = 100
  @Option(help: ArgumentHelp("Rounds of each mode; the report shows medians.", valueName: "count"))
  var rounds = 3
  @Option(
    help: ArgumentHelp(
      "Only this mode: transactional, passthrough, idempotent or unlogged; may be repeated. (default: all)",
      valueName: "mode"))
  var mode: [PipelineBenchmarkMode] = []
  @OptionGroup var output: FormatOption

  private static let decisionsDefault = 500_000

  func validate() throws {
    try BenchLimits.check("--commit-interval", commitInterval, 1...60_000)
    try BenchLimits.check("--rounds", rounds, 1...100)
    if let events { try BenchLimits.check("--events", events, 1...100_000_000) }
    if let other = mode.first(where: { !PipelineBenchmarkMode.compared.contains($0) }) {
      throw ValidationError("--mode \(other.rawValue): rouse bench observing measures it")
    }
    if mode.contains(.passthrough), !mode.contains(.transactional) {
      throw ValidationError("--mode passthrough: it copies what --mode transactional wrote; name both")
    }
  }

  func run() throws {
    let modes = mode.isEmpty ? PipelineBenchmarkMode.compared : mode
    let events = events ?? max(1, Self.decisionsDefault / fleet.fanOut)
    let fed = events + PipelineBenchmark.warmUpEvents(fleet.load, events)
    let partitions = try kafka.partitions(
      records: fleet.devices + fed,
      bytes: fleet.devices * FleetLoad.registrationBytes + fed * FleetLoad.eventBytes)
    let broker = try kafka.broker()
    let progress = ProgressLine()
    let run = PipelineBenchmark(
      broker: broker, load: fleet.load, events: events, partitions: partitions, workers: kafka.workers,
      commitInterval: .milliseconds(commitInterval)
    ) { work in progress.show("\(work)") }
    var result = PipelineResult()
    for _ in 1...rounds {
      for mode in modes where mode != .passthrough {
        result.append(try run.run(mode, passthrough: mode == .transactional && modes.contains(.passthrough)))
      }
    }
    let report = BenchPipelineReport(
      command: self, broker: broker.text, events: events, partitions: partitions, result: result)
    progress.end()
    switch output.format {
    case .text: try Output.print(PrintableText(lines: report.text))
    case .json: try Output.print(report.json)
    }
  }
}

extension PipelineBenchmarkMode: ExpressibleByArgument {
  package static var allValueStrings: [String] { compared.map(\.rawValue) }
}
