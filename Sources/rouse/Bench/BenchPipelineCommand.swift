import ArgumentParser
import Domain
import JSON

/// The options of every benchmark that needs a broker.
struct BenchBrokerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The broker; without it an embedded one is started in another process.", valueName: "host:port"))
  var bootstrap: String?
  @Option(help: ArgumentHelp("Partitions of the topics. (default: 1; embedded: enough)", valueName: "count"))
  var partitions: Int?
  @Option(help: ArgumentHelp("Planner threads.", valueName: "count"))
  var workers = 1
  @Option(
    help: ArgumentHelp("A property of librdkafka for every client; may be repeated.", valueName: "name=value"))
  var property: [String] = []

  func validate() throws {
    if let bad = property.first(where: { !$0.contains("=") || $0.hasPrefix("=") }) {
      throw ValidationError("--property \(bad): expected name=value")
    }
    if let partitions, !(1...1024).contains(partitions) {
      throw ValidationError("--partitions: found \(partitions), expected 1 to 1024")
    }
    if !(1...64).contains(workers) { throw ValidationError("--workers: found \(workers), expected 1 to 64") }
  }

  func broker() throws -> BenchBroker {
    try BenchBroker(
      bootstrap: bootstrap,
      properties: property.map { text in
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      })
  }

  /// As asked for, or else: 1 on a real broker; on the embedded one, which keeps the newest 5 MB and 100,000 records of
  /// a partition, as many as the largest topic of the setup needs.
  func partitions(records: Int, bytes: Int) throws -> Int {
    let needed = max(records / 80_000, bytes / 3_500_000) + 1
    guard bootstrap == nil else { return partitions ?? 1 }
    if let partitions, partitions < needed {
      throw Failure(
        "the embedded broker keeps 5 MB of a partition, so this load needs --partitions \(needed) or more; with --bootstrap a real one has no such limit"
      )
    }
    guard needed <= 1024 else {
      throw Failure("this load is too large for the embedded broker; name a real one with --bootstrap")
    }
    return partitions ?? needed
  }
}

struct BenchPipelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline",
    abstract: "What a decision costs from the log to a committed transaction, beside a plain copy of the same records.",
    discussion: """
      Every round has topics of its own with the same fleet and the same events in the log, of which the first tenth \
      warms up. Modes take turns, so that a noisy machine troubles all alike; look at the ratios.

        transactional  decisions, commands, state and position, as in operation
        passthrough    a loop as in C, through the same librdkafka with the same settings: reads what the \
      transactional round wrote and writes it again, in transactions as often
        idempotent     without transactions
        unlogged       without decision records

      What was written is counted in the topics; a record too few or too many fails the run. Processor time is that \
      of this process, librdkafka's threads included; the broker runs elsewhere. The embedded broker is slow and \
      keeps transactions apart from nothing: figures come from a real one.

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
  @Option(help: ArgumentHelp("Longest time between two commits.", valueName: "ms"))
  var commitInterval = 100
  @Option(help: ArgumentHelp("Rounds of each mode; medians count.", valueName: "count"))
  var rounds = 3
  @Option(
    help: ArgumentHelp(
      "transactional, passthrough, idempotent or unlogged; may be repeated. (default: all)", valueName: "mode"))
  var mode: [BenchMode] = []
  @OptionGroup var output: FormatOption

  private static let decisionsDefault = 500_000

  func validate() throws {
    try BenchLimits.check("--commit-interval", commitInterval, 1...60_000)
    try BenchLimits.check("--rounds", rounds, 1...100)
    if let events { try BenchLimits.check("--events", events, 1...100_000_000) }
    if mode.contains(.passthrough), !mode.contains(.transactional) {
      throw ValidationError("--mode passthrough: it copies what --mode transactional wrote; name both")
    }
  }

  func run() throws {
    let modes = mode.isEmpty ? BenchMode.allCases : mode
    let events = events ?? max(1, Self.decisionsDefault / fleet.fanOut)
    let load = fleet.load
    let partitions = try kafka.partitions(
      records: fleet.devices + events,
      bytes: fleet.devices * BenchLoad.registrationBytes + events * BenchLoad.eventBytes)
    let broker = try kafka.broker()
    let progress = ProgressLine()
    var report = BenchPipelineReport(
      command: self, broker: broker.text, events: events, partitions: partitions, rounds: [])
    for round in 1...rounds {
      let run = BenchPipelineRun(
        broker: broker, load: load, events: events, partitions: partitions, workers: kafka.workers,
        commitInterval: .milliseconds(commitInterval)
      ) { what in progress.show("round \(round) of \(rounds), \(what)") }
      for mode in modes where mode != .passthrough {
        report.rounds += try run.run(mode, passthrough: mode == .transactional && modes.contains(.passthrough))
      }
    }
    progress.end()
    switch output.format {
    case .text: try Output.print(report.text)
    case .json: try Output.print(report.json)
    }
  }
}

/// Checks of numbers given to the benchmarks.
enum BenchLimits {
  static func check(_ option: String, _ value: Int, _ range: ClosedRange<Int>) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(option): found \(Digits.grouped(value)), expected \(Digits.grouped(range.lowerBound)) to \(Digits.grouped(range.upperBound))"
      )
    }
  }
}
