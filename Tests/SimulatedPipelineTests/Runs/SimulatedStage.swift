@testable import Installation
@testable import Pipeline

/// One process with one stage, and the supervisor that starts it again.
class SimulatedStage {
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
    run.note("\(name.prefix(while: { $0 != "-" })) restarted")
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
