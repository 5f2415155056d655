import ArgumentParser
import Benchmarks
import Domain
import Foundation
import JSON
import KafkaClient

struct BenchRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Measure how long planners take to restore a fleet's state, and their memory.",
    discussion: """
      A child process first plans the fleet's registrations, so that the state is in the topic. Then planners start in \
      this process, --rounds times without local snapshots and --rounds times with them. A time runs from the start of \
      the first partition's restore to the end of the last one's. Memory is the peak of the first round.

      EXAMPLE
        rouse bench restore --bootstrap localhost:9092
        rouse bench restore --bootstrap localhost:9092 --partitions 8 --workers 2
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @Option(help: ArgumentHelp("Devices of the fleet.", valueName: "count"))
  var devices = 1_000_000
  @Option(help: ArgumentHelp("Widgets of each device, 1 to 64.", valueName: "count"))
  var instances = 3
  @Option(
    help: ArgumentHelp(
      "Events to plan first; they leave more records in the topic, until the broker compacts it.", valueName: "count"))
  var events = 0
  @Option(help: ArgumentHelp("Restores of each kind; the report shows the median.", valueName: "count"))
  var rounds = 3
  @Option(help: ArgumentHelp("The prefix of the topics to fill; the child process is given it.", visibility: .hidden))
  var fill: String?
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--devices", devices, 1...10_000_000)
    try BenchLimits.check("--instances", instances, 1...DomainBounds.instancesPerDeviceMax)
    try BenchLimits.check("--events", events, 0...100_000_000)
    try BenchLimits.check("--rounds", rounds, 1...100)
  }

  func run() throws {
    let size = RestoreBenchmark.stateSize(devices: devices, events: events)
    let partitions = try kafka.partitions(records: size.records, bytes: size.bytes)
    let broker = try kafka.broker()
    if let fill {
      let load = FleetLoad(devices: devices, instances: instances, fanOut: 1, alertPercent: 45)
      return try RestoreBenchmark.writeState(
        broker: broker, prefix: fill, partitions: partitions, load: load, events: events)
    }
    let progress = ProgressLine()
    let benchmark = RestoreBenchmark(
      broker: broker, devices: devices, partitions: partitions, workers: kafka.workers
    ) { work in progress.show("\(work)") }
    let found = try benchmark.run(rounds: rounds) { prefix in
      guard try writer(broker, prefix, partitions).run() == 0 else {
        throw Failure("writing the state failed; see the reason above")
      }
    }
    progress.end()
    let head = BenchReportHead(
      broker: broker.text, partitions: partitions, workers: kafka.workers, devices: devices, instances: instances)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(found, head)))
    case .json: try Output.print(json(found, head))
    }
  }

  /// Returns the command line that writes the state in a separate process.
  private func writer(_ broker: BenchmarkBroker, _ prefix: String, _ partitions: Int) -> ChildProgram {
    .rouse(
      list: [
        "bench", "restore", "--fill", prefix, "--bootstrap", broker.kafka["bootstrap.servers"] ?? "", "--partitions",
        "\(partitions)", "--devices", "\(devices)", "--instances", "\(instances)", "--events", "\(events)",
      ] + kafka.property.flatMap { ["--property", $0] })
  }

  private func text(_ rounds: [RestoreRound], _ head: BenchReportHead) -> String {
    var text = head.text()
    for source in RestoreSource.allCases {
      let rounds = rounds.filter { $0.source == source }
      guard let wall = rounds.map(\.wallSeconds).median, let processor = rounds.map(\.processorSeconds).median,
        let records = rounds.first?.records
      else { continue }
      text += "\(source.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)) "
      text += "\(Digits.decimal(wall, 2)) s, \(Digits.decimal(processor, 2)) CPU-s, "
      text += "\(Digits.grouped(records)) records (median of \(rounds.count))\n"
    }
    if let peak = rounds.first?.peakBytes { text += "memory    \(Digits.grouped(peak >> 20)) MiB at most\n" }
    return text
  }

  private func json(_ rounds: [RestoreRound], _ head: BenchReportHead) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    head.write(to: &json)
    json.member("events", events)
    if let peak = rounds.first?.peakBytes {
      json.member("memoryPeakBytes", peak)
    }
    let sources: [(StaticString, RestoreSource)] = [("topicSeconds", .topic), ("snapshotSeconds", .snapshot)]
    for (key, source) in sources {
      guard let seconds = rounds.filter({ $0.source == source }).map(\.wallSeconds).median else { continue }
      json.member(key, rounded: seconds)
    }
    json.objects("rounds", rounds) { round, json in
      json.member("from", round.source.rawValue)
      json.member("wallSeconds", rounded: round.wallSeconds)
      json.member("processorSeconds", rounded: round.processorSeconds)
      json.member("records", round.records)
    }
    json.endObject()
    return json.bytes
  }
}
