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
      if key.elementsEqual("c/0".utf8) { record = Array(value ?? []) }
    }
    func chunk(_ slot: UInt64) throws -> [UInt8] {
      var reader = try ChunkFormat.open(0, of: .devices, record, in: record.indices).content
      let id = record[try reader.blobPlace("an id")]
      // Slot 0 takes a byte.
      let version = record[try reader.blobPlace("a version")].dropFirst()
      var forged = BinaryWriter()
      forged.varint(slot)
      var writer = BinaryWriter(appendingTo: [stateFormatVersion, ChunkFormat.Form.entries.rawValue])
      writer.blob(Array(id))
      writer.blob(forged.bytes + version)
      writer.int64(Int64(bitPattern: ChunkFormat.checksum(writer.bytes.span, of: 0, .devices)))
      return writer.bytes
    }
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    let (right, wrong) = (try chunk(0), try chunk(UInt64(number)))
    #expect(throws: BinaryError.self) { try restore.add(key: Array("c/0".utf8), value: wrong) }
    #expect(restore.sizes.devices == 0)
    try restore.add(key: Array("c/0".utf8), value: right)
    #expect(restore.sizes.devices == 1)
  }

  @Test("a clock at the end of all numbers is refused, and one in the year 9999 works")
  func clock() throws {
    let latest = Fleet.latestTime.microseconds
    let hours = latest / 3_600_000_000
    func restored(_ now: Int64, hour: Int64, generation: Int64) throws -> Planner {
      try Self.restore("p/clock") { writer in
        writer.int64(now)
        writer.int64(hour)
        writer.zigzag(generation)
        writer.zigzag(-1)
        writer.zigzag(0)
        for _ in 0..<2 { writer.int64(0) }
        StateExtent().write(to: &writer)
      }
    }
    for (now, hour, generation) in [
      (Int64.max, 0, 0), (latest + 1, 0, 0), (0, Int64.min + 5, 0), (0, Int64.max, 0), (0, 0, Int64.max), (0, 0, -1),
    ] as [(Int64, Int64, Int64)] {
      #expect(throws: StateRecordError.self, "\(now) \(hour) \(generation)") {
        _ = try restored(now, hour: hour, generation: generation)
      }
    }
    for (now, hour, generation) in [
      (latest, hours, 1 << 29), (.min, .min, 0), (0, -hours, 0),
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
      writer.count(Int.max)
      writer.zigzag(Int64(PlannerHarness.noon / (24 * PlannerHarness.hour)))
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
        // No era, no display settings, and no beginning of the budget day.
        writer.varint(0)
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
      #expect(try restored().fleet.rules.kind(named: "FlightStatus") != nil)
    } else {
      #expect(throws: StateRecordError.self) { _ = try restored() }
    }
  }
}
