import ArgumentParser
import Domain
import Foundation
import JSON
import KafkaClient
import Logging
import Pipeline
import Synchronization

struct BenchRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "How long planners take to restore a fleet's state, and the memory they need.",
    discussion: """
      A child process writes the state to the topic first, by planning the fleet's registrations. Then planners start \
      in this process as often as there are rounds, first without and then with local snapshots; a time runs from the \
      start of the first partition's restore to the end of the last one's. Memory is the most of the first round.

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
      "Events planned before, which leave more records in the topic until the broker compacts it.", valueName: "count"))
  var events = 0
  @Option(help: ArgumentHelp("Restores; the median counts.", valueName: "count"))
  var rounds = 3
  /// The prefix of the topics to fill: the part of the child process.
  @Option(help: .hidden) var fill: String?
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--devices", devices, 1...10_000_000)
    try BenchLimits.check("--instances", instances, 1...DomainBounds.instancesPerDeviceMax)
    try BenchLimits.check("--events", events, 0...100_000_000)
    try BenchLimits.check("--rounds", rounds, 1...100)
  }

  /// Where a state came from.
  enum Source: String, CaseIterable {
    case topic, snapshot
  }

  /// What one restore took.
  struct Round {
    var source: Source
    var wallSeconds: Double
    var processorSeconds: Double
    var records: Int
    var peakBytes: Int?
  }

  /// About how many bytes a device's state takes in the topic.
  private static let stateBytes = 250

  func run() throws {
    let partitions = try kafka.partitions(
      records: devices + 2 * events, bytes: devices * Self.stateBytes + events * (Self.stateBytes + 100))
    if let fill { return try write(to: fill, partitions) }
    let broker = try kafka.broker()
    let progress = ProgressLine()
    let stage = try BenchStage(broker: broker, partitions: partitions, planning: PipelineSettings.Planning())
    progress.show("writing the state")
    try runChild(broker, stage.settings.topics.prefix, partitions)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(stage.settings.topics.prefix)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var found: [Round] = []
    for source in Source.allCases {
      if source == .snapshot {
        progress.show("writing snapshots")
        // Planners that end in order leave one.
        _ = try restore(broker, stage.settings.topics.prefix, partitions, .topic, folder: folder.path)
      }
      for round in 1...rounds {
        progress.show("restoring from the \(source.rawValue), round \(round) of \(rounds)")
        found.append(
          try restore(
            broker, stage.settings.topics.prefix, partitions, source, folder: source == .topic ? nil : folder.path))
      }
    }
    try stage.remove()
    progress.end()
    switch output.format {
    case .text: try Output.print(text(found, broker, partitions))
    case .json: try Output.print(json(found, broker, partitions))
    }
  }

  // MARK: Setup

  private func runChild(_ broker: BenchBroker, _ prefix: String, _ partitions: Int) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "bench", "restore", "--fill", prefix, "--bootstrap", broker.kafka["bootstrap.servers"] ?? "", "--partitions",
      "\(partitions)", "--devices", "\(devices)", "--instances", "\(instances)", "--events", "\(events)",
    ]
    process.arguments? += kafka.property.flatMap { ["--property", $0] }
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("writing the state failed; the reason stands above") }
  }

  /// Plans the fleet's registrations and the events, in the child.
  private func write(to prefix: String, _ partitions: Int) throws {
    let stage = try BenchStage(
      broker: kafka.broker(), prefix: prefix, partitions: partitions,
      planning: PipelineSettings.Planning())
    let load = BenchLoad(devices: devices, instances: instances, fanOut: 1, alertPercent: 45)
    let feeder = try stage.feeder(load)
    try feeder.feedFleet()
    let records = try partitions + devices + feeder.feedEvents(0..<events)
    stage.startPlanners(1)
    try stage.wait("registering") { stage.counters[.logRecordsPlanned] >= records }
    _ = try stage.waitForCommit()
    try stage.end()
  }

  // MARK: Measuring

  /// - Parameter folder: of snapshots; nil for none.
  private func restore(
    _ broker: BenchBroker, _ prefix: String, _ partitions: Int, _ source: Source, folder: String?
  ) throws -> Round {
    let log = BenchRestoreLog()
    var planning = PipelineSettings.Planning()
    planning.snapshotFolder = folder
    let stage = try BenchStage(
      broker: broker, prefix: prefix, partitions: partitions, planning: planning,
      logHandler: { _ in BenchRestoreLogHandler(log: log) })
    Machine.restartPeak()
    let start = BenchUsage.now()
    stage.startPlanners(kafka.workers)
    try stage.wait("restoring", patience: 600) { log.restored.count >= partitions }
    let usage = BenchUsage.now() - start
    let peak = Machine.peakBytes
    try stage.end()
    let restored = log.restored
    let found = restored.reduce(0) { $0 + $1.devices }
    guard found == devices else {
      throw Failure("\(Digits.grouped(found)) of \(Digits.grouped(devices)) devices came back")
    }
    let records = restored.reduce(0) { $0 + (source == .topic ? $1.fromTopic : $1.fromSnapshot) }
    guard records > 0 else { throw Failure("nothing was restored from the \(source.rawValue)") }
    let began = restored.map { $0.endSeconds - $0.seconds }.min() ?? 0
    let ended = restored.map(\.endSeconds).max() ?? 0
    return Round(
      source: source, wallSeconds: ended - began, processorSeconds: usage.processorSeconds, records: records,
      peakBytes: peak)
  }

  // MARK: Reporting

  private func text(_ rounds: [Round], _ broker: BenchBroker, _ partitions: Int) -> String {
    var text = """
      machine   \(BenchMachine.text)
      versions  \(BenchMachine.versions)
      broker    \(broker.text), \(Digits.count(partitions, "partition")), \(Digits.count(kafka.workers, "planner"))
      fleet     \(Digits.count(devices, "device")) × \(instances)

      """
    for source in Source.allCases {
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

  private func json(_ rounds: [Round], _ broker: BenchBroker, _ partitions: Int) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.key("broker")
    json.string(broker.text)
    for (key, value) in [
      ("partitions", partitions), ("workers", kafka.workers), ("devices", devices), ("instancesPerDevice", instances),
      ("events", events),
    ] {
      json.key(key)
      json.integer(value)
    }
    if let peak = rounds.first?.peakBytes {
      json.key("memoryPeakBytes")
      json.integer(peak)
    }
    for (key, source) in [("topicSeconds", Source.topic), ("snapshotSeconds", Source.snapshot)] {
      guard let seconds = rounds.filter({ $0.source == source }).map(\.wallSeconds).median else { continue }
      json.key(key)
      json.rounded(seconds)
    }
    json.key("rounds")
    json.beginArray()
    for round in rounds {
      json.beginObject()
      json.key("from")
      json.string(round.source.rawValue)
      json.key("wallSeconds")
      json.rounded(round.wallSeconds)
      json.key("processorSeconds")
      json.rounded(round.processorSeconds)
      json.key("records")
      json.integer(round.records)
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json.bytes
  }
}

/// What the planners' log told of restored partitions.
private final class BenchRestoreLog: Sendable {
  struct Restored {
    var fromTopic: Int
    var fromSnapshot: Int
    var devices: Int
    var seconds: Double
    /// Of `Machine`.
    var endSeconds: Double
  }

  private let lines = Mutex<[Restored]>([])

  var restored: [Restored] { lines.withLock { $0 } }

  func add(_ line: Restored) { lines.withLock { $0.append(line) } }
}

/// Listens for "partition restored" and prints what is worse than information.
private struct BenchRestoreLogHandler: LogHandler {
  let log: BenchRestoreLog
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]
  private var console = StreamLogHandler.standardError(label: "rouse")

  init(log: BenchRestoreLog) { self.log = log }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level > .warning { console.log(event: event) }
    func number(_ key: String) -> Int? { event.metadata?[key].flatMap { Int("\($0)") } }
    guard event.message.description == "partition restored", let topic = number("fromTopic"),
      let snapshot = number("fromSnapshot"), let devices = number("devices"), let milliseconds = number("milliseconds")
    else { return }
    log.add(
      BenchRestoreLog.Restored(
        fromTopic: topic, fromSnapshot: snapshot, devices: devices, seconds: Double(milliseconds) / 1000,
        endSeconds: Machine.seconds()))
  }
}
