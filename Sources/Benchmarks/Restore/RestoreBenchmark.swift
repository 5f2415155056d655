import Foundation
import Installation
import KafkaClient
import Logging
import Pipeline
import Synchronization

/// Measures how long planners take to restore a fleet's state, and the memory that they need.
///
/// The state is written by another process first, so that this process starts with its own memory untouched.
package struct RestoreBenchmark {
  private let broker: BenchmarkBroker
  private let devices: Int
  private let partitions: Int
  private let workers: Int
  private let progress: (String) -> Void

  /// The approximate size of a device's state in the topic, in bytes.
  private static let stateBytes = 250
  /// The longest time without progress before a restore gives up, in seconds.
  private static let patienceSeconds = 600.0

  /// Creates a benchmark.
  /// - Parameters:
  ///   - broker: the broker to run on.
  ///   - devices: the number of devices of the fleet.
  ///   - partitions: the number of partitions of each topic.
  ///   - workers: the number of planner threads.
  ///   - progress: called with a few words before each part of the work.
  package init(
    broker: BenchmarkBroker, devices: Int, partitions: Int, workers: Int, progress: @escaping (String) -> Void
  ) {
    self.broker = broker
    self.devices = devices
    self.partitions = partitions
    self.workers = workers
    self.progress = progress
  }

  /// Returns the number of state records that a fleet and its events leave, and their size in bytes, both roughly.
  package static func stateSize(devices: Int, events: Int) -> (records: Int, bytes: Int) {
    (devices + 2 * events, devices * stateBytes + events * (stateBytes + 100))
  }

  /// Plans a fleet's registrations and events, so that their state is in the topic. Runs in the other process.
  /// - Parameters:
  ///   - broker: the broker, whose topics exist already.
  ///   - prefix: the prefix of the topics.
  ///   - partitions: the number of partitions of each topic.
  ///   - load: the fleet.
  ///   - events: the number of events to plan after the registrations.
  /// - Throws: ``BenchmarkError`` when the pipeline stalls or fails, `KafkaError` when the broker does.
  package static func writeState(
    broker: BenchmarkBroker, prefix: String, partitions: Int, load: FleetLoad, events: Int
  ) throws {
    let stage = try BenchmarkStage(
      broker: broker, prefix: prefix, partitions: partitions, planning: PlannerSettings())
    let feeder = try stage.feeder(load)
    try feeder.feedFleet()
    let records = try partitions + load.devices + feeder.feedEvents(0..<events)
    stage.startPlanners(1)
    try stage.wait("registering") { stage.counters[.logRecordsPlanned] >= records }
    _ = try stage.waitForCommit()
    try stage.end()
  }

  /// Restores the fleet `rounds` times from the topic, then `rounds` times from snapshots.
  /// - Parameters:
  ///   - rounds: at least 1.
  ///   - writeState: has another process call ``writeState(broker:prefix:partitions:load:events:)`` with this prefix.
  /// - Throws: ``BenchmarkError`` when devices are missing afterwards, `KafkaError` when the broker fails, and what
  ///   `writeState` throws.
  package func run(rounds: Int, writeState: (_ prefix: String) throws -> Void) throws -> [RestoreRound] {
    let stage = try BenchmarkStage(broker: broker, partitions: partitions, planning: PlannerSettings())
    let prefix = stage.settings.topics.prefix
    progress("writing the state")
    try writeState(prefix)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(prefix)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var found: [RestoreRound] = []
    for source in RestoreSource.allCases {
      if source == .snapshot {
        progress("writing snapshots")
        // Planners write a snapshot at an orderly end.
        _ = try restore(prefix, .topic, snapshots: folder.path)
      }
      for round in 1...rounds {
        progress("restoring from the \(source.rawValue), round \(round) of \(rounds)")
        found.append(try restore(prefix, source, snapshots: source == .topic ? nil : folder.path))
      }
    }
    try stage.remove()
    return found
  }

  /// Starts planners, waits until all partitions are restored, and ends them.
  /// - Parameter snapshots: the folder of snapshots; nil for none.
  private func restore(_ prefix: String, _ source: RestoreSource, snapshots: String?) throws -> RestoreRound {
    let log = RestoreLog()
    var planning = PlannerSettings()
    planning.snapshotFolder = snapshots
    let stage = try BenchmarkStage(
      broker: broker, prefix: prefix, partitions: partitions, planning: planning,
      logHandler: { _ in RestoreLogHandler(log: log) })
    ProcessMemory.restartPeak()
    let start = ProcessUsage.now()
    stage.startPlanners(workers)
    try stage.wait("restoring", patience: Self.patienceSeconds) { log.restored.count >= partitions }
    let usage = ProcessUsage.now() - start
    let peak = ProcessMemory.peakBytes
    try stage.end()
    return try round(of: log.restored, source, processorSeconds: usage.processorSeconds, peakBytes: peak)
  }

  /// Sums up the restored partitions.
  /// - Throws: ``BenchmarkError`` when devices are missing, or when nothing came from the source.
  private func round(
    of restored: [RestoreLog.Restored], _ source: RestoreSource, processorSeconds: Double, peakBytes: Int?
  ) throws(BenchmarkError) -> RestoreRound {
    let found = restored.reduce(0) { $0 + $1.devices }
    guard found == devices else { throw BenchmarkError("\(found) of \(devices) devices came back") }
    let records = restored.reduce(0) { $0 + (source == .topic ? $1.fromTopic : $1.fromSnapshot) }
    guard records > 0 else { throw BenchmarkError("nothing was restored from the \(source.rawValue)") }
    let began = restored.map { $0.endSeconds - $0.seconds }.min() ?? 0
    let ended = restored.map(\.endSeconds).max() ?? 0
    return RestoreRound(
      source: source, wallSeconds: ended - began, processorSeconds: processorSeconds, records: records,
      peakBytes: peakBytes)
  }
}

