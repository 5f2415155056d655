package import Planning

/// Writes what a planner decided as Kafka records. Each planner has its own recorder.
///
/// This is the planner's output port. `rouse run` uses `JSONRecorder`, which writes the JSON of the public topics, in a
/// `CountingRecorder`, which counts for the metrics.
package protocol PlannerRecorder {
  /// Writes the decisions of the planner's last step.
  ///
  /// - Parameters:
  ///   - output: The outcome of the step.
  ///   - planner: The planner that made the step. Its partition is where the decisions belong.
  ///   - batch: Gets the records.
  mutating func recordDecisions(_ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch)

  /// Writes the commands of the planner's last step.
  ///
  /// - Parameters:
  ///   - output: The outcome of the step.
  ///   - planner: The planner that made the step. Its partition is where the commands belong.
  ///   - batch: Gets the records.
  mutating func recordCommands(_ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch)

  /// Adds what was counted since the last call to the metrics. Called after each commit.
  ///
  /// - Parameter metrics: The metrics of planning.
  mutating func flushCounts(into metrics: PlanningMetrics)
}

extension PlannerRecorder {
  /// Does nothing: a recorder that only writes counts nothing.
  package mutating func flushCounts(into metrics: PlanningMetrics) {}
}
