import Domain
import Testing

@testable import Planning

/// State records with numbers that no planner writes: damaged or forged ones.
@Suite("Absurd state")
struct AbsurdStateTests {
  private static func restore(_ key: String, _ write: (inout BinaryWriter) -> Void) throws -> Planner {
    var writer = BinaryWriter()
    writer.uint8(stateFormatVersion)
    write(&writer)
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    try restore.add(key: Array(key.utf8), value: writer.bytes)
    return try restore.finish(initialPolicy: .flights())
  }

  @Test(
    "a device in an absurd slot is refused before its table grows", arguments: [16_777_216, 60_000_000, UInt32.max])
  func slot(number: UInt32) throws {
    var h = PlannerHarness()
    h.register(.phone())
    var record: [UInt8] = []
    h.planner.takeChanges { key, value in
      if key.elementsEqual("d/d1".utf8) { record = Array(value ?? []) }
    }
    var writer = BinaryWriter()
    writer.uint8(stateFormatVersion)
    writer.varint(UInt64(number))
    // The version and slot 0 take a byte each.
    let bytes = writer.bytes + record.dropFirst(2)
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    #expect(throws: BinaryError.self) { try restore.add(key: Array("d/d1".utf8), value: bytes) }
    #expect(restore.sizes.devices == 0)
  }

  @Test("a clock at the end of all numbers is refused, and one in the year 9999 works")
  func clock() throws {
    let latest = Planner.latestTime.microseconds
    let hours = latest / 3_600_000_000
    func restored(_ now: Int64, hour: Int64, generation: Int64) throws -> Planner {
      try Self.restore("p/clock") { writer in
        writer.int64(now)
        writer.int64(hour)
        writer.zigzag(generation)
        writer.zigzag(-1)
        writer.zigzag(0)
      }
    }
    for (now, hour, generation) in [
      (Int64.max, 0, 0), (latest + 1, 0, 0), (0, Int64.min + 5, 0), (0, Int64.max, 0), (0, 0, Int64.max), (0, 0, -1),
    ] as [(Int64, Int64, Int64)] {
      #expect(throws: StateRecordError.self, "\(now) \(hour) \(generation)") {
        try restored(now, hour: hour, generation: generation)
      }
    }
    for (now, hour, generation) in [
      (latest, hours, 1 << 61), (.min, .min, 0), (0, -hours, 0),
    ] as [(Int64, Int64, Int64)] {
      var h = PlannerHarness()
      h.planner = try restored(now, hour: hour, generation: generation)
      h.register(.phone())
      h.event(.delay(5, id: "e1", at: PlannerHarness.noon))
      h.tick(at: PlannerHarness.noon + 100 * PlannerHarness.hour)
      #expect(h.planner.deviceCount == 1)
    }
  }

  @Test("an app with the largest count of spent tokens counts no further")
  func app() throws {
    var h = PlannerHarness()
    h.planner = try Self.restore("a/com.example.flights") { writer in
      writer.count(Int.max)
      writer.zigzag(Int64(PlannerHarness.noon / (24 * PlannerHarness.hour)))
      writer.zigzag(0)
    }
    h.register(.phone())
    h.event(.delay(5, id: "e1", at: PlannerHarness.noon))
    #expect(h.only?.reason == .emitted)
    h.planner.checkInvariants()
  }

  @Test("usual amounts that are no numbers are refused", arguments: [Double.nan, .infinity, -1, 1])
  func amounts(amount: Double) throws {
    func restored() throws -> Planner {
      try Self.restore("k/FlightStatus") { writer in
        // No display settings, and no beginning of the budget day.
        writer.varint(0)
        writer.varint(0)
        // Need and worth: 24 counts, 24 usual amounts.
        for _ in 0..<2 {
          for _ in 0..<24 { writer.zigzag(0) }
          for hour in 0..<24 { writer.double(hour == 7 ? amount : 0) }
        }
        // The days observed, and those not seen.
        for _ in 0..<48 { writer.zigzag(0) }
        // No hours ahead without tokens.
        writer.varint(0)
      }
    }
    if amount == 1 {
      #expect(try restored().rules.kind(named: "FlightStatus") != nil)
    } else {
      #expect(throws: StateRecordError.self) { try restored() }
    }
  }
}
