import Domain
import JSON
import Planning

/// A planner and what its decisions are written with. A struct of its own, because here the compiler sees that writing a
/// decision does not touch the planner; as properties of a class each decision would copy the planner's tables, reference
/// by reference.
struct PlannerDesk {
  var planner: Planner
  private var output = PlannerOutput()
  /// Has the bytes of a batch while decisions are written to it.
  private var writer = JSONWriter()
  private var decisionWriter = DecisionWriter()

  init(_ planner: consuming Planner) { self.planner = planner }

  /// Payloads of the last step that are near or above the platform's limit.
  var largePayloads: [LargePayload] { output.largePayloads }

  /// Prepares for records that come next; see `Planner.prefetch`. Mutating, because whoever holds the desk would else copy
  /// it for the call.
  mutating func prefetch(_ hints: [LookUpHint]) { planner.prefetch(hints) }

  /// Forgets what the last step said.
  mutating func clear() { output.removeAll() }

  /// Goes on with the record in hand and writes out what was decided.
  /// - Parameters:
  ///   - partition: of the log; the planner's.
  ///   - logsDecisions: false counts decisions instead of writing them.
  /// - Returns: whether it is done.
  mutating func advance(
    into batch: inout OutputBatch, partition: Int32, decisionsMax: Int, logsDecisions: Bool
  ) -> Bool {
    let done = planner.advance(into: &output, decisionsMax: decisionsMax)
    if !logsDecisions { batch.countUnlogged(output.decisionCount) }
    writer.exchange(&batch.bytes)
    for i in 0..<(logsDecisions ? output.decisionCount : 0) {
      let start = writer.bytes.count
      decisionWriter.beginDocument(ofDecision: i, of: output, by: planner, to: &writer)
      let end = writer.bytes.count
      decisionWriter.write(i, of: output, by: planner, to: &writer)
      batch.note(.decisions(partition), key: start..<end, value: end..<writer.bytes.count)
    }
    for i in 0..<output.commandCount {
      let start = writer.bytes.count
      decisionWriter.beginDocument(ofCommand: i, of: output, by: planner, to: &writer)
      let end = writer.bytes.count
      decisionWriter.write(command: i, of: output, by: planner, to: &writer)
      batch.note(.commands(partition), key: start..<end, value: end..<writer.bytes.count)
    }
    writer.exchange(&batch.bytes)
    return done
  }
}
