import Domain
import Planning
import Policies
import Testing

@testable import Pipeline

/// The outcomes of log records, without any I/O.
@Suite("a partition's planner")
struct PartitionProcessorTests {
  private static func processor() throws -> PartitionProcessor {
    try PartitionProcessor(
      restoring: PlannerRestore(partition: 0, partitionCount: 1), isNew: true, initialPolicy: .none)
  }

  private static func bytes(_ content: LogRecord.Content, origin: Origin? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    LogRecord(origin: origin, content: content).encode(into: &bytes)
    return bytes
  }

  /// Steps to the end of the record.
  private static func finish(_ processor: PartitionProcessor, _ batch: inout OutputBatch) -> [PlanningNote] {
    var notes: [PlanningNote] = []
    while true {
      let outcome = processor.step(into: &batch, decisionsMax: 10)
      notes += outcome.notes
      if outcome.isDone { return notes }
    }
  }

  @Test("a log record of a newer release stays where it is for the upgraded program")
  func newerRecord() throws {
    let processor = try Self.processor()
    guard case .newerFormat = processor.begin([2, 0, 0], offset: 7, timestamp: 0) else {
      Issue.record("taken")
      return
    }
    #expect(processor.position.nextOffset == 0)
    guard case .unreadable = processor.begin([1, 99], offset: 7, timestamp: 0) else {
      Issue.record("taken")
      return
    }
    #expect(processor.position.nextOffset == 8, "what is corrupt is passed over")
    #expect(processor.checkInvariants().isEmpty)
  }

  @Test("the outcome of a record is begun, repeated or read again")
  func outcomes() throws {
    let processor = try Self.processor()
    var batch = OutputBatch()
    let origin = Origin(topic: "devices", partition: 0, offset: 5)
    let forget = Self.bytes(.forget(device: "d1"), origin: origin)
    #expect(processor.begin(forget, offset: 3, timestamp: 1000) == .begun(.forget))
    #expect(Self.finish(processor, &batch).isEmpty)
    #expect(processor.position.birth == 1000)
    #expect(processor.begin(forget, offset: 3, timestamp: 1000) == .readAgain)
    #expect(processor.begin(forget, offset: 4, timestamp: 2000) == .repeated)
    #expect(processor.position.nextOffset == 5)
    #expect(processor.begin(Self.bytes(.tick), offset: 5, timestamp: 3000) == .begun(.tick))
    _ = Self.finish(processor, &batch)
    #expect(processor.isJump(to: 9) && !processor.isJump(to: 6))
    #expect(processor.checkInvariants().isEmpty)
  }

  @Test("a policy record says which policy is in force, and why it was refused")
  func policies() throws {
    let processor = try Self.processor()
    var batch = OutputBatch()
    for (offset, document) in [PipelineFixture.policy, "version: ["].enumerated() {
      let begun = processor.begin(Self.bytes(.policy(document: document)), offset: Int64(offset), timestamp: 1)
      #expect(begun == .begun(.policy))
      let notes = Self.finish(processor, &batch)
      guard notes.count == 1, case .policy(let inForce, let refused) = notes[0] else {
        Issue.record("\(notes)")
        return
      }
      #expect((refused == nil) == (offset == 0))
      #expect(inForce == processor.policy)
    }
  }

  @Test("state goes out once, the position last")
  func state() throws {
    let processor = try Self.processor()
    var batch = OutputBatch()
    _ = processor.begin(Self.bytes(.tick), offset: 0, timestamp: 1)
    _ = Self.finish(processor, &batch)
    #expect(processor.isDirty)
    processor.takeState(into: &batch)
    #expect(!processor.isDirty && batch.stateRecords > 0)
    let count = batch.stateRecords
    processor.takeState(into: &batch)
    #expect(batch.stateRecords == count)
    #expect(batch.checkInvariants().isEmpty)
  }
}
