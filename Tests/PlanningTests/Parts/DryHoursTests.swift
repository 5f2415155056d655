import Domain
import Testing

@testable import Planning

@Suite("Hours ahead without tokens")
struct DryHoursTests {
  /// Returns what is reported of hours of the log, each as hour of the budget day and number of instances.
  private static func reported(_ dry: inout DryHours, _ hours: Range<Int64>) -> [[[Int]]] {
    hours.map { hour in
      var found: [[Int]] = []
      dry.report(hour, takes: true) { found.append([$0, Int($1)]) }
      return found
    }
  }

  @Test("each hour is reported when it is due in its zone, once")
  func zones() {
    var dry = DryHours()
    #expect(dry.isEmpty)
    dry.add(2, 20..<23, at: 1000, place: 19)
    dry.add(1, 20..<23, at: 1000, place: 19)
    // A zone in which the same hour of the log is hour 3 of the budget day.
    dry.add(1, 4..<5, at: 1000, place: 3)
    #expect(Self.reported(&dry, 1000..<1005) == [[], [[20, 3], [4, 1]], [[21, 3]], [[22, 3]], []])
    #expect(dry.isEmpty)
  }

  @Test("instances that get a token again are taken away, and never more than there are")
  func taken() {
    var dry = DryHours()
    dry.add(-1, 5..<8, at: 7, place: 4)
    #expect(dry.isEmpty)
    dry.add(1, 5..<8, at: 7, place: 4)
    dry.add(-3, 6..<8, at: 7, place: 4)
    #expect(Self.reported(&dry, 7..<12) == [[], [[5, 1]], [], [], []])
    dry.add(1, 8..<8, at: 7, place: 7)
    #expect(dry.isEmpty)
  }

  @Test("log time before 1970 has hours, too")
  func before1970() {
    var dry = DryHours()
    dry.add(1, 1..<2, at: -1, place: 0)
    #expect(Self.reported(&dry, -1..<1) == [[], [[1, 1]]])
  }

  @Test("a restored table reports the same, and a damaged record is refused")
  func restored() throws {
    var dry = DryHours()
    dry.add(3, 2..<24, at: 500, place: 1)
    dry.add(7, 12..<24, at: 500, place: 11)
    var writer = BinaryWriter()
    dry.write(to: &writer)
    var reader = BinaryReader(writer.bytes)
    #expect(try DryHours(from: &reader) == dry)
    for cut in 0..<writer.bytes.count {
      #expect(throws: BinaryError.self) {
        var reader = BinaryReader(Array(writer.bytes[..<cut]))
        _ = try DryHours(from: &reader)
      }
    }
    for numbers in [[1, 576, 1], [1, 3, 0], [2, 3, 1, 3, 1], [1 << 40]] as [[UInt64]] {
      var writer = BinaryWriter()
      for number in numbers { writer.varint(number) }
      var reader = BinaryReader(writer.bytes)
      #expect(throws: BinaryError.self, "\(numbers)") { try DryHours(from: &reader) }
    }
  }
}
