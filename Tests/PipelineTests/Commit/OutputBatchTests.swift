import KafkaClient
import Testing

@testable import Pipeline

/// Records of several destinations in one buffer.
@Suite("a batch of output")
struct OutputBatchTests {
  private static func records(_ batch: OutputBatch) -> [String] {
    var found: [String] = []
    batch.forEachDestination { destination, places in
      for place in places {
        let value = place.value.map { String(decoding: batch.bytes[$0], as: UTF8.self) } ?? "removed"
        found.append("\(destination) \(String(decoding: batch.bytes[place.key ?? 0..<0], as: UTF8.self)) \(value)")
      }
    }
    return found
  }

  @Test("records are lent by destination, in the order of the first ones; emptying keeps nothing")
  func order() {
    var batch = OutputBatch()
    for _ in 0..<2 {
      #expect(batch.isEmpty && batch.checkInvariants().isEmpty)
      batch.append(.state(1), key: Array("s".utf8)[...], value: nil)
      batch.append(.decisions(1), key: Array("d".utf8)[...], value: Array("1".utf8)[...])
      batch.append(.state(1), key: Array("t".utf8)[...], value: Array("2".utf8)[...])
      #expect(Self.records(batch) == ["state(1) s removed", "state(1) t 2", "decisions(1) d 1"])
      #expect(batch.decisions == 1 && batch.commands == 0 && batch.stateRecords == 2)
      #expect(batch.checkInvariants().isEmpty)
      batch.removeAll()
    }
    #expect(Self.records(batch).isEmpty)
  }

  @Test("a record behind the bytes is a violation")
  func violation() {
    var batch = OutputBatch()
    batch.note(.commands(0), key: 0..<1, value: 1..<9)
    #expect(batch.checkInvariants().count == 1)
  }
}
