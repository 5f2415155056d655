@testable import Installation
@testable import Pipeline

/// The stage of the audit feed.
final class AuditStage: SimulatedStage {
  private var feed: AuditFeed?

  override func start(on process: SimulatedProcess, _ clock: SimulatedClock) throws(PipelineError) {
    let feed = AuditFeed(
      settings: run.scenario.settings, sink: SimulatedAuditSink(audit: run.audit, process: process, stop: stop),
      stop: stop, counters: run.counters, logger: run.story.logger(name, run), longRefusal: .seconds(60),
      cluster: run.cluster(process, as: .audit),
      clock: clock)
    self.feed = feed
    try feed.start()
  }

  override func turn() throws(PipelineError) { try feed?.workOnce() }
  override func invariants() -> [String] { feed?.checkInvariants() ?? [] }
  override func letGo() { feed?.end() }
  override func forget() { feed = nil }
}
