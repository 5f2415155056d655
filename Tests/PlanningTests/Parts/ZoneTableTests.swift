import Domain
import Foundation
import Testing

@testable import Planning

@Suite("Time zones and budget days")
struct ZoneTableTests {
  private static func instant(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

  private static let anchor = 240

  /// Zones, instants and the minutes of the budget day that holds the instant.
  private static let days: [(zone: String, now: String, minutes: Int64)] = [
    ("America/New_York", "2026-03-07T20:00:00Z", 1380),
    ("America/New_York", "2026-03-09T20:00:00Z", 1440),
    ("America/New_York", "2026-10-31T20:00:00Z", 1500),
    ("Australia/Lord_Howe", "2026-04-04T12:00:00Z", 1470),
    ("Australia/Lord_Howe", "2026-10-03T12:00:00Z", 1410),
    ("Asia/Kathmandu", "2026-10-03T12:00:00Z", 1440),
  ]

  @Test("a budget day in which the clocks change is shorter or longer by the change", arguments: days)
  func clockChanges(zone: String, now: String, minutes: Int64) throws {
    var table = ZoneTable(offsets: .system)
    let now = try Self.instant(now)
    let day = table.budgetDay(table.zone(zone, now: now), now: now, anchorMinute: Self.anchor)
    #expect(day.end - day.start == .minutes(minutes))
    #expect(day.start <= now && now < day.end)
  }

  @Test(
    "over two years, each instant is in the day that the calendar says",
    arguments: [
      "GMT", "America/New_York", "Australia/Lord_Howe", "Europe/Rome", "Pacific/Apia", "America/St_Johns",
    ])
  func calendar(_ id: String) throws {
    let zone = try #require(TimeZone(identifier: id))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    var random = SeededRandom(seed: 11)
    var table = ZoneTable(offsets: .system)
    let slot = table.zone(id, now: .distantPast)
    var now = try Self.instant("2025-12-30T00:00:00Z")
    for _ in 0..<400 {
      now = now + .seconds(Int64(random.below(4 * 86_400)))
      table.refresh(now: now)
      let date = Date(timeIntervalSince1970: Double(now.seconds))
      let clock = calendar.dateComponents([.hour, .minute, .second], from: date)
      let seconds = try #require(clock.hour) * 3600 + #require(clock.minute) * 60 + #require(clock.second)
      #expect(table.timeOfDay(slot, now).microseconds == Int64(seconds) * 1_000_000, "seed 11, \(now)")
      #expect(table.offset(slot) == .seconds(Int64(zone.secondsFromGMT(for: date))), "seed 11, \(now)")

      // Clocks change before 04:00 in all of these zones, so 04:00 occurs once on every day.
      var expected = try #require(calendar.date(bySettingHour: 4, minute: 0, second: 0, of: date))
      if seconds < 4 * 3600 {
        let dayBefore = try #require(calendar.date(byAdding: .day, value: -1, to: date))
        expected = try #require(calendar.date(bySettingHour: 4, minute: 0, second: 0, of: dayBefore))
      }
      let day = table.budgetDay(slot, now: now, anchorMinute: Self.anchor)
      #expect(day.start.seconds == Int64(expected.timeIntervalSince1970), "seed 11, \(now)")
      #expect(day.start <= now && now < day.end, "seed 11, \(now)")
    }
  }

  @Test("the first anchor after an instant is the end of its budget day, and an anchor is its own first")
  func firstAnchor() throws {
    var random = SeededRandom(seed: 12)
    var table = ZoneTable(offsets: .system)
    for _ in 0..<300 {
      let id = ["America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"][random.below(3)]
      let anchor = random.below(24 * 60)
      let now = try Self.instant("2026-01-01T00:00:00Z") + .minutes(Int64(random.below(365 * 24 * 60)))
      let zone = table.zone(id, now: now)
      let day = table.budgetDay(zone, now: now, anchorMinute: anchor)
      let context = "seed 12, \(id), \(now), anchor \(anchor)"
      #expect(day.start <= now && now < day.end, "\(context)")
      let microsecond = TimeSpan(microseconds: 1)
      #expect(table.firstAnchor(zone, atOrAfter: now + microsecond, anchorMinute: anchor) == day.end, "\(context)")
      #expect(table.firstAnchor(zone, atOrAfter: day.start, anchorMinute: anchor) == day.start, "\(context)")
    }
  }

  /// Local times that clocks skip or show twice, and the instants that they count as.
  private static let localTimes: [(zone: String, local: String, instant: String)] = [
    ("America/New_York", "2026-03-08T02:30:00Z", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-03-08T03:00:00Z", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T05:30:00Z"),
    ("Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
    ("Australia/Lord_Howe", "2026-10-04T02:15:00Z", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-05T01:45:00Z", "2026-04-04T14:45:00Z"),
    ("Antarctica/Troll", "2026-03-29T02:59:00Z", "2026-03-29T01:00:00Z"),
    ("Antarctica/Troll", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
    ("Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"),
  ]

  @Test("a local time is the first instant at which the clock shows it or a later one", arguments: localTimes)
  func firstInstant(zone: String, local: String, instant: String) throws {
    #expect(
      SystemTimeZones().firstInstant(of: try Self.instant(local), in: zone) == (try Self.instant(instant)))
  }

  @Test("the clock shows an earlier time before each first instant, and no earlier time at it")
  func firstInstants() throws {
    var random = SeededRandom(seed: 13)
    let offsets = SystemTimeZones()
    for _ in 0..<3000 {
      let id = [
        "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "America/St_Johns", "Africa/Casablanca",
        "Pacific/Apia",
      ][random.below(6)]
      let local = try Self.instant("2010-01-01T00:00:00Z") + .minutes(Int64(random.below(20 * 365 * 24 * 60)))
      let found = offsets.firstInstant(of: local, in: id)
      func clock(_ at: Timestamp) -> Timestamp { at + .seconds(offsets.secondsEast(id, at.seconds)) }
      #expect(clock(found) >= local && clock(found - .seconds(1)) < local, "seed 13, \(id), \(local), \(found)")
    }
  }

  @Test("an unknown zone counts as GMT and keeps its name")
  func unknown() throws {
    var table = ZoneTable(offsets: .system)
    let zone = table.zone("Atlantis/Capital", now: try Self.instant("2026-07-01T12:00:00Z"))
    #expect(table.id(of: zone) == "Atlantis/Capital" && table.offset(zone) == .zero)
  }

  /// Every zone but GMT is one hour east.
  private struct OneHourEast: TimeZoneOffsets {
    func secondsEast(_ zone: String, _ unixSeconds: Int64) -> Int64 { zone == "GMT" ? 0 : 3600 }
  }

  @Test("zones beyond the bound are taken as GMT, whichever zone came first", arguments: [false, true])
  func bound(gmtIsKnown: Bool) {
    var table = ZoneTable(offsets: OneHourEast())
    let first = table.zone("Europe/Rome", now: Timestamp(microseconds: 0))
    if gmtIsKnown { _ = table.zone("GMT", now: Timestamp(microseconds: 0)) }
    var count = gmtIsKnown ? 2 : 1
    while count < ZoneTable.zonesMax {
      _ = table.zone("zone \(count)", now: .distantPast)
      count += 1
    }
    for id in ["one more", "and another"] {
      let beyond = table.zone(id, now: Timestamp(microseconds: 0))
      #expect(beyond != first)
      #expect(table.id(of: beyond) == "GMT" && table.offset(beyond) == .zero)
      // `DeviceState` keeps 16 bits of the slot.
      #expect(beyond.number <= UInt16.max)
    }
    #expect(table.zone("Europe/Rome", now: Timestamp(microseconds: 0)) == first)
    #expect(
      table.zone("GMT", now: Timestamp(microseconds: 0)) == table.zone("one more", now: Timestamp(microseconds: 0)))
  }
}
