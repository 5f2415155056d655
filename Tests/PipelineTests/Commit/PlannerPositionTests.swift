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
    "positions of other versions are refused, and the error for a newer release says so",
    arguments: [UInt8(0), 1, 2, 4, 255])
  func versions(version: UInt8) {
    var bytes = PlannerPosition().encoded()
    bytes[0] = version
    let error = #expect(throws: BinaryError.self) { try PlannerPosition(bytes: bytes) }
    let isNewer = if case .newerVersion = error { true } else { false }
    #expect(isNewer == (version > 3))
  }

  @Test("a position with numbers that no planner writes is refused")
  func absurd() throws {
    func bytes(offset: Int64, ordinal: UInt64, partition: Int64, highest: Int64 = 7) -> [UInt8] {
      var writer = BinaryWriter()
      writer.uint8(3)
      writer.zigzag(offset)
      writer.bool(true)
      writer.varint(ordinal)
      writer.bool(false)
      writer.varint(0)
      writer.uint8(0)
      writer.count(1)
      writer.string("events")
      writer.zigzag(partition)
      writer.zigzag(highest)
      writer.zigzag(1)
      writer.bool(true)
      writer.zigzag(1)
      return writer.bytes
    }
    #expect(try PlannerPosition(bytes: bytes(offset: 5, ordinal: 1, partition: 2)).nextOffset == 5)
    for (offset, ordinal, partition) in [
      (Int64.max, 1, 2), (-1, 1, 2), (5, UInt64(UInt32.max), 2), (5, 1, Int64(Int32.max) + 1),
    ] as [(Int64, UInt64, Int64)] {
      #expect(throws: BinaryError.self) {
        try PlannerPosition(bytes: bytes(offset: offset, ordinal: ordinal, partition: partition))
      }
    }
    #expect(throws: BinaryError.self) {
      try PlannerPosition(bytes: bytes(offset: 5, ordinal: 1, partition: 2, highest: -1))
    }
  }
}
