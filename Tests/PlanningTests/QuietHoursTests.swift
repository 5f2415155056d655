import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of quiet hours in the nights in which the clocks change.
@Suite("Quiet hours and clock changes")
struct QuietHoursTests {
  private static func instant(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

  /// A zone, and the quiet hours from 23:00 to 07:00 of the night in which its clocks change.
  private static let nights: [(zone: String, start: String, end: String)] = [
    ("America/New_York", "2026-03-08T04:00:00Z", "2026-03-08T11:00:00Z"),
    ("America/New_York", "2026-11-01T03:00:00Z", "2026-11-01T12:00:00Z"),
    ("Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"),
    ("Europe/Berlin", "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T12:00:00Z", "2026-04-04T20:30:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T12:30:00Z", "2026-10-03T20:00:00Z"),
    ("Antarctica/Troll", "2026-03-28T23:00:00Z", "2026-03-29T05:00:00Z"),
    ("Antarctica/Troll", "2026-10-24T21:00:00Z", "2026-10-25T07:00:00Z"),
    ("Asia/Tokyo", "2026-03-08T14:00:00Z", "2026-03-08T22:00:00Z"),
  ]

  @Test("they end when the clock shows their end, and every decision says so from the first minute", arguments: nights)
  func night(zone: String, start: String, end: String) throws {
    let (start, end) = (try Self.instant(start), try Self.instant(end))
    var h = H(
      .flights(also: { $0.quietHours = QuietHours(fromMinute: 23 * 60, toMinute: 7 * 60, exceptRelevance: 0.9) }))
    h.register(.phone(zone: zone), at: (start - .hours(5)).microseconds)
    h.event(.delay(5, id: "before", at: (start - .seconds(1)).microseconds))
    #expect(h.only?.reason == .emitted)
    // The end is spread over ten minutes, by device.
    let until = end + DeviceSlot(0).spread
    var at = start
    while at < end {
      h.event(.delay(at.microseconds / H.minute % 2 == 0 ? 30 : 90, id: "at \(at)", at: at.microseconds))
      #expect(h.last.last?.reason == .quietHours, "\(at)")
      #expect(h.last.last?.until == until, "\(at)")
      at = at + .minutes(31)
    }
    let last = end - .seconds(1)
    h.event(.delay(60, id: "last", at: last.microseconds))
    #expect(h.last.last?.until == until)
    h.drain(until: until.microseconds)
    #expect(h.commands.map(\.at) == [start - .seconds(1), until])
  }

  /// Quiet hours with an end in the hour that New York's clocks skip on 8 March 2026 (02:00–03:00, at 07:00Z), or show twice on
  /// 1 November (01:00–02:00, at 05:00Z and 06:00Z), and the instants at which they begin and end; nil if they do not occur.
  private static let edges: [(from: String, to: String, day: String, start: String?, end: String?)] = [
    ("23:00", "02:30", "2026-03-08", "04:00", "07:00"),
    ("02:30", "07:00", "2026-03-08", "07:00", "11:00"),
    ("01:30", "02:00", "2026-03-08", "06:30", "07:00"),
    ("01:30", "03:00", "2026-03-08", "06:30", "07:00"),
    ("02:10", "02:40", "2026-03-08", nil, nil),
    ("23:00", "01:30", "2026-11-01", "03:00", "05:30"),
    ("01:30", "07:00", "2026-11-01", "05:30", "12:00"),
    ("01:10", "01:40", "2026-11-01", "05:10", "05:40"),
    ("00:30", "02:00", "2026-11-01", "04:30", "07:00"),
  ]

  @Test(
    "a time that the clock skips counts as the instant of the change, one that it shows twice as the first",
    arguments: edges)
  func edge(from: String, to: String, day: String, start: String?, end: String?) throws {
    func minute(_ text: String) throws -> Int {
      try Int(#require(Timestamp(rfc3339: "1970-01-01T\(text):00Z")).seconds / 60)
    }
    var table = ZoneTable(offsets: .system)
    table.use(QuietHours(fromMinute: try minute(from), toMinute: try minute(to), exceptRelevance: 2), now: .distantPast)
    let zone = table.zone("America/New_York", now: .distantPast)
    let midnight = try Self.instant("\(day)T05:00:00Z")
    let start = try start.map { try Self.instant("\(day)T\($0):00Z") }
    let end = try end.map { try Self.instant("\(day)T\($0):00Z") }
    var now = midnight - .hours(2)
    while now < midnight + .hours(8) {
      table.refresh(now: now)
      if let start, let end, now >= start, now < end {
        #expect(table.quietEnd(zone) == end, "\(now)")
      } else {
        #expect(table.quietEnd(zone) == nil, "\(now)")
      }
      now = now + .minutes(5)
    }
  }

  @Test("another policy's quiet hours hold at once")
  func otherPolicy() throws {
    var h = H()
    h.register(.phone())
    h.activate(
      .flights(also: { $0.quietHours = QuietHours(fromMinute: 12 * 60, toMinute: 13 * 60, exceptRelevance: 0.9) }))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .quietHours)
    h.activate(.flights())
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    #expect(h.last.contains { $0.event == "e2" && $0.verdict == .emit })
  }
}
