import ArgumentParser
import Benchmarks
import Domain
import Foundation
import JSON

struct BenchObservingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observing",
    abstract: "Measure the cost of metrics and traces for each decision.",
    discussion: """
      Two pipelines with the same fleet and events plan in one process, in turns of a quarter of a second. Off counts only by \
      batch. On counts decisions by kind and reason, makes the text of a scrape after each 15 seconds of its turns, makes spans of \
      one of a hundred events, and sweeps the screens and reads librdkafka's statistics as rouse run does by default: for the \
      time that it works, because it works half of the time.

      The spans are written as OTLP and handed to a sink in this process; nothing is sent over HTTP. They are written in the \
      background, so a part of that falls into turns of the other pipeline. Intake is not part of it.

      There are two rounds, because the pipeline that is made second has its tables elsewhere in memory. Turns are taken until the \
      events are used up. The cost is the median over the pairs of turns. From six pairs on the report says between which values \
      it lies with a confidence of 95 %. Each pipeline has one planner thread.

      EXAMPLE
        rouse bench observing --bootstrap localhost:9092
        rouse bench observing --bootstrap localhost:9092 --fan-out 100 --events 200000
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @OptionGroup var fleet: BenchFleetOptions
  @Option(
    help: ArgumentHelp(
      "Events of each pipeline and round. (default: 4,000,000 / fan-out; embedded: 200,000 / fan-out)",
      valueName: "count"))
  var events: Int?
  @Option(help: ArgumentHelp("Longest time between two commits, unless they are slow.", valueName: "ms"))
  var commitInterval = 100
  @Option(help: ArgumentHelp("Shortest length of a turn, which ends with a commit.", valueName: "ms"))
  var turn = 250
  @OptionGroup var output: FormatOption

  private static let decisionsDefault = (real: 4_000_000, embedded: 200_000)

  func validate() throws {
    try BenchLimits.check("--commit-interval", commitInterval, 1...60_000)
    try BenchLimits.check("--turn", turn, 1...60_000)
    if let events { try BenchLimits.check("--events", events, 1...100_000_000) }
    guard kafka.workers == 1 else {
      throw ValidationError("--workers \(kafka.workers): each pipeline has one planner thread")
    }
  }

  func run() throws {
    let decisions = kafka.bootstrap == nil ? Self.decisionsDefault.embedded : Self.decisionsDefault.real
    let events = events ?? max(1, decisions / fleet.fanOut)
    let fed = events + PipelineBenchmark.warmUpEvents(fleet.load, events)
    let partitions = try kafka.partitions(
      records: fleet.devices + fed,
      bytes: fleet.devices * FleetLoad.registrationBytes + fed * FleetLoad.eventBytes)
    let broker = try kafka.broker()
    let progress = ProgressLine()
    let result = try ObservingBenchmark(
      broker: broker, load: fleet.load, events: events, partitions: partitions,
      commitInterval: .milliseconds(commitInterval), turnSeconds: Double(turn) / 1000
    ) { work in progress.show("\(work)") }.run()
    progress.end()
    let report = ObservingReport(
      head: BenchReportHead(
        broker: broker.text, partitions: partitions, workers: kafka.workers, devices: fleet.devices,
        instances: fleet.instances),
      command: self, events: events, result: result)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: report.text))
    case .json: try Output.print(report.json)
    }
  }
}

/// Prints the figures of `rouse bench observing`, as text or as JSON.
private struct ObservingReport {
  var head: BenchReportHead
  var command: BenchObservingCommand
  var events: Int
  var result: ObservingBenchmark.ObservingResult

  /// The figures with metrics and traces, divided by those without.
  private var speedRatios: [Double] { result.ratios(\.decisionsPerSecond) }
  private var processorRatios: [Double] { result.ratios(\.processorPerMillionDecisions) }

  /// Writes the median of ratios, and the interval in which it lies with a confidence of 95 %.
  private static func words(_ ratios: [Double]) -> String {
    let interval = ratios.medianInterval.map {
      " (95 %: \(Digits.decimal($0.lowerBound, 4)) to \(Digits.decimal($0.upperBound, 4)))"
    }
    return Digits.decimal(ratios.median ?? 0, 4) + (interval ?? "")
  }

  var text: String {
    let reach = Digits.count(command.fleet.fanOut, "device")
    var text = head.text(
      planners: " for each of two pipelines, a commit interval of \(command.commitInterval) ms",
      fleet:
        ", \(Digits.count(events, "event")) that reach \(reach) each, \(Digits.count(result.pairs.count, "pair")) of turns"
    )
    for (name, turns) in [("off", result.pairs.map(\.off)), ("on", result.pairs.map(\.on))] {
      guard let speed = turns.map(\.decisionsPerSecond).median,
        let cost = turns.map(\.processorPerMillionDecisions).median, let wall = turns.map(\.wallSeconds).median
      else { continue }
      text += "\(name.padding(toLength: 9, withPad: " ", startingAt: 0)) "
      text += "\(Digits.grouped(Int(speed))) decisions/s in turns of \(Digits.decimal(wall, 2)) s, "
      text += "\(Digits.decimal(cost, 3)) CPU-s a million\n"
    }
    text += "on/off    \(Self.words(speedRatios)) of the decisions a second,\n"
    text += "          \(Self.words(processorRatios)) × the processor time for each decision\n"
    let observed = result.observed
    text += "scrapes   \(Digits.grouped(observed.scrapes)), at most "
    text +=
      "\(Digits.grouped(observed.scrapeBytesMax)) bytes in at most \(Digits.decimal(observed.scrapeSecondsMax * 1000, 1)) ms\n"
    text += "spans     \(Digits.grouped(observed.spansExported)) to a sink in this process, "
    text += "\(Digits.grouped(observed.spanBytes >> 10)) KiB; \(Digits.grouped(observed.spansDropped)) dropped\n"
    return text
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    head.write(to: &json)
    json.members([
      ("fanOut", command.fleet.fanOut), ("events", events), ("alertPercent", command.fleet.alerts),
      ("commitIntervalMilliseconds", command.commitInterval), ("turnMilliseconds", command.turn),
      ("tracedPercent", ObservingBenchmark.tracedPercent),
    ])
    json.object("onToOff") { json in
      let figures: [(StaticString, [Double])] = [
        ("decisionsPerSecond", speedRatios), ("processorPerDecision", processorRatios),
      ]
      for (name, ratios) in figures {
        json.object(name) { json in
          json.member("median", rounded: ratios.median ?? 0)
          guard let interval = ratios.medianInterval else { return }
          json.member("confidentFrom", rounded: interval.lowerBound)
          json.member("confidentTo", rounded: interval.upperBound)
        }
      }
    }
    json.objects("pairs", result.pairs) { pair, json in
      for (name, turn) in [("off" as StaticString, pair.off), ("on", pair.on)] {
        json.object(name) { json in
          json.member("wallSeconds", rounded: turn.wallSeconds)
          json.member("processorSeconds", rounded: turn.processorSeconds)
          json.member("decisions", turn.decisions)
        }
      }
    }
    let observed = result.observed
    json.members([
      ("scrapes", observed.scrapes), ("scrapeBytesMax", observed.scrapeBytesMax),
      ("spansExported", observed.spansExported), ("spansDropped", observed.spansDropped),
      ("spanBytes", observed.spanBytes),
    ])
    json.member("scrapeSecondsMax", rounded: observed.scrapeSecondsMax)
    json.endObject()
    return json.bytes
  }
}
