import ArgumentParser
import Benchmarks
import Domain
import Foundation
import JSON
import Pipeline

struct BenchRestartCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restart", abstract: "Measure how long decisions stand still when a planner process ends.",
    discussion: """
      Planner processes with the defaults of rouse run and local snapshots plan a fleet, while events reach every \
      partition. A process is ended in order and started again, killed and started again, and killed while another one \
      runs, --rounds times each. A time is the longest in which a reader of committed records sees no new decision of a \
      partition; the start of the process counts.

      The embedded broker cannot show it: it has no static members, and does not isolate transactions.

      EXAMPLE
        rouse bench restart --bootstrap localhost:9092 --partitions 4 --workers 2
      """)

  @OptionGroup var kafka: BenchBrokerOptions
  @Option(help: ArgumentHelp("Devices of the fleet.", valueName: "count"))
  var devices = 100_000
  @Option(help: ArgumentHelp("Widgets of each device, 1 to 64.", valueName: "count"))
  var instances = 3
  @Option(help: ArgumentHelp("Rounds of each kind; the report shows all.", valueName: "count"))
  var rounds = 3
  @OptionGroup var output: FormatOption

  func validate() throws {
    guard kafka.bootstrap != nil else {
      throw ValidationError("--bootstrap: name a real broker; the embedded one cannot show this")
    }
    try BenchLimits.check("--devices", devices, 1000...10_000_000)
    try BenchLimits.check("--instances", instances, 1...DomainBounds.instancesPerDeviceMax)
    try BenchLimits.check("--rounds", rounds, 1...100)
  }

  func run() throws {
    let partitions = kafka.partitions ?? 1
    let broker = try kafka.broker()
    let stage = try BenchmarkStage(broker: broker, partitions: partitions, planning: PlannerSettings())
    // Enough devices for each event to reach all partitions.
    let load = FleetLoad(
      devices: devices, instances: instances, fanOut: min(devices, 16 * partitions), alertPercent: 45)
    let progress = ProgressLine()
    let benchmark = try RestartBenchmark(stage: stage, load: load, workers: kafka.workers) { settings in
      planner(settings)
    } progress: { work in
      progress.show("\(work)")
    }
    let found = try benchmark.run(rounds: rounds)
    try stage.remove()
    progress.end()
    let head = BenchReportHead(
      broker: broker.text, partitions: partitions, workers: kafka.workers, devices: devices, instances: instances)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(found, head)))
    case .json: try Output.print(json(found, head))
    }
  }

  /// Returns the command line of a planner process.
  private func planner(_ settings: [String]) -> ChildProgram {
    let properties = kafka.property.isEmpty ? [] : ["kafka.properties=" + kafka.property.joined(separator: ",")]
    let all = ["kafka.bootstrapServers=\(kafka.bootstrap ?? "")", "http.listen=off"] + properties + settings
    return .rouse(list: ["run"] + all.flatMap { ["--set", $0] })
  }

  private func text(_ rounds: [RestartRound], _ head: BenchReportHead) -> String {
    var text = head.text(planners: " a process", fleet: ", \(RestartBenchmark.eventsPerSecond) events/s")
    for kind in RestartKind.allCases {
      let seconds = rounds.filter { $0.kind == kind }.map { "\(Digits.decimal($0.seconds, 1)) s" }
      text += "\(seconds.joined(separator: ", ")) \(kind.words)\n"
    }
    return text
  }

  private func json(_ rounds: [RestartRound], _ head: BenchReportHead) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    head.write(to: &json)
    json.objects("rounds", rounds) { round, json in
      json.member("kind", round.kind.rawValue)
      json.member("seconds", rounded: round.seconds)
    }
    json.endObject()
    return json.bytes
  }
}
