import Domain
import Testing

@testable import Planning

/// Tests of hashes. `PlannerHarness` prefetches for each event, so the other tests of the planner show that this changes no decision.
struct EventHashesTests {
  @Test("a record of an event has the hashes of the event; other records and corrupt ones have none")
  func hashes() throws {
    let event = DomainEvent.delay(30, id: "e1", at: PlannerHarness.noon)
    func hashes(_ event: DomainEvent) -> EventHashes { EventHashes(event, key: .standard) }
    var bytes: [UInt8] = []
    LogRecord(origin: Origin(topic: "events", partition: 3, offset: 70_000), content: .event(event)).encode(
      into: &bytes)
    let made = try #require(EventHashes(logRecord: bytes, key: .standard))
    #expect(made.entry == hashes(event).entry && made.subject.value == hashes(event).subject.value)
    #expect(made.interest == hashes(event).interest && made.type == hashes(event).type)
    var other = event
    other.subject = "\(other.subject)x"
    #expect(made.entry != hashes(other).entry && made.interest != hashes(other).interest)
    #expect(made.type == hashes(other).type)
    other = event
    other.type = "\(other.type)x"
    #expect(made.entry != hashes(other).entry && made.interest == hashes(other).interest)
    #expect(made.type != hashes(other).type && made.type == EventHashes.number(ofType: event.type))
    #expect(made.entry != EventHashes(event, key: HashKey(low: 1, high: 2)).entry)
    #expect(EventHashes(logRecord: Array(bytes.prefix(20)), key: .standard) == nil)
    bytes = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    #expect(EventHashes(logRecord: bytes, key: .standard) == nil)
    #expect(EventHashes(logRecord: [], key: .standard) == nil)
  }

  @Test("a planner of any size prefetches for any number of known and unknown subjects")
  func anyNumber() {
    var harness = PlannerHarness()
    let events = (0..<40).map {
      DomainEvent.delay(30, id: "e\($0)", subject: "flight/UA\($0)", at: PlannerHarness.noon)
    }
    func prefetch() {
      for count in [0, 1, 16, 40] {
        let hashes = events.prefix(count).map { EventHashes($0, key: harness.planner.hashKey) }
        harness.planner.prefetch(hashes.span)
      }
    }
    prefetch()
    harness.register(.phone())
    for event in events { harness.event(event) }
    let before = harness.decisions
    prefetch()
    #expect(harness.decisions == before)
  }
}
