import Domain
import Testing

@testable import Planning

/// Tests of hints. `PlannerHarness` gives a hint for each event, so the other tests of the planner show that hints
/// change no decision.
struct LookUpHintTests {
  @Test("a record of an event has a hint; other records and corrupt ones have none")
  func hints() throws {
    let event = DomainEvent.delay(30, id: "e1", at: PlannerHarness.noon)
    var bytes: [UInt8] = []
    LogRecord(origin: Origin(topic: "events", partition: 3, offset: 70_000), content: .event(event)).encode(
      into: &bytes)
    let hint = try #require(LookUpHint(logRecord: bytes))
    func entry(_ hint: LookUpHint) -> KeyedHash { hint.entry(hint.subject(.standard)) }
    #expect(entry(hint) == entry(LookUpHint(event)) && hint.interest == LookUpHint(event).interest)
    #expect(hint.isOf(type: event.type) && LookUpHint(event).isOf(type: event.type))
    var other = event
    other.subject = "\(other.subject)x"
    #expect(entry(hint) != entry(LookUpHint(other)) && hint.interest != LookUpHint(other).interest)
    other = event
    other.type = "\(other.type)x"
    #expect(entry(hint) != entry(LookUpHint(other)) && hint.interest == LookUpHint(other).interest)
    #expect(!hint.isOf(type: other.type) && !LookUpHint(event).isOf(type: other.type))
    #expect(LookUpHint(logRecord: Array(bytes.prefix(20))) == nil)
    bytes = []
    LogRecord(origin: nil, content: .tick).encode(into: &bytes)
    #expect(LookUpHint(logRecord: bytes) == nil)
    #expect(LookUpHint(logRecord: []) == nil)
  }

  @Test("a planner of any size accepts any number of hints for known and unknown subjects")
  func anyNumber() {
    var harness = PlannerHarness()
    let events = (0..<40).map {
      DomainEvent.delay(30, id: "e\($0)", subject: "flight/UA\($0)", at: PlannerHarness.noon)
    }
    for count in [0, 1, 16, 40] { harness.planner.prefetch(events.prefix(count).map { LookUpHint($0) }) }
    harness.register(.phone())
    for event in events { harness.event(event) }
    let before = harness.decisions
    for count in [0, 1, 16, 40] { harness.planner.prefetch(events.prefix(count).map { LookUpHint($0) }) }
    #expect(harness.decisions == before)
  }
}
