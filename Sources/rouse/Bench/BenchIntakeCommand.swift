import ArgumentParser
import Benchmarks
import Domain
import Foundation
import JSON

struct BenchIntakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "intake",
    abstract: "Measure intake alone, beside a loop that only copies bytes.",
    discussion: """
      Events are published first. Then intake reads them, validates them and appends each to every partition of a log; \
      then a plain loop through the same librdkafka reads them again and writes as many records of the same size. Both \
      take turns at each number of log partitions, and the first tenth of the events warms up. Look at the ratio.

      Processor time is that of this process, librdkafka's threads included; the broker runs elsewhere. The embedded \
      broker is slow: measure with a real one.

      EXAMPLE
        rouse bench intake --bootstrap localhost:9092
        rouse bench intake --bootstrap localhost:9092 --log-partitions 12 --threads 2
      """)

  @OptionGroup var address: BenchAddressOptions
  @Option(help: ArgumentHelp("Events to publish. (default: 1,000,000; embedded: 100,000)", valueName: "count"))
  var events: Int?
  @Option(
    help: ArgumentHelp(
      "Partitions of the topic of events. (default: 4; embedded: enough)", valueName: "count"))
  var partitions: Int?
  @Option(
    help: ArgumentHelp("Partitions of the log; may be repeated. (default: 1, 12 and 64)", valueName: "count"))
  var logPartitions: [Int] = []
  @Option(help: ArgumentHelp("Intake threads.", valueName: "count"))
  var threads = 1
  @Option(help: ArgumentHelp("Rounds; the report shows medians.", valueName: "count"))
  var rounds = 3
  @OptionGroup var output: FormatOption

  private static let logPartitionsDefault = [1, 12, 64]

  func validate() throws {
    if let events { try BenchLimits.check("--events", events, 100...100_000_000) }
    if let partitions { try BenchLimits.check("--partitions", partitions, 1...EmbeddedBrokerCapacity.partitionsMax) }
    for count in logPartitions { try BenchLimits.check("--log-partitions", count, 1...1024) }
    try BenchLimits.check("--threads", threads, 1...64)
    try BenchLimits.check("--rounds", rounds, 1...100)
  }

  func run() throws {
    let events = events ?? (address.bootstrap == nil ? 100_000 : 1_000_000)
    let sources =
      address.bootstrap == nil
      ? try EmbeddedBrokerCapacity.partitions(
        wanted: partitions, records: events, bytes: events * IntakeBenchmark.eventBytes)
      : partitions ?? 4
    let broker = try address.broker()
    let progress = ProgressLine()
    let benchmark = IntakeBenchmark(broker: broker, events: events, sourcePartitions: sources, threads: threads) {
      progress.show("\($0)")
    }
    try benchmark.publish()
    var pairs: [IntakePair] = []
    let counts = logPartitions.isEmpty ? Self.logPartitionsDefault : logPartitions
    for _ in 1...rounds {
      for count in counts {
        let both = try benchmark.run(partitions: count)
        pairs.append(IntakePair(intake: both[0], passthrough: both[1]))
      }
    }
    try benchmark.remove()
    progress.end()
    let report = IntakeReport(
      broker: broker.text, events: events, sources: sources, threads: threads, counts: counts, pairs: pairs)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: report.text))
    case .json: try Output.print(report.json)
    }
  }
}

/// Intake and the passthrough at one number of log partitions, from the same minutes of the machine.
private struct IntakePair {
  var intake: IntakeRound
  var passthrough: IntakeRound

  /// The processor time of intake divided by that of the passthrough.
  var processorRatio: Double { intake.processorPerMillion / passthrough.processorPerMillion }
  /// The events a second of intake divided by those of the passthrough.
  var speedRatio: Double { intake.eventsPerSecond / passthrough.eventsPerSecond }
}

/// Prints the figures of `rouse bench intake`, as text or as JSON.
private struct IntakeReport {
  var broker: String
  var events: Int
  var sources: Int
  var threads: Int
  /// The numbers of log partitions, in the order of the report.
  var counts: [Int]
  var pairs: [IntakePair]

  private func median(_ count: Int, _ figure: (IntakePair) -> Double) -> Double {
    pairs.filter { $0.intake.partitions == count }.map(figure).median ?? 0
  }

  var text: String {
    var text = """
      \(BenchMachine.lines)
      broker    \(broker)
      load      \(Digits.count(events, "event")) in \(Digits.count(sources, "partition")), \
      \(Digits.count(threads, "intake thread"))

      """
    for count in counts {
      text += "\(Digits.count(count, "log partition"))\n"
      text += line("intake", count, \.intake)
      text += line("passthrough", count, \.passthrough)
      text += "  ratio       \(Digits.decimal(median(count, \.processorRatio), 2)) × the processor time, "
      text += "\(Digits.decimal(median(count, \.speedRatio), 2)) × the speed\n"
    }
    return text
  }

  private func line(_ name: String, _ count: Int, _ round: KeyPath<IntakePair, IntakeRound>) -> String {
    let speed = Digits.grouped(Int(median(count) { $0[keyPath: round].eventsPerSecond }))
    let cost = Digits.decimal(median(count) { $0[keyPath: round].processorPerMillion }, 2)
    return "  \(name.padding(toLength: 11, withPad: " ", startingAt: 0)) \(speed) events/s, \(cost) CPU-s a million\n"
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.member("broker", broker)
    json.members([("events", events), ("partitions", sources), ("threads", threads)])
    json.objects("rounds", pairs.flatMap { [$0.intake, $0.passthrough] }) { round, json in
      json.member("kind", round.kind.rawValue)
      json.members([("logPartitions", round.partitions), ("events", round.events)])
      json.member("wallSeconds", rounded: round.wallSeconds)
      json.member("processorSeconds", rounded: round.processorSeconds)
      json.member("eventsPerSecond", rounded: round.eventsPerSecond)
      json.member("processorSecondsPerMillion", rounded: round.processorPerMillion)
    }
    json.objects("ratios", counts) { count, json in
      json.members([("logPartitions", count)])
      json.member("processorToPassthrough", rounded: median(count, \.processorRatio))
      json.member("speedToPassthrough", rounded: median(count, \.speedRatio))
    }
    json.endObject()
    return json.bytes
  }
}
