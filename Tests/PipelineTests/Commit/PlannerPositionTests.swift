import Domain
import Planning
import Testing

@testable import Pipeline

/// The position record of a log partition.
@Suite("the position of a planner")
struct PlannerPositionTests {
  @Test("a position reads as it was written, also in the middle of a record")
  func roundTrip() throws {
    var position = PlannerPosition()
    #expect(try PlannerPosition(bytes: position.encoded()) == position)
    position.nextOffset = 70
    position.cursor = RecordCursor(nextOrdinal: 9, nextDevice: 3, standing: 1)
    position.birth = -5
    for (topic, partition) in [("b", 1), ("a", 2), ("b", 0)] as [(String, Int32)] {
      let isNew = position.note(Origin(topic: topic, partition: partition, offset: 4))
      #expect(isNew)
    }
    #expect(try PlannerPosition(bytes: position.encoded()) == position)
    #expect(position.checkInvariants().isEmpty)
  }

  @Test("an origin counts once, and none before it")
  func origins() {
    var position = PlannerPosition()
    let found = [5, 5, 4, 6].map { position.note(Origin(topic: "t", partition: 0, offset: $0)) }
    #expect(found == [true, false, false, true])
  }

  @Test(
    "a source topic that was made again counts from its first record; an origin of no known generation changes nothing")
  func generations() {
    var position = PlannerPosition()
    let found = [(7, 5), (7, 5), (7, 6), (8, 0), (8, 0), (8, 1), (0, 1), (0, 2), (8, 2), (8, 3)].map {
      position.note(Origin(topic: "t", partition: 0, offset: $0.1, generation: $0.0))
    }
    #expect(found == [true, false, true, true, false, true, false, true, false, true])
  }

  @Test(
    "positions of other versions are refused, those of newer releases as such", arguments: [UInt8(0), 1, 2, 4, 255])
  func versions(version: UInt8) {
    var bytes = PlannerPosition().encoded()
    bytes[0] = version
    let error = #expect(throws: BinaryError.self) { try PlannerPosition(bytes: bytes) }
    let isNewer = if case .newerVersion = error { true } else { false }
    #expect(isNewer == (version > 3))
  }
}
