@testable import Installation
@testable import Pipeline

/// The stage of intake.
final class IntakeStage: SimulatedStage {
  private var intake: Intake?

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    var settings = run.scenario.settings
    settings.instance = name
    let intake = Intake(
      settings: settings, stop: stop, counters: run.counters, logger: run.story.logger(name, run),
      cluster: run.cluster(process, as: .intake), clock: clock)
    self.intake = intake
    try intake.start()
  }

  override func turn() throws(PipelineError) { try intake?.workOnce() }
  override func invariants() -> [String] { intake?.checkInvariants() ?? [] }
  override func finish() throws(PipelineError) { try intake?.finish() }
  override func letGo() { intake?.end() }
  override func forget() { intake = nil }
}
