import Domain
import Observing
import Planning

/// A planner and the recorder that writes what it decides, in a value of their own inside of `PartitionProcessor`: here the compiler sees
/// that recording a decision changes the recorder and not the planner. With both as properties of a class it could not, and would retain
/// each of the planner's tables for each decision.
struct RecordingPlanner: ~Copyable {
  var planner: Planner
  private var recorder: any PlannerRecorder
  private var output = PlannerOutput()

  /// Takes over a planner.
  ///
  /// - Parameters:
  ///   - planner: The planner of one partition.
  ///   - recorder: A recorder that no other planner uses, because recorders cache parts that the records of one planner share.
  init(_ planner: consuming Planner, recorder: any PlannerRecorder) {
    self.planner = planner
    self.recorder = recorder
  }

  /// The result of a step. It is returned as a whole, because every look from the processor at a part of the planner is checked for
  /// conflicting accesses while the program runs.
  struct Step {
    /// Whether the record is done.
    var isDone = true
    /// Whether there was a record to continue with.
    var hasAdvanced = false
    /// The place that the planner has reached in the record; nil if it is done.
    var cursor: RecordCursor?
    /// The payloads of the step that are near or above the platform's limit.
    var largePayloads: [LargePayload] = []
    /// The claims to tokens that followed from the step.
    var claims: [TokenClaim] = []
    /// The planner's count of events with too many interest keys.
    var keysLeftOut = 0
    /// The planner's count of events with a number that is not exact.
    var inexactNumbers = 0
  }

  /// Continues a sweep; see `Planner.sweep`.
  func sweep(_ sweep: inout ScreenSweep, at instant: Timestamp) -> ScreenFigures? { planner.sweep(&sweep, at: instant) }

  /// Adds the counts of what was decided and of what has ended to the metrics, and begins at 0.
  ///
  /// - Parameter metrics: The metrics of planning.
  mutating func flushCounts(into metrics: PlanningMetrics) {
    recorder.flushCounts(into: metrics)
    let outdated = planner.takeOutdatedRegistrations()
    if outdated > 0 { metrics.registrationsOutdated.add(outdated) }
    let ofOtherKinds = planner.takeInstancesOfOtherKinds()
    if ofOtherKinds > 0 { metrics.instancesOfOtherKinds.add(ofOtherKinds) }
    let refused = planner.takeRefusedRefunds()
    if refused > 0 { metrics.refundsRefused.add(refused) }
    planner.takeOutcomes { kind, counts in
      if counts.tokensUnspent > 0 { metrics.tokensUnspent.add(counts.tokensUnspent, [kind.text]) }
      if !counts.fetches.isEmpty {
        metrics.pushToFetch.add(buckets: counts.fetches.buckets, sum: counts.fetches.sum, [kind.text])
      }
      if !counts.shownEvents.isEmpty {
        metrics.eventToFetch.add(buckets: counts.shownEvents.buckets, sum: counts.shownEvents.sum, [kind.text])
      }
    }
  }

  /// Continues with the current record, if there is one, and records what was decided.
  ///
  /// - Parameters:
  ///   - batch: Gets the records of decisions and commands.
  ///   - decisionsMax: The most decisions of this step.
  /// - Returns: The result.
  mutating func advance(into batch: inout OutputBatch, decisionsMax: Int) -> Step {
    var step = Step(keysLeftOut: planner.keysLeftOut.events)
    step.inexactNumbers = planner.inexactNumbers.events
    if planner.isIdle { return step }
    step.hasAdvanced = true
    step.isDone = planner.advance(into: &output, decisionsMax: decisionsMax)
    recorder.recordDecisions(output, by: planner, into: &batch)
    recorder.recordCommands(output, by: planner, into: &batch)
    if !step.isDone { step.cursor = planner.cursor }
    if !planner.claims.isEmpty { step.claims = planner.takeClaims() }
    step.inexactNumbers = planner.inexactNumbers.events
    if !output.largePayloads.isEmpty { step.largePayloads = output.largePayloads }
    step.keysLeftOut = planner.keysLeftOut.events
    return step
  }
}
