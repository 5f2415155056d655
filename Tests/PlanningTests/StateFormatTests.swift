import Domain
import Foundation
import Policies
import Testing

@testable import Planning

@Suite("the format of the state")
struct StateFormatTests {
  private typealias Records = [[UInt8]: [UInt8]]

  private static func records(_ base64: String) throws -> Records {
    let bytes = Array(try #require(Data(base64Encoded: base64)))
    var place = 0
    func next() -> [UInt8] {
      let count = Int(bytes[place]) | Int(bytes[place + 1]) << 8
      defer { place += 2 + count }
      return Array(bytes[place + 2..<place + 2 + count])
    }
    var records: Records = [:]
    while place < bytes.count {
      let key = next()
      records[key] = next()
    }
    return records
  }

  private static func restored(_ records: Records) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    for (key, value) in topicOrder(records) { try restore.add(key: key, value: value) }
    return try restore.finish(initialPolicy: RandomLife.policy())
  }

  /// Returns the records of a planner's devices and of its clock.
  private static func written(_ planner: borrowing Planner) -> Records {
    var records: Records = [:]
    var walk = StateWalk()
    while !planner.writeState(
      from: &walk, recordsMax: 100,
      { key, value in
        if key.starts(with: "d/".utf8) || key.elementsEqual("p/clock".utf8) {
          records[Array(key)] = value.map(Array.init)
        }
      })
    {}
    return records
  }

  @Test("the fixture's state is read and written back byte for byte")
  func stable() throws {
    let fixture = try Self.records(StateFixtures.devices)
    #expect(fixture.values.allSatisfy { $0[0] == stateFormatVersion })
    #expect(Self.written(try Self.restored(fixture)) == fixture)
  }

  @Test("the fixtures hold everything that a device can have")
  func everything() throws {
    if ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_FIXTURES"] != nil { try Self.write() }
    #expect(Self.missing(in: try Self.restored(Self.records(StateFixtures.devices))) == [])
  }

  /// Returns the things that a device can have and that no device of a planner has.
  private static func missing(in planner: borrowing Planner) -> [String] {
    let instances = planner.fleet.registry.instances.values.filter { $0.flags.contains(.used) }
    let addressed = planner.fleet.registry.addressed.values
    let entries = planner.fleet.registry.entries.values
    let things = [
      "view habits": !planner.fleet.pricing.viewHabits.isEmpty,
      "rare states": !planner.fleet.registry.rareStates.isEmpty,
      "own reloads": !planner.fleet.registry.nextReloads.isEmpty,
      "rolling charges": !planner.fleet.ledgers.rolling.instances.isEmpty,
      "waiting causes": planner.census.causes > 2,
      "a started activity": addressed.contains { $0.subjects.contains { !$0.subject.isEmpty } },
      "an ended activity": addressed.contains { $0.ended },
      "a rate of its own": addressed.contains { !$0.rate.isFull },
      "four surfaces": Set(instances.map(\.surface)).count == 4,
      "a retired instance": instances.contains { $0.flags.contains(.retired) },
      "a held instance": instances.contains { $0.heldFor != .none },
      "a refundable charge": instances.contains { $0.day.chargedByLast },
      "the worth of a refundable push": instances.contains { $0.day.chargedByLast && $0.demand.lastWorth > 0 },
      "a change of a screen while the app was open": planner.fleet.registry.rareStates.values.contains {
        !$0.shownBefore.isEmpty
      },
      "a difference on a screen": entries.map(\.screen).contains {
        !$0.shown.isNone && !$0.current.isNone && $0.shown != $0.current
      },
      "a forgotten device": planner.fleet.registry.devices.values.contains { $0.flags.contains(.forgotten) },
    ]
    return things.filter { !$0.value }.keys.sorted()
  }

  /// Writes the fixtures: the shortest random life, from seed 1 on, whose devices have everything.
  private static func write() throws {
    for seed in UInt64(1)... {
      var life = RandomLife(seed: seed)
      for step in 1...300 {
        life.step()
        if missing(in: life.harness.planner).isEmpty {
          return try write(life.harness.planner, "`RandomLife` with seed \(seed) after \(step) steps")
        }
      }
    }
  }

  private static func write(_ planner: borrowing Planner, _ origin: String) throws {
    var bytes: [UInt8] = []
    for (key, value) in written(planner).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      for part in [key, value] { bytes += [UInt8(truncatingIfNeeded: part.count), UInt8(part.count >> 8)] + part }
    }
    var lines: [String] = []
    var rest = Substring(Data(bytes).base64EncodedString())
    while !rest.isEmpty {
      lines.append("    " + rest.prefix(114))
      rest = rest.dropFirst(114)
    }
    let text = """
      /// The state records of the devices of one planner (\(origin)), in Base64.
      /// Each record has the length of its key (two bytes, little-endian), the key, the length of its value (likewise), and the
      /// value. Written by `StateFormatTests` with `ROUSE_TEST_WRITE_FIXTURES=1`.
      enum StateFixtures {
        static let devices = \"""
      \(lines.joined(separator: "\\\n"))
          \"""
      }

      """
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "StateFixtures.swift")
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  @Test("a truncated record of a device in a snapshot is refused")
  func truncation() throws {
    for (key, value) in try Self.records(StateFixtures.devices) where key.starts(with: "d/".utf8) {
      for cut in 0..<value.count {
        #expect(throws: BinaryError.self) { _ = try Self.restored([key: Array(value[..<cut])]) }
      }
    }
  }

  @Test("a changed record of a device in a snapshot never traps", arguments: 0..<6)
  func damage(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var refused = 0
    for (key, value) in try Self.records(StateFixtures.devices) where key.starts(with: "d/".utf8) {
      for _ in 0..<400 {
        var changed = value
        changed[Int.random(in: 1..<value.count, using: &random)] = .random(in: 0...255, using: &random)
        // A slot number of billions is valid, and its table would take that much memory.
        changed[1] = value[1]
        do { _ = try Self.restored([key: changed]) } catch { refused += 1 }
      }
    }
    #expect(refused > 100, "seed \(seed)")
  }
}
