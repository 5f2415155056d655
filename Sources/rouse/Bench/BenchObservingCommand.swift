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
      Runs the rounds of rouse bench pipeline in pairs, with the same fleet and events. Off counts only by batch. On \
      counts decisions by kind and reason, sweeps the screens and reads librdkafka's statistics as rouse run does by \
      default, makes the text of a scrape once a second, and makes spans of one of a hundred events.

      The spans are written as OTLP and handed to a sink in this process; nothing is sent over HTTP. Spans that waited in \
      vain count as dropped. The cost is the median over the pairs. From six pairs on the report says between which values it \
      lies with a confidence of 95 %: machines are noisy, and a cost of a few percent needs twenty pairs or more to be \
      seen. Rounds of less than ten seconds may have no sweep and no statistics. Intake is not part of it.

      EXAMPLE
        rouse bench observing --bootstrap localhost:9092
        rouse bench observing --bootstrap localhost:9092 --fan-out 100 --events 100000
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @OptionGroup var fleet: BenchFleetOptions
  @Option(
    help: ArgumentHelp(
      "Events of a round. (default: 2,000,000 / fan-out; embedded: 100,000 / fan-out)", valueName: "count"))
  var events: Int?
  @Option(help: ArgumentHelp("Longest time between two commits.", valueName: "ms"))
  var commitInterval = 100
  @Option(help: ArgumentHelp("Pairs of rounds; the report shows medians.", valueName: "count"))
  var rounds = 6
  @OptionGroup var output: FormatOption

  private static let decisionsDefault = (real: 2_000_000, embedded: 100_000)

  func validate() throws {
    try BenchLimits.check("--commit-interval", commitInterval, 1...60_000)
    try BenchLimits.check("--rounds", rounds, 1...100)
    if let events { try BenchLimits.check("--events", events, 1...100_000_000) }
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
    let benchmark = PipelineBenchmark(
      broker: broker, load: fleet.load, events: events, partitions: partitions, workers: kafka.workers,
      commitInterval: .milliseconds(commitInterval)
    ) { work in progress.show("\(work)") }
    var result = PipelineResult()
    for number in 0..<rounds {
      // The order changes, so that neither mode is always the one that finds the machine warmer.
      let pair: [PipelineBenchmarkMode] = number % 2 == 0 ? [.unobserved, .observed] : [.observed, .unobserved]
      for mode in pair { result.append(try benchmark.run(mode, passthrough: false)) }
    }
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
  var result: PipelineResult

  private static let modes: [PipelineBenchmarkMode] = [.unobserved, .observed]

  /// The figures with metrics and traces, divided by those without.
  private var speedRatios: [Double] { result.ratios(.observed, to: .unobserved, \.decisionsPerSecond) }
  private var processorRatios: [Double] { result.ratios(.observed, to: .unobserved, \.processorPerMillionDecisions) }

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
      planners: ", a commit every \(command.commitInterval) ms",
      fleet: ", \(Digits.count(events, "event")) that reach \(reach) each, \(Digits.count(command.rounds, "pair"))")
    for mode in Self.modes {
      guard let speed = result.median(mode, \.decisionsPerSecond),
        let cost = result.median(mode, \.processorPerMillionDecisions), let wall = result.median(mode, \.wallSeconds)
      else { continue }
      text += "\(mode.words.padding(toLength: 9, withPad: " ", startingAt: 0)) "
      text += "\(Digits.grouped(Int(speed))) decisions/s in \(Digits.decimal(wall, 2)) s, "
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
      ("commitIntervalMilliseconds", command.commitInterval), ("tracedPercent", PipelineBenchmark.tracedPercent),
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
    json.objects("rounds", result.rounds) { round, json in
      json.member("observing", round.mode == .observed)
      json.member("wallSeconds", rounded: round.wallSeconds)
      json.member("processorSeconds", rounded: round.processorSeconds)
      json.members([("decisions", round.decisions), ("transactions", round.transactions)])
      guard let observed = round.observed else { return }
      json.members([
        ("scrapes", observed.scrapes), ("scrapeBytesMax", observed.scrapeBytesMax),
        ("spansExported", observed.spansExported), ("spansDropped", observed.spansDropped),
        ("spanBytes", observed.spanBytes),
      ])
      json.member("scrapeSecondsMax", rounded: observed.scrapeSecondsMax)
    }
    json.endObject()
    return json.bytes
  }
}