/// The sources from which a planner restores its state.
package enum RestoreSource: String, CaseIterable, Sendable {
  /// The compacted state topic.
  case topic
  /// A local snapshot, and the newer records of the state topic.
  case snapshot
}

/// The figures of one restore of a fleet.
package struct RestoreRound: Sendable {
  /// The source of the state.
  package var source: RestoreSource
  /// The time from the start of the first partition's restore to the end of the last one's.
  package var wallSeconds: Double
  /// The processor time of the whole process meanwhile.
  package var processorSeconds: Double
  /// The number of records read from the topic, or from the snapshot without the topic's newer records.
  package var records: Int
  /// The largest resident size of the process; nil if the system does not report it.
  package var peakBytes: Int?
}

/// Collects what the planners log about restored partitions.
final class RestoreLog: Sendable {
  /// One restored partition.
  struct Restored {
    /// The number of records read from the state topic.
    var fromTopic: Int
    /// The number of records read from a snapshot.
    var fromSnapshot: Int
    /// The number of devices in the partition after the restore.
    var devices: Int
    /// The duration of the restore.
    var seconds: Double
    /// The end of the restore, in seconds of ``MonotonicClock``.
    var endSeconds: Double
  }

  private let lines = Mutex<[Restored]>([])

  /// The partitions restored so far.
  var restored: [Restored] { lines.withLock { $0 } }

  /// Adds a partition.
  func add(_ line: Restored) { lines.withLock { $0.append(line) } }
}

/// Passes the log line "partition restored" to a ``RestoreLog``, and prints errors to standard error.
private struct RestoreLogHandler: LogHandler {
  let log: RestoreLog
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]
  private var console = PrintableLogHandler.standardError(label: "rouse")

  init(log: RestoreLog) { self.log = log }

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
      RestoreLog.Restored(
        fromTopic: topic, fromSnapshot: snapshot, devices: devices, seconds: Double(milliseconds) / 1000,
        endSeconds: MonotonicClock.seconds()))
  }
}
