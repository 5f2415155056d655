import JSON
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

/// Writes decisions and commands as JSON: decisions as lines of blocks, each command as a record with the device's id as its key.
package struct JSONRecorder: PlannerRecorder {
  /// Holds the bytes of the batch while records are written to it.
  private var writer = JSONWriter()
  private var decisionWriter = DecisionWriter()

  /// Makes the recorder of one planner.
  package init() {}

  /// Writes one JSON document for each decision, each a line of a block.
  package mutating func recordDecisions(
    _ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch
  ) {
    guard output.decisionCount > 0 else { return }
    let partition = planner.partition
    batch.beginDecisions(of: partition, toAdd: output.decisionCount)
    writer.exchange(&batch[blocksOf: partition].bytes)
    for index in 0..<output.decisionCount {
      batch[blocksOf: partition].beginLine(&writer)
      decisionWriter.write(index, of: output, by: planner, to: &writer)
      batch[blocksOf: partition].endLine(at: writer.count)
    }
    writer.exchange(&batch[blocksOf: partition].bytes)
    batch.endDecisions(of: partition)
  }

  /// Writes one JSON document for each command.
  package mutating func recordCommands(
    _ output: PlannerOutput, by planner: borrowing Planner, into batch: inout OutputBatch
  ) {
    writer.exchange(&batch.bytes)
    for index in 0..<output.commandCount {
      let start = writer.bytes.count
      decisionWriter.beginDocument(ofCommand: index, of: output, by: planner, to: &writer)
      let end = writer.bytes.count
      decisionWriter.write(command: index, of: output, by: planner, to: &writer)
      batch.note(.commands(planner.partition), key: start..<end, value: end..<writer.bytes.count)
    }
    writer.exchange(&batch.bytes)
  }
}
