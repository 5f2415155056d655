import KafkaClient
import Logging
import Synchronization

@testable import Pipeline

/// One process with one stage, and the supervisor that starts it again.
class Stage {
  let name: String
  unowned let run: PipelineRun
  /// The difference of the process's wall clock from the broker's, in µs.
  var skew: Int64 = 0 { didSet { clock?.skew = skew } }
  private(set) var isWorking = false
  private(set) var process: SimulatedProcess?
  private var clock: SimulatedClock?
  private(set) var stop = StopSignal()
  private var upAt: Int64 = 0

  init(name: String, run: PipelineRun) {
    self.name = name
    self.run = run
  }

  var isUp: Bool { process != nil }
  var hasDueTimer: Bool { false }
  /// The partitions that it plans.
  var planning: [Int32] { [] }
  /// Whether a timer is set, due or not.
  var isWaiting: Bool { false }
  var standing: String { "\(name) \(isUp ? "up" : "down until \(upAt)")" }

  // The actions of a stage; subclasses perform them.
  func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {}
  func turn() throws(PipelineError) {}
  /// Returns a sentence for each invariant of the stage that is violated between two turns.
  func invariants() -> [String] { [] }
  func finish() throws(PipelineError) {}
  func letGo() {}
  /// Drops the stage without another call to it.
  func forget() {}

  func step() {
    isWorking = true
    defer { isWorking = false }
    do throws(PipelineError) {
      if process == nil {
        guard run.broker.time.now >= upAt else { return }
        let process = SimulatedProcess(name: name, broker: run.broker, fate: run)
        let clock = SimulatedClock(process: process)
        clock.skew = skew
        self.process = process
        self.clock = clock
        stop = StopSignal()
        run.story.add(run.broker.time.now, "\(name) starts")
        try start(on: process, clock)
      } else {
        try turn()
        // A crash may come in the middle of a turn, where invariants need not hold.
        if process?.isDead == false { check() }
      }
    } catch {
      failed(error)
    }
    if process?.isDead == true { gone(downFor: Int64(run.below(3_000_000))) }
  }

  private func check() {
    for violation in invariants() { run.findings.append("\(name): \(violation)") }
  }

  private func failed(_ error: PipelineError) {
    guard process?.isDead == false else { return }
    run.note("\(name.prefix(while: { $0 != "-" })) started anew")
    run.story.add(run.broker.time.now, "\(name) failed: \(error)")
    if !error.isWorthRetrying { run.findings.append("\(name) gave up: \(error)") }
    letGo()
    gone(downFor: Int64(run.below(1_000_000)))
  }

  /// Ends the stage in order.
  func end(downFor time: Int64) {
    guard process != nil, !isWorking else { return }
    isWorking = true
    defer { isWorking = false }
    stop.ask()
    run.story.add(run.broker.time.now, "\(name) is asked to end")
    do throws(PipelineError) { try finish() } catch {
      run.story.add(run.broker.time.now, "\(name) did not finish: \(error)")
    }
    letGo()
    gone(downFor: time)
  }

  /// Kills the process between two turns.
  func kill(downFor time: Int64) {
    process?.crash()
    gone(downFor: time)
  }

  private func gone(downFor time: Int64) {
    if let process {
      process.hasEnded = true
    }
    forget()
    process = nil
    clock = nil
    upAt = time == .max ? .max : run.broker.time.now + time
  }
}

final class IntakeStage: Stage {
  private var intake: Intake?

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    let intake = Intake(
      settings: run.scenario.settings, stop: stop, counters: run.counters, logger: run.story.logger(name, run),
      cluster: process, clock: clock)
    self.intake = intake
    try intake.start()
  }

  override func turn() throws(PipelineError) { try intake?.workOnce() }
  override func invariants() -> [String] { intake?.checkInvariants() ?? [] }
  override func finish() throws(PipelineError) { try intake?.finish() }
  override func letGo() { intake?.end() }
  override func forget() { intake = nil }
}

final class PlannerStage: Stage {
  private let number: Int
  private var worker: PlannerWorker?

  init(number: Int, run: PipelineRun) {
    self.number = number
    super.init(name: "planner-\(number)", run: run)
  }

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    let worker = PlannerWorker(
      settings: run.scenario.settings, number: number, initialPolicy: run.initialPolicy, stop: stop,
      counters: run.counters, logger: run.story.logger(name, run), cluster: process, clock: clock,
      store: run.scenario.keepsSnapshots ? SimulatedSnapshots(disk: run.disk, process: process) : nil)
    self.worker = worker
    try worker.start()
  }

  override func turn() throws(PipelineError) {
    try worker?.workOnce()
    for processor in worker?.partitions.processors ?? [] { run.census(processor.partition, of: processor) }
  }
  override func invariants() -> [String] { worker?.checkInvariants() ?? [] }
  override func finish() throws(PipelineError) { try worker?.finish() }
  override func letGo() { worker?.end() }
  override func forget() { worker = nil }

  override var hasDueTimer: Bool {
    let now = run.broker.time.brokerMilliseconds * 1000
    return worker?.partitions.processors.contains { ($0.nextTimer ?? .max) <= now } ?? false
  }

  override var planning: [Int32] { worker?.partitions.processors.map(\.partition) ?? [] }

  override var isWaiting: Bool {
    worker?.partitions.processors.contains { $0.nextTimer != nil } ?? false
  }

  override var standing: String {
    let lives = (worker?.partitions.lives ?? [:]).sorted { $0.key < $1.key }.map { partition, life in
      switch life {
      case .waiting: "\(partition) waiting"
      case .restoring(let restore): "\(partition) restoring \(restore.reached) of \(restore.end)"
      case .planning(let processor): "\(partition) planning at \(processor.position.nextOffset)"
      }
    }
    return super.standing + " \(lives)"
  }
}

final class AuditStage: Stage {
  private var feed: AuditFeed?

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    let feed = AuditFeed(
      settings: run.scenario.settings, sink: SimulatedAuditSink(audit: run.audit, process: process, stop: stop),
      stop: stop, counters: run.counters, logger: run.story.logger(name, run), longRefusal: .seconds(60),
      cluster: process,
      clock: clock)
    self.feed = feed
    try feed.start()
  }

  override func turn() throws(PipelineError) { try feed?.workOnce() }
  override func invariants() -> [String] { feed?.checkInvariants() ?? [] }
  override func letGo() { feed?.end() }
  override func forget() { feed = nil }
}

/// The events of a run in order, to be read when a seed fails.
final class Story: Sendable {
  private let lines = Mutex<[String]>([])
  let isKept: Bool
  private let now = Atomic<Int64>(0)

  init(isKept: Bool) { self.isKept = isKept }

  /// Sets the time of the next lines.
  func pass(_ time: Int64) { if isKept { now.store(time, ordering: .relaxed) } }

  func add(_ time: Int64, _ line: @autoclosure () -> String) {
    guard isKept else { return }
    now.store(time, ordering: .relaxed)
    let line = line()
    lines.withLock { $0.append("\(time / 1000) ms  \(line)") }
  }

  var text: String { lines.withLock { $0.joined(separator: "\n") } }

  func logger(_ name: String, _ run: PipelineRun) -> Logger {
    guard isKept else { return Logger(label: name) { _ in SwiftLogNoOpLogHandler() } }
    return Logger(label: name) { StoryLog(name: $0, story: self) }
  }

  /// Writes a stage's log into the story.
  private struct StoryLog: LogHandler {
    let name: String
    let story: Story
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      story.add(story.now.load(ordering: .relaxed), "\(name): \(event.message) \(words.joined(separator: " "))")
    }
  }
}
