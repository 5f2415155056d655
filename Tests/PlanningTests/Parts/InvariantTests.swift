import Domain
import Policies
import Testing

@testable import Planning

/// Each test breaks an invariant in a process of its own, which must end with the message of that check.
@Suite("The checks of invariants")
struct InvariantTests {
  /// Expects that a process failed because of one check.
  private static func expect(_ message: String, _ result: ExitTest.Result?) throws {
    let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(words.contains(message), "\(words.suffix(500))")
  }

  @Test("a slot that is free twice is noticed")
  func slots() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var pool = SlotPool<AppTag, Int>()
      let slot = pool.insert(1)
      pool.remove(slot, leaving: 0)
      pool.remove(slot, leaving: 0)
      pool.checkInvariants()
    }
    try Self.expect("a slot is free twice", result)
  }

  @Test("charges of an instance that is gone are noticed")
  func charges() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var ledgers = Ledgers(PolicyProfiles.standard)
      ledgers.rolling.set([Timestamp(microseconds: 1)], of: InstanceSlot(4))
      ledgers.checkInvariants { _ in false }
    }
    try Self.expect("charges of an instance that is gone", result)
  }

  @Test("a cause that waits on no instance is noticed")
  func causes() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var pending = Pending()
      var slot = WaitingSlot.absent
      let event = pending.insert(event: "e1", traceparent: nil, time: .distantPast, offset: 1)
      let cause = Cause(
        event: event, entry: .absent, signedRelevance: 1, at: Timestamp(microseconds: 0),
        expires: Timestamp(microseconds: 1))
      pending.append(cause, to: &slot, value: 1, now: Timestamp(microseconds: 0))
      pending.drop(&slot)
      pending.checkInvariants(waiting: [])
    }
    try Self.expect("a cause that waits on no instance", result)
  }

  @Test("an instance of no device is noticed")
  func instances() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var registry = Registry()
      let device = registry.insertDevice("d1", app: AppSlot(0))
      let instance = registry.insertInstance(
        "w1", kind: KindSlot(0), surface: .widget, device: device, behind: .absent)
      registry.unlink(instance)
      registry.checkInvariants()
    }
    try Self.expect("an instance of no device", result)
  }

  @Test("two kinds of one name are noticed")
  func kinds() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rules = Rules(.none)
      for _ in 0..<2 { _ = rules.addKind("K") }
      rules.checkInvariants()
    }
    try Self.expect("two kinds of one name", result)
  }

  @Test("views of a device that is gone are noticed")
  func views() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var pricing = Pricing()
      _ = pricing.noteLook(DeviceSlot(1), localHour: 9)
      pricing.checkInvariants { _ in false }
    }
    try Self.expect("views of a device that is gone", result)
  }
}
