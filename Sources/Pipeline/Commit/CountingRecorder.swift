package import Planning

/// Writes what a planner decided as another recorder does, and counts it by kind and reason for the metrics.
package struct CountingRecorder<Base: PlannerRecorder>: PlannerRecorder {
  private var base: Base
  private var tally = DecisionTally()

  /// Makes the recorder of one planner.
  ///
  /// - Parameter base: The recorder that writes.
  package init(_ base: Base) { self.base = base }

  /// Counts the decisions, commands and tokens of the step, and writes the decisions.
  package mutating func recordDecisions(
    _ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch
  ) {
    base.recordDecisions(output, by: planner, into: &batch)
    tally.count(output, by: planner)
  }

  /// Writes the commands.
  package mutating func recordCommands(
    _ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch
  ) {
    base.recordCommands(output, by: planner, into: &batch)
  }

  /// Adds the counts to the metrics, and begins at 0.
  package mutating func flushCounts(into metrics: PlanningMetrics) {
    tally.flush(into: metrics)
    base.flushCounts(into: metrics)
  }
}
