import Domain

@testable import Installation
@testable import Pipeline

/// The stage of a planner worker.
final class PlannerStage: SimulatedStage {
  private let number: Int
  private var worker: PlannerWorker?

  init(number: Int, run: PipelineRun) {
    self.number = number
    super.init(name: "planner-\(number)", run: run)
  }

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    let worker = PlannerWorker(
      settings: run.scenario.settings, number: number, initialPolicy: run.initialPolicy, stop: stop,
      counters: run.counters, logger: run.story.logger(name, run), cluster: run.cluster(process, as: .planner),
      clock: clock,
      store: run.scenario.keepsSnapshots ? SimulatedSnapshots(disk: run.disk, process: process) : nil)
    self.worker = worker
    try worker.start()
  }

  override func turn() throws(PipelineError) {
    try worker?.workOnce()
    for processor in worker?.partitions.processors ?? [] { run.census(processor.partition, of: processor) }
  }
  override func invariants() -> [String] { worker?.checkInvariants() ?? [] }
  override func finish() throws(PipelineError) { worker?.finish() }
  override func letGo() { worker?.end() }
  override func forget() { worker = nil }

  override var hasDueTimer: Bool {
    let now = run.broker.time.brokerMilliseconds * 1000
    return worker?.partitions.processors.contains { ($0.nextTimer?.microseconds ?? .max) <= now } ?? false
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
      case .stopped: "\(partition) stopped"
      }
    }
    return super.standing + " \(lives)"
  }
}
