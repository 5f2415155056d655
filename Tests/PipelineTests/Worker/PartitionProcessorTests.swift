import Domain
import KafkaClient
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
    let complete = try PolicyDocument(yaml: PipelineFixture.policy, file: "policy").text
    for (offset, document) in [complete, PipelineFixture.policy, "version: ["].enumerated() {
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

  /// Processes that start together on an empty log may all append their policy.
  @Test(
    "of policies that are appended one after the other the last one is in force; the same one again changes nothing")
  func policiesAppendedTwice() throws {
    let other = PipelineFixture.policy.replacing("test.1", with: "test.2")
    func inForce(_ documents: [String]) throws -> PolicyReference {
      let processor = try Self.processor()
      var batch = OutputBatch()
      for (offset, document) in documents.enumerated() {
        let complete = try PolicyDocument(yaml: document, file: "policy").text
        let record = Self.bytes(.policy(document: complete))
        #expect(processor.begin(record, offset: Int64(offset), timestamp: 1) == .begun(.policy))
        _ = Self.finish(processor, &batch)
      }
      return processor.policy
    }
    let once = try inForce([PipelineFixture.policy])
    #expect(once.version == "test.1")
    #expect(try inForce([PipelineFixture.policy, PipelineFixture.policy]) == once)
    #expect(try inForce([PipelineFixture.policy, other]).version == "test.2")
    #expect(try inForce([other, PipelineFixture.policy]) == once)
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

  @Test("a restored partition is as old as the log time of its state, before it has planned a record")
  func restoredTime() throws {
    let processor = try Self.processor()
    #expect(processor.newestTimestamp == nil)
    var batch = OutputBatch()
    for (offset, second) in [100, 160].enumerated() as EnumeratedSequence<[Int64]> {
      _ = processor.begin(Self.bytes(.tick), offset: Int64(offset), timestamp: second * 1_000_000)
      _ = Self.finish(processor, &batch)
    }
    processor.takeState(into: &batch)
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    try batch.forEachDestination { (_, places) throws(BinaryError) in
      for place in places {
        try restore.add(
          key: Array(batch.bytes[place.key ?? 0..<0]), value: place.value.map { Array(batch.bytes[$0]) })
      }
    }
    let restored = try PartitionProcessor(restoring: restore, isNew: false, initialPolicy: .none)
    #expect(restored.position.nextOffset == 2 && restored.newestTimestamp == 160_000_000)
  }

  private static let policy = """
    version: held
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 10, minInterval: 30m }
        halfLife: 4h
        rules: [ { event: flight.delay.changed, relevance: { base: 0.9 } } ]
    """

  private static func event(_ id: Identifier, minute: Int64) -> [UInt8] {
    bytes(
      .event(
        DomainEvent(
          id: id, source: "/test", type: "flight.delay.changed", subject: "flight/UA1",
          time: Timestamp(microseconds: noon + minute * 60_000_000), fields: [])))
  }

  private static let noon: Int64 = 1_782_907_200_000_000

  private static func phone(_ device: Identifier) -> Registration {
    Registration(
      device: device, app: "com.example", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26),
      timeZone: "GMT", developerMode: false, tokens: Registration.Tokens(widgets: "aa\(device)", background: nil),
      widgets: [Registration.Widget(id: "w1", kind: "FlightStatus", pushEnabled: true, interests: ["flight/UA1"])],
      updatedAt: Timestamp(microseconds: noon))
  }

  /// Plans records: a policy, a device, an event that is sent, and one that waits for 30 minutes.
  private static func withWaitingEvent() throws -> (PartitionProcessor, OutputBatch) {
    let processor = try Self.processor()
    var batch = OutputBatch()
    let records = [
      bytes(.policy(document: try PolicyDocument(yaml: policy, file: "policy").text)),
      bytes(.registration(phone("d1"))),
      event("e1", minute: 1), event("e2", minute: 2),
    ]
    for (offset, record) in records.enumerated() {
      _ = processor.begin(record, offset: Int64(offset), timestamp: noon + Int64(offset) * 60_000_000)
      _ = finish(processor, &batch)
    }
    batch.closeBlocks()
    try #require(batch.commands == 1 && batch.decisions == 2)
    return (processor, batch)
  }

  @Test(
    "a record that is set aside is not planned, but time passes; then timers are postponed; then nothing is written")
  func setAside() throws {
    for (treatment, commands, timer) in [
      (RecordTreatment.planned, 2, nil), (.setAside, 2, nil), (.postponed, 1, 60.0), (.passedOver, 1, 0.0),
    ] as [(RecordTreatment, Int, Double?)] {
      var (processor, batch) = try Self.withWaitingEvent()
      processor.committed()
      #expect(processor.uncommitted == nil)
      let time = Self.noon + 40 * 60_000_000
      let outcome = processor.begin(Self.event("e3", minute: 40), offset: 4, timestamp: time, as: treatment)
      #expect(outcome == (treatment == .planned ? .begun(.event) : .setAside(treatment, nil)))
      #expect(processor.uncommitted == UncommittedRecords(first: 4, last: 4, count: 1))
      _ = Self.finish(processor, &batch)
      #expect(batch.commands == commands, "\(treatment)")
      #expect(processor.position.nextOffset == 5)
      // The event that waits is sent at the time of the record. So the record's own event counts as shown, if it is planned.
      // Else the event is examined again an hour later, or still at its time.
      let next = processor.nextTimer.map { Double($0.microseconds - time) / 60_000_000 }
      if treatment != .passedOver { #expect(next == timer, "\(treatment): \(String(describing: next))") }
      #expect((next == nil) == (timer == nil), "\(treatment): \(String(describing: next))")
      #expect(processor.checkInvariants().isEmpty)
    }
  }

  @Test(
    "the decisions of the blocks are those of the steps, whatever the size of a block and the places of the commits")
  func blocks() throws {
    let seed = UInt64.random(in: 0 ..< .max)
    var random = SeededRandom(seed: seed, stream: 1)
    /// Plans devices and events in steps of a few decisions.
    func lines(bytesMax: Int, commitsIn: Int) throws -> [[UInt8]] {
      let processor = try Self.processor()
      var batch = OutputBatch(blockBytesMax: bytesMax)
      var lines: [[UInt8]] = []
      func send() {
        for block in batch.closedBlocks { lines += DecisionBlock(block.bytes, count: nil).documents }
        batch.removeReady()
      }
      var records = [Self.bytes(.policy(document: try PolicyDocument(yaml: Self.policy, file: "policy").text))]
      for number in 0..<12 { records.append(Self.bytes(.registration(Self.phone("d\(number)")))) }
      for number in 0..<15 { records.append(Self.event("e\(number)", minute: Int64(number) * 7)) }
      for (offset, record) in records.enumerated() {
        _ = processor.begin(record, offset: Int64(offset), timestamp: Self.noon + Int64(offset) * 60_000_000)
        while !processor.step(into: &batch, decisionsMax: 5).isDone { send() }
        if random.chance(1, in: commitsIn) { batch.closeBlocks() }
        send()
      }
      batch.closeBlocks()
      send()
      return lines
    }
    let single = try lines(bytesMax: 1, commitsIn: 1)
    #expect(single.count >= 15 * 12)
    for line in single { #expect(try Decision(json: line).json() == line) }
    for (bytesMax, commitsIn) in [(100, 3), (2000, 4), (DecisionBlock.bytesMax, 5), (DecisionBlock.bytesMax, 1000)] {
      let found = try lines(bytesMax: bytesMax, commitsIn: commitsIn)
      #expect(found == single, "seed \(seed), blocks of \(bytesMax) bytes, a commit in \(commitsIn) records")
    }
  }

  @Test("an event with a number that a rule reads and that has more than 64 bits is told of, and its record is done")
  func inexactNumber() throws {
    var (processor, batch) = try Self.withWaitingEvent()
    let reads = Self.policy.replacing("relevance:", with: "interests: [\"delay/{data.delay}\"], relevance:")
    let document = try PolicyDocument(yaml: reads, file: "policy").text
    _ = processor.begin(Self.bytes(.policy(document: document)), offset: 4, timestamp: Self.noon)
    _ = Self.finish(processor, &batch)
    let event = DomainEvent(
      id: "n1", source: "/test", type: "flight.delay.changed", subject: "flight/UA1",
      time: Timestamp(microseconds: Self.noon), fields: [EventField(path: "data.delay", value: .inexact(1e20))])
    _ = processor.begin(Self.bytes(.event(event)), offset: 5, timestamp: Self.noon)
    #expect(Self.finish(processor, &batch) == [.inexactNumber(field: "data.delay")])
    #expect(processor.position.nextOffset == 6)
  }
}
