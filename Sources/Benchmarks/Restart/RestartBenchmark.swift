import Foundation
import Installation
import KafkaClient
import Pipeline

/// Measures how long decisions stand still when a planner process ends: the longest time in which readers of committed records
/// see no new decision of a partition.
///
/// Planners are processes of their own, with the defaults of `rouse run` and local snapshots. Events reach every partition all
/// the time, so that a process that is killed leaves a transaction open.
package struct RestartBenchmark {
  private let stage: BenchmarkStage
  private let load: FleetLoad
  private let planner: (_ settings: [String]) -> ChildProgram
  private let settings: [String]
  private let folder: URL
  private let progress: (String) -> Void

  /// The number of events that are sent per second.
  package static let eventsPerSecond = 20
  /// The longest wait until all partitions have new decisions, in seconds.
  private static let patienceSeconds = 120.0
  /// The time before and after the end of a process in which decisions are watched, in seconds.
  private static let calmSeconds = 3.0

  /// Creates a benchmark.
  /// - Parameters:
  ///   - stage: the topics and the fleet's place; no stage of it may run.
  ///   - load: the fleet and its events. Each event must reach a device of each partition.
  ///   - workers: the number of planner threads of each process.
  ///   - planner: returns the command that runs planners with settings, each `key=value`.
  ///   - progress: called with a few words before each part of the work.
  /// - Throws: Foundation's error when the folder of snapshots cannot be made.
  package init(
    stage: BenchmarkStage, load: FleetLoad, workers: Int, planner: @escaping (_ settings: [String]) -> ChildProgram,
    progress: @escaping (String) -> Void
  ) throws {
    self.stage = stage
    self.load = load
    self.planner = planner
    self.progress = progress
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(stage.settings.topics.prefix)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    settings = [
      "topics.prefix=\(stage.settings.topics.prefix)", "topics.events=\(stage.settings.eventTopics[0])",
      "group=\(stage.settings.group)", "timestamps=event", "roles=planner", "planner.workers=\(workers)",
      "planner.snapshotFolder=\(folder.path)", "log.level=critical",
    ]
  }

  /// Ends and kills processes.
  /// - Parameter rounds: how often each is done.
  /// - Returns: a round for each end, in the order of ``RestartKind``.
  /// - Throws: ``BenchmarkError`` when decisions do not go on, `KafkaError` when the broker fails.
  package func run(rounds: Int) throws -> [RestartRound] {
    defer { try? FileManager.default.removeItem(at: folder) }
    progress("planning the fleet")
    try stage.feeder(load).feedFleet()
    let watch = DecisionWatch(
      kafka: stage.broker.kafka, topic: stage.settings.topics.decisions, partitions: stage.partitions)
    watch.start()
    let (load, kafka, log, partitions) = (load, stage.broker.kafka, stage.settings.topics.log, stage.partitions)
    let traffic = SteadyEvents(perSecond: Self.eventsPerSecond) {
      try LoadFeeder(load, kafka: kafka, log: log, partitions: partitions)
    }
    var processes: [String: Process] = [:]
    defer { for process in processes.values { process.terminate() } }
    traffic.start()
    processes["one"] = try start("one")
    try wait(watch, since: MonotonicClock.seconds())
    // A planner writes whole snapshots at an orderly end.
    try end(&processes, "one")
    processes["one"] = try start("one")
    try wait(watch, since: MonotonicClock.seconds())
    var found: [RestartRound] = []
    for kind in RestartKind.allCases {
      for round in 1...rounds {
        progress("\(kind.words), round \(round) of \(rounds)")
        if kind == .killedAndReplaced, processes["two"] == nil { processes["two"] = try start("two") }
        try settle(watch)
        found.append(RestartRound(kind: kind, seconds: try perform(kind, &processes, watch)))
        if kind == .killedAndReplaced, round < rounds { processes["one"] = try start("one") }
        try traffic.check()
      }
    }
    for name in processes.keys.sorted() { try end(&processes, name) }
    try traffic.end()
    try watch.end()
    return found
  }

  /// Ends a process and returns the longest silence of a partition around it, in seconds.
  private func perform(
    _ kind: RestartKind, _ processes: inout [String: Process], _ watch: DecisionWatch
  ) throws -> Double {
    let began = MonotonicClock.seconds()
    switch kind {
    case .ended: try end(&processes, "one")
    case .killed, .killedAndReplaced: kill(&processes, "one")
    }
    if kind != .killedAndReplaced { processes["one"] = try start("one") }
    try wait(watch, since: began + Self.calmSeconds)
    return watch.longestSilence(since: began - 1)
  }

  /// Waits until decisions of all partitions have come without a pause for some seconds.
  private func settle(_ watch: DecisionWatch) throws {
    let end = MonotonicClock.seconds() + Self.patienceSeconds
    while MonotonicClock.seconds() < end {
      let now = MonotonicClock.seconds()
      if watch.longestSilence(since: now - 2 * Self.calmSeconds, to: now) < 1 { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
    throw BenchmarkError("decisions did not come without a pause within \(Int(Self.patienceSeconds)) s")
  }

  /// Waits until every partition has a decision that was seen after a moment.
  private func wait(_ watch: DecisionWatch, since moment: Double) throws {
    let end = moment + Self.patienceSeconds
    while MonotonicClock.seconds() < end {
      if try watch.haveDecisions(since: moment) { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw BenchmarkError("some partitions had no decision for \(Int(Self.patienceSeconds)) s")
  }

  private func start(_ name: String) throws -> Process {
    let program = planner(settings + ["instance=\(name)"])
    let process = Process()
    process.executableURL = program.executable
    process.arguments = program.arguments
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func end(_ processes: inout [String: Process], _ name: String) throws {
    guard let process = processes.removeValue(forKey: name) else { return }
    process.terminate()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError("a planner process ended with \(process.terminationStatus) instead of in order")
    }
  }

  private func kill(_ processes: inout [String: Process], _ name: String) {
    guard let process = processes.removeValue(forKey: name) else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// The ways in which a planner process ends.
package enum RestartKind: String, CaseIterable, Sendable {
  /// SIGTERM, then the same process again, alone.
  case ended
  /// SIGKILL, then the same process again, alone.
  case killed
  /// SIGKILL, and another process takes over.
  case killedAndReplaced

  /// The way in which the process ends, in words for a report.
  package var words: String {
    switch self {
    case .ended: "ended in order and started again"
    case .killed: "killed and started again"
    case .killedAndReplaced: "killed, and another process takes over"
    }
  }
}

/// The figure of one end of a process.
package struct RestartRound: Sendable {
  /// The way in which the process ended.
  package var kind: RestartKind
  /// The longest time in which a reader of committed records saw no new decision of a partition.
  package var seconds: Double
}

/// Writes events into the log at a steady rate, on a separate thread.
private final class SteadyEvents: Sendable {
  private let perSecond: Int
  private let thread = BenchmarkThread(name: "bench-events")
  private let makeFeeder: @Sendable () throws -> LoadFeeder

  /// - Parameters:
  ///   - perSecond: the events of a second.
  ///   - makeFeeder: makes the feeder, on the thread that uses it.
  init(perSecond: Int, makeFeeder: @escaping @Sendable () throws -> LoadFeeder) {
    self.perSecond = perSecond
    self.makeFeeder = makeFeeder
  }

  /// Starts the thread.
  func start() { thread.start { [self] in try send() } }

  /// Checks that every event so far was written.
  /// - Throws: the feeder's error when an event could not be written.
  func check() throws { try thread.check() }

  /// Ends the thread.
  /// - Throws: the feeder's error when an event could not be written.
  func end() throws { try thread.end() }

  private func send() throws {
    let feeder = try makeFeeder()
    let start = MonotonicClock.seconds()
    var number = 0
    while !thread.isAsked {
      _ = try feeder.feedEvents(number..<number + 1)
      number += 1
      Thread.sleep(forTimeInterval: max(0, start + Double(number) / Double(perSecond) - MonotonicClock.seconds()))
    }
  }
}
