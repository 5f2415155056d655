import ArgumentParser
import Benchmarks
import Domain
import Histogram
import JSON
import Pipeline

struct BenchLatencyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency", abstract: "Measure the time from a produced event to its readable command.",
    discussion: """
      Intake, planner and a reader of committed commands run in this process, at a fixed load. Events are sent by the \
      clock, and a latency counts from the moment when its event was due, so a stall shows in every event that it held \
      up. Without --rate, the maximum of intake and planner is found first, and a share of it is the load.

      The embedded broker shows records before they are committed: measure latencies with a real one.

      EXAMPLE
        rouse bench latency --bootstrap localhost:9092
        rouse bench latency --bootstrap localhost:9092 --rate 2000 --seconds 60
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @OptionGroup var fleet: BenchFleetOptions
  @Option(help: ArgumentHelp("Longest time between two commits, unless they are slow.", valueName: "ms"))
  var commitInterval = 50
  @Option(help: ArgumentHelp("Events a second; without it, a share of the maximum.", valueName: "count"))
  var rate: Int?
  @Option(help: ArgumentHelp("Share of the maximum, without --rate.", valueName: "%"))
  var share = 20
  @Option(help: ArgumentHelp("Events to find the maximum with.", valueName: "count"))
  var burst = 100_000
  @Option(help: ArgumentHelp("How long to measure.", valueName: "s"))
  var seconds = 20
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--alerts", fleet.alerts, 1...100)
    try BenchLimits.check("--commit-interval", commitInterval, 1...60_000)
    if let rate { try BenchLimits.check("--rate", rate, 1...10_000_000) }
    try BenchLimits.check("--share", share, 1...100)
    try BenchLimits.check("--burst", burst, 10...100_000_000)
    try BenchLimits.check("--seconds", seconds, 1...86_400)
  }

  func run() throws {
    let events = rate.map { $0 * (seconds + LatencyBenchmark.warmUpSeconds) } ?? burst
    let partitions = try kafka.partitions(
      records: fleet.devices + events,
      bytes: fleet.devices * FleetLoad.registrationBytes + events * FleetLoad.publicEventBytes)
    var planning = PlannerSettings()
    planning.commitInterval = .milliseconds(commitInterval)
    let broker = try kafka.broker()
    let stage = try BenchmarkStage(broker: broker, partitions: partitions, planning: planning)
    let progress = ProgressLine()
    let run = LatencyBenchmark(
      stage: stage, load: fleet.load, burst: burst, workers: kafka.workers, seconds: seconds
    ) { work in progress.show("\(work)") }
    let result = try run.run(rate: rate.map(Double.init), share: Double(share) / 100)
    try stage.end()
    try stage.remove()
    progress.end()
    guard result.latencies.totalCount > 0 else {
      throw Failure("no command came within \(seconds) s; give the pipeline more time or a higher rate")
    }
    let head = BenchReportHead(
      broker: broker.text, partitions: partitions, workers: kafka.workers, devices: fleet.devices,
      instances: fleet.instances)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(result, head)))
    case .json: try Output.print(json(result, head))
    }
  }

  /// The percentiles to print, each with its JSON key and its words.
  private static let percentiles: [(key: StaticString, words: String, percentile: Double)] = [
    ("p50", "p50", 50), ("p90", "p90", 90), ("p99", "p99", 99), ("p999", "p99.9", 99.9), ("max", "max", 100),
  ]

  private func text(_ result: LatencyBenchmark.Result, _ head: BenchReportHead) -> String {
    var text = head.text(
      planners: ", a commit interval of \(commitInterval) ms",
      fleet: ", events that reach \(Digits.count(fleet.fanOut, "device")) each")
    if let maximum = result.maximumPerSecond { text += "maximum   \(Digits.grouped(Int(maximum))) events/s\n" }
    text += "load      \(Digits.grouped(Int(result.ratePerSecond))) events/s for \(seconds) s, "
    text += "\(Digits.decimal(result.processorShare * 100, 0)) % of a processor\n"
    text += "latency   "
    text += Self.percentiles.map { place in
      "\(place.words) \(Digits.decimal(Double(result.latencies.valueAtPercentile(place.percentile)) / 1000, 1)) ms"
    }.joined(separator: ", ")
    return text + " of \(Digits.count(Int(result.latencies.totalCount), "command"))\n"
  }

  private func json(_ result: LatencyBenchmark.Result, _ head: BenchReportHead) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    head.write(to: &json)
    json.members([
      ("fanOut", fleet.fanOut), ("alertPercent", fleet.alerts), ("commitIntervalMilliseconds", commitInterval),
      ("seconds", seconds), ("commands", Int(result.latencies.totalCount)),
    ])
    if let maximum = result.maximumPerSecond {
      json.member("maximumEventsPerSecond", rounded: maximum)
    }
    json.member("eventsPerSecond", rounded: result.ratePerSecond)
    json.member("processorShare", rounded: result.processorShare)
    json.object("latencyMilliseconds") { json in
      for place in Self.percentiles {
        json.key(place.key)
        json.rounded(Double(result.latencies.valueAtPercentile(place.percentile)) / 1000)
      }
    }
    json.endObject()
    return json.bytes
  }
}
