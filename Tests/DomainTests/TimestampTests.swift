import Domain
import Testing

@Suite("Instants as text") struct TimestampTests {
  @Test(
    "an RFC 3339 text is an instant",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2013-07-01T10:05:00Z", 1_372_673_100_000_000),
      ("2013-07-01T06:05:00-04:00", 1_372_673_100_000_000), ("2013-07-01T15:35:00+05:30", 1_372_673_100_000_000),
      ("2013-07-01t10:05:00z", 1_372_673_100_000_000), ("2013-07-01T10:05:00.5Z", 1_372_673_100_500_000),
      ("2013-07-01T10:05:00.123456789Z", 1_372_673_100_123_456), ("1969-12-31T23:59:59.999999Z", -1),
      ("2000-02-29T00:00:00Z", 951_782_400_000_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
      ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ] as [(String, Int64)])
  func parses(text: String, microseconds: Int64) {
    #expect(Timestamp(rfc3339: text) == Timestamp(microseconds: microseconds))
  }

  @Test(
    "a text that names no instant is refused",
    arguments: [
      "", "2013-07-01", "2013-07-01T10:05:00", "2013-07-01 10:05:00Z", "2013-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
      "2013-04-31T00:00:00Z", "2013-00-01T00:00:00Z", "2013-13-01T00:00:00Z", "2013-01-00T00:00:00Z",
      "2013-07-01T24:00:00Z", "2013-07-01T10:60:00Z", "2016-12-31T23:59:60Z", "2013-07-01T10:05:00.Z",
      "2013-07-01T10:05:00.1234567890Z", "2013-07-01T10:05:00+0400", "2013-07-01T10:05:00+24:00",
      "2013-07-01T10:05:00+04:60", "2013-07-01T10:05:00Zx", "2013-07-01T10:05:00.5", "2013-07-01T1a:05:00Z",
      "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "+013-07-01T10:05:00Z", "２013-07-01T10:05:00Z",
    ])
  func refuses(text: String) { #expect(Timestamp(rfc3339: text) == nil) }

  @Test(
    "an instant is written in UTC, fractions only where there are some",
    arguments: [
      (1_372_673_100_000_000, "2013-07-01T10:05:00Z"), (1_372_673_100_120_000, "2013-07-01T10:05:00.120Z"),
      (1_372_673_100_000_001, "2013-07-01T10:05:00.000001Z"), (-1, "1969-12-31T23:59:59.999999Z"),
      (.min, "0000-01-01T00:00:00Z"), (.max, "9999-12-31T23:59:59.999999Z"),
    ] as [(Int64, String)])
  func prints(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
  }

  @Test("every instant reads back as the same")
  func roundTrip() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    for _ in 0..<20_000 {
      let instant = Timestamp(
        microseconds: Int64.random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &random))
      #expect(Timestamp(rfc3339: instant.description) == instant, "seed \(seed)")
    }
  }

  @Test(
    "seconds and milliseconds are rounded down, also at both ends of the range",
    arguments: [
      (0, 0, 0), (999, 0, 0), (1_000_000, 1000, 1), (-1, -1, -1), (-1000, -1, -1), (-1001, -2, -1),
      (-1_000_000, -1000, -1), (-1_000_001, -1001, -2), (.max, 9_223_372_036_854_775, 9_223_372_036_854),
      (.min, -9_223_372_036_854_776, -9_223_372_036_855),
    ] as [(Int64, Int64, Int64)])
  func roundsDown(microseconds: Int64, milliseconds: Int64, seconds: Int64) {
    let instant = Timestamp(microseconds: microseconds)
    #expect(instant.milliseconds == milliseconds)
    #expect(instant.seconds == seconds)
  }

  @Test("a record's timestamp of any number of milliseconds becomes an instant, clamped to the range of microseconds")
  func recordTimestamps() {
    for milliseconds in [Int64.min, -(1 << 62), 1 << 62, .max] {
      let instant = Timestamp(milliseconds: milliseconds)
      #expect(instant.microseconds == (milliseconds < 0 ? .min : .max))
      #expect(instant.milliseconds.magnitude < milliseconds.magnitude)
    }
  }
}
