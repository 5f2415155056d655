import JSON
package import Planning

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
