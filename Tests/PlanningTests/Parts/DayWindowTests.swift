import Domain
import Foundation
import Policies
import Testing

@testable import Planning

/// One instance whose day is counted by `Ledgers`, beside the list of its charges.
private struct CountedInstance {
  var ledgers = Ledgers(PolicyProfiles.standard)
  var day = DayWindow()
  var limits = DayLimits()
  var zones = ZoneTable(offsets: .system)
  var charges: [Timestamp] = []
  let instance = InstanceSlot(5)

  init(perDay: Int, rolling: Bool = false, reserve: Double = 0) {
    limits.perDay = perDay
    limits.rolling = rolling
    limits.reserveTokens = reserve
  }

  mutating func bringUpToDate(_ zone: String, _ now: Timestamp) -> WindowChange {
    let slot = zones.zone(zone, now: now)
    zones.refresh(now: now)
    return ledgers.bringUpToDate(&day, of: instance, limits, zone: slot, zones: &zones, now: now)
  }

  func tokensLeft(_ now: Timestamp) -> Int { ledgers.tokensLeft(day, of: instance, limits, now: now) }

  mutating func charge(_ now: Timestamp) {
    ledgers.charge(&day, of: instance, limits, now: now)
    charges.append(now)
  }

  func refillAt(_ now: Timestamp) -> Timestamp { ledgers.refillAt(day, of: instance, limits, now: now) }

  /// Returns the charges of the last 24 hours.
  func chargesInLastDay(_ now: Timestamp) -> Int { charges.count { $0 > now - .hours(24) && $0 <= now } }
}

@Suite("The day's count of an instance")
struct DayWindowTests {
  /// Before the clocks change in every zone of these tests.
  private static let winter = Timestamp(microseconds: 1_772_600_000_000_000)

