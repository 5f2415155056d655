import Domain
import JSON
import Planning

/// A planner and what its decisions are written with. A struct of its own, because here the compiler sees that writing a
/// decision does not touch the planner; as properties of a class each decision would copy the planner's tables, reference
/// by reference.
struct PlannerDesk {
  var planner: Planner
  private var output = PlannerOutput()
  private var writer = JSONWriter(reserving: 4096)
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
    if logsDecisions {
      for i in 0..<output.decisionCount {
        writer.reset()
        decisionWriter.write(i, of: output, by: planner, to: &writer)
        let start = batch.bytes.count
        planner.appendDeviceID(ofDecision: i, of: output, to: &batch.bytes)
        batch.append(.decisions(partition), keyFrom: start, value: writer.bytes[...])
      }
    } else {
      batch.countUnlogged(output.decisionCount)
    }
    for i in 0..<output.commandCount {
      writer.reset()
      decisionWriter.write(command: i, of: output, by: planner, to: &writer)
      let start = batch.bytes.count
      planner.appendDeviceID(ofCommand: i, of: output, to: &batch.bytes)
      batch.append(.commands(partition), keyFrom: start, value: writer.bytes[...])
    }
    return done
  }
}
