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
    for (key, value) in records { try restore.add(key: key, value: value) }
    return try restore.finish(initialPolicy: RandomLife.policy())
  }

  /// Returns the records of a planner's devices and of its clock.
  private static func written(_ planner: Planner) -> Records {
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
    let planner = try Self.restored(Self.records(StateFixtures.devices))
    let instances = planner.registry.instances.values.filter { $0.flags.contains(.used) }
    #expect(!planner.pricing.viewHabits.isEmpty && !planner.registry.rareStates.isEmpty)
    #expect(!planner.registry.nextReloads.isEmpty)
    #expect(!planner.ledgers.rollingCharges.isEmpty && planner.pending.causes.liveCount > 2)
    let addressed = planner.registry.addressed.values
    #expect(addressed.contains { $0.started.contains { !$0.name.isEmpty } })
    #expect(addressed.contains { $0.ended } && addressed.contains { !$0.rate.isFull })
    #expect(Set(instances.map(\.surface)).count == 4)
    #expect(instances.contains { $0.flags.contains(.retired) } && instances.contains { $0.heldFor != .none })
    #expect(instances.contains { $0.day.chargedByLast })
    #expect(planner.registry.entries.values.contains { $0.shown != 0 && $0.current != 0 && $0.shown != $0.current })
    #expect(planner.registry.devices.values.contains { $0.flags.contains(.forgotten) })
  }

  @Test("a truncated or changed record of a device never traps", arguments: 0..<6)
  func damage(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var refused = 0
    for (key, value) in try Self.records(StateFixtures.devices) where key.starts(with: "d/".utf8) {
      for cut in 0..<value.count {
        #expect(throws: BinaryError.self) { try Self.restored([key: Array(value[..<cut])]) }
      }
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