  @Test(
    "a day that begins at 04:00 local time is counted exactly, over a year with its clock changes",
    arguments: ["GMT", "America/New_York", "Australia/Lord_Howe"])
  func model(_ id: String) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: id))
    for seed in 1...4 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var counted = CountedInstance(perDay: 4)
      var charges: [DateComponents: Int] = [:]
      var now = Self.winter
      for step in 0..<250 {
        let context = "seed \(seed), step \(step), \(now)"
        now = now + .minutes(Int64(random.below(24 * 60 * 3 / 2)) / (random.chance(1, in: 2) ? 1 : 12))
        // The clocks change before 04:00, so the day is that of four hours before on the clock.
        let date = Date(timeIntervalSince1970: Double(now.seconds))
        let hour = calendar.component(.hour, from: date)
        let owner = hour < 4 ? try #require(calendar.date(byAdding: .day, value: -1, to: date)) : date
        let key = calendar.dateComponents([.year, .month, .day], from: owner)
        let change = counted.bringUpToDate(id, now)
        #expect((change == .none) == (charges[key] != nil), "\(context)")
        let left = counted.tokensLeft(now)
        #expect(left == 4 - charges[key, default: 0], "\(context)")
        charges[key, default: 0] += left > 0 ? 1 : 0
        if left > 0 { counted.charge(now) }
        #expect(counted.refillAt(now) == counted.day.end && counted.day.end > now, "\(context)")
      }
    }
  }

  @Test("a device that moves between zones never gets a window early")
  func moves() {
    let ids = ["GMT", "America/New_York", "Australia/Lord_Howe", "Pacific/Kiritimati", "Pacific/Pago_Pago"]
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var counted = CountedInstance(perDay: 3)
      var now = Self.winter
      var begins: [Timestamp] = []
      for _ in 0..<200 {
        now = now + .minutes(Int64(random.below(5 * 60)))
        let before = counted.day.end
        if case .began(let ended) = counted.bringUpToDate(ids[random.below(ids.count)], now) {
          #expect(ended == (begins.isEmpty ? nil : before), "seed \(seed)")
          if let last = begins.last { #expect(now >= last && counted.day.end - before >= .hours(23), "seed \(seed)") }
          begins.append(now)
        }
        while counted.tokensLeft(now) > 0 { counted.charge(now) }
      }
      // Any 23 hours touch two windows at most.
      for now in begins { #expect(counted.charges.count { $0 > now - .hours(23) && $0 <= now } <= 6, "seed \(seed)") }
    }
  }

  @Test("a rolling window counts the charges of the last 24 hours, and says when the next token comes")
  func rolling() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var counted = CountedInstance(perDay: 1 + random.below(6), rolling: true)
      var now = Self.winter
      for step in 0..<200 {
        let context = "seed \(seed), step \(step)"
        now = now + .minutes(Int64(random.below(8 * 60)))
        _ = counted.bringUpToDate("GMT", now)
        let left = counted.tokensLeft(now)
        #expect(left == counted.limits.perDay - counted.chargesInLastDay(now), "\(context)")
        if left > 0 {
          counted.charge(now)
          #expect(counted.ledgers.rolling[counted.instance]?.last == now, "\(context)")
          if random.chance(1, in: 6) {
            #expect(counted.ledgers.refund(&counted.day, of: counted.instance, now: now), "\(context)")
            counted.charges.removeLast()
          }
        } else {
          let refill = counted.refillAt(now)
          #expect(counted.tokensLeft(refill) > 0, "\(context)")
          #expect(counted.tokensLeft(refill - TimeSpan(microseconds: 1)) == 0, "\(context)")
        }
        counted.ledgers.checkInvariants { $0 == counted.instance }
      }
    }
  }

  @Test("a change of the way of counting refills no token")
  func changes() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var counted = CountedInstance(perDay: 1 + random.below(6))
      var now = Self.winter
      for step in 0..<150 {
        let context = "seed \(seed), step \(step)"
        now = now + .minutes(Int64(random.below(6 * 60)))
        _ = counted.bringUpToDate("Europe/Rome", now)
        if random.chance(1, in: 5) {
          let left = counted.tokensLeft(now)
          counted.limits.rolling.toggle()
          #expect(counted.bringUpToDate("Europe/Rome", now) == .counting, "\(context)")
          #expect(counted.tokensLeft(now) <= left, "\(context)")
        }
        while counted.tokensLeft(now) > 0, random.chance(2, in: 3) { counted.charge(now) }
        counted.ledgers.checkInvariants { $0 == counted.instance }
      }
    }
  }

  @Test("only the last command's charge is refunded, once, and not into another day")
  func refund() {
    var counted = CountedInstance(perDay: 3)
    _ = counted.bringUpToDate("GMT", Self.winter)
    #expect(!counted.ledgers.refund(&counted.day, of: counted.instance, now: Self.winter))
    counted.charge(Self.winter)
    #expect(counted.ledgers.refund(&counted.day, of: counted.instance, now: Self.winter))
    #expect(counted.tokensLeft(Self.winter) == 3)
    #expect(!counted.ledgers.refund(&counted.day, of: counted.instance, now: Self.winter))
    counted.charge(Self.winter)
    counted.ledgers.settle(&counted.day)
    #expect(!counted.ledgers.refund(&counted.day, of: counted.instance, now: Self.winter))
    #expect(counted.tokensLeft(Self.winter) == 2)
    counted.charge(Self.winter)
    let tomorrow = Self.winter + .hours(30)
    _ = counted.bringUpToDate("GMT", tomorrow)
    _ = counted.ledgers.refund(&counted.day, of: counted.instance, now: tomorrow)
    #expect(counted.tokensLeft(tomorrow) == 3)
  }

  @Test("the reserve shrinks towards the end of the day and is gone half an hour before it")
  func reserve() {
    var counted = CountedInstance(perDay: 20, reserve: 4)
    _ = counted.bringUpToDate("GMT", Self.winter)
    func reserved(hoursLeft: Double) -> Int {
      let rest = TimeSpan(microseconds: Int64(hoursLeft * 3_600_000_000))
      return counted.ledgers.reserved(counted.day, counted.limits, now: counted.day.end - rest)
    }
    #expect([24, 12, 3.7].map(reserved) == [4, 4, 4])
    #expect([3, 2, 1].map(reserved) == [4, 2, 1])
    #expect([0.4, 0].map(reserved) == [0, 0])
  }

  @Test("the reserve leaves a token free at the instant that is given for it, and not before", arguments: [1, 2, 3, 4])
  func release(left: Int) {
    var counted = CountedInstance(perDay: 20, reserve: 4)
    _ = counted.bringUpToDate("GMT", Self.winter)
    for _ in left..<20 { counted.charge(Self.winter) }
    let start = counted.day.end - .hours(20)
    let release = counted.ledgers.reserveReleaseAt(counted.day, of: counted.instance, counted.limits, now: start)
    let before = release - TimeSpan(microseconds: 2)
    #expect(counted.ledgers.reserved(counted.day, counted.limits, now: release) < left)
    #expect(counted.ledgers.reserved(counted.day, counted.limits, now: before) >= left)
  }

  @Test(
    "a rolling window releases a token of its reserve when a charge is a day old, and never one of a reserve of all")
  func rollingRelease() {
    for reserve in [19, 19.5] {
      var counted = CountedInstance(perDay: 20, rolling: true, reserve: reserve)
      _ = counted.bringUpToDate("GMT", Self.winter)
      counted.charge(Self.winter)
      let now = Self.winter + .hours(1)
      let release = counted.ledgers.reserveReleaseAt(counted.day, of: counted.instance, counted.limits, now: now)
      #expect(release == (reserve == 19 ? Self.winter + .hours(24) : .distantFuture))
    }
  }

  @Test(
    "a window is packed without loss",
    arguments: [0, 1, 1_782_907_200, 253_402_300_799, -5] as [Int64], [0, 1, 200, UInt16.max])
  func packing(_ seconds: Int64, _ spent: UInt16) {
    for (isRolling, chargedByLast) in [(false, false), (false, true), (true, false), (true, true)] {
      let window = DayWindow(
        end: Timestamp(microseconds: seconds * 1_000_000), spent: spent, isRolling: isRolling,
        chargedByLast: chargedByLast)
      #expect(window.end.seconds == seconds && window.spent == spent)
      #expect(window.isRolling == isRolling && window.chargedByLast == chargedByLast)
    }
    #expect(
      DayWindow(end: Timestamp(microseconds: 1), spent: 0, isRolling: false, chargedByLast: false).end.seconds == 1)
  }
}
