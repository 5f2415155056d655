import ArgumentParser
import Benchmarks
import Domain
import JSON
import Policies

struct BenchPlannerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "planner", abstract: "Measure the decisions per second of one planner, and its memory per device.",
    discussion: """
      Pure planning on one core: no input is decoded, no output written.

      EXAMPLE
        rouse bench planner --devices 100000 --instances 3 \\
          --fan-out 1 --fan-out 100 --fan-out 10000
      """)

  @Option(help: ArgumentHelp("Devices of the fleet.", valueName: "count"))
  var devices = 100_000
  @Option(help: ArgumentHelp("Widgets of each device, 1 to 64.", valueName: "count"))
  var instances = 3
  @Option(
    help: ArgumentHelp("Widgets that each event reaches; may be repeated. (default: 1, 100, 10000)", valueName: "count")
  )
  var fanOut: [Int] = []
  @Option(help: ArgumentHelp("Decisions to make for each fan-out.", valueName: "count"))
  var decisions = 5_000_000
  @Option(help: ArgumentHelp("Selects one of many orders of events.", valueName: "number"))
  var seed: UInt64 = 1
  @OptionGroup var output: FormatOption

  private static let fanOutDefault = [1, 100, 10_000]

  func validate() throws {
    try BenchLimits.check("--devices", devices, 1...10_000_000)
    try BenchLimits.check("--instances", instances, 1...DomainBounds.instancesPerDeviceMax)
    if let wrong = fanOut.first(where: { !(1...devices * instances).contains($0) }) {
      throw ValidationError("--fan-out: found \(wrong), expected 1 to \(devices * instances), the number of widgets")
    }
    try BenchLimits.check("--decisions", decisions, 1...10_000_000_000)
  }

  func run() throws {
    let policy = try PolicyDocument(yaml: PlannerBenchmark.policyDocument, file: "benchmark policy").policy
    let wanted = fanOut.isEmpty ? Self.fanOutDefault.filter { $0 <= devices * instances } : fanOut
    var results: [(fanOut: Int, result: PlannerBenchmark.Result)] = []
    for count in wanted {
      let benchmark = PlannerBenchmark(
        devices: devices, instancesPerDevice: instances, fanOut: count, decisionsMin: decisions, seed: seed)
      results.append((count, benchmark.run(policy: policy)))
    }
    // Later runs reuse memory that earlier ones have freed, so only the first run shows the memory of a device.
    let bytes = results.first?.result.stateBytesPerDevice
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(results, bytes)))
    case .json: try Output.print(json(results, bytes))
    }
  }

  private func text(_ results: [(fanOut: Int, result: PlannerBenchmark.Result)], _ bytes: Double?) -> String {
    var text = "\(BenchMachine.lines)\n"
    text += "fleet     \(Digits.count(devices, "device")) × \(instances), seed \(seed)\n"
    if let bytes { text += "memory    \(Digits.grouped(Int(bytes))) bytes a device, resident after registering\n" }
    for (fanOut, result) in results {
      text += "fan-out   \(Digits.grouped(fanOut)): \(Digits.grouped(Int(result.decisionsPerSecond))) decisions/s"
      text += " (\(Digits.grouped(result.decisions)) in \(Digits.decimal(result.seconds, 2)) s, "
      text += "\(Digits.count(result.commands, "command")))\n"
      text += "          tables: \(Digits.grouped(Int(result.tableBytesPerDevice))) bytes a device after registering, "
      text += "\(Digits.grouped(Int(result.tableBytesPerDeviceAtEnd))) at the end\n"
    }
    return text
  }

  private func json(_ results: [(fanOut: Int, result: PlannerBenchmark.Result)], _ bytes: Double?) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.member("devices", devices)
    json.member("instancesPerDevice", instances)
    json.member("seed", seed)
    if let bytes {
      json.member("stateBytesPerDevice", rounded: bytes)
    }
    json.objects("runs", results) { element, json in
      let (fanOut, result) = element
      json.member("fanOut", fanOut)
      json.member("decisions", result.decisions)
      json.member("commands", result.commands)
      json.member("seconds", rounded: result.seconds)
      json.member("decisionsPerSecond", Int(result.decisionsPerSecond))
      json.member("registrationSeconds", rounded: result.registrationSeconds)
      json.member("tableBytesPerDevice", rounded: result.tableBytesPerDevice)
      json.member("tableBytesPerDeviceAtEnd", rounded: result.tableBytesPerDeviceAtEnd)
    }
    json.endObject()
    return json.bytes
  }
}
