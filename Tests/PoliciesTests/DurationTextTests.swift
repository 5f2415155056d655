import Domain
import Testing

@testable import Policies

@Suite struct DurationTextTests {
  @Test(
    "durations are read with their units",
    arguments: [
      ("500ms", 500_000), ("15s", 15_000_000), ("5m", 300_000_000), ("24h", 86_400_000_000), ("7d", 604_800_000_000),
      ("1h30m", 5_400_000_000), ("1d2h3m4s5ms", 93_784_005_000), ("0s", 0), ("090s", 90_000_000),
    ] as [(String, Int64)])
  func good(_ text: String, _ microseconds: Int64) throws {
    #expect(try DurationText.parse(text) == TimeSpan(microseconds: microseconds))
  }

  @Test(
    "a text that is not a duration is refused with advice",
    arguments: [
      ("", "expected a duration such as 15m; found nothing"),
      ("15", "a duration needs a unit: write 15s, 15m or 15h (units: d, h, m, s, ms)"),
      ("1h30", "each number needs a unit, as in 1h30m; found \"1h30\""),
      ("15min", "unknown unit min in 15min; units: d, h, m, s, ms"),
      ("30m1h", "units of 30m1h must fall, each at most once, as in 1h30m"),
      ("1m1m", "units of 1m1m must fall, each at most once, as in 1h30m"),
      ("-5m", "expected a duration such as 15m, 24h or 1h30m; found \"-5m\""),
      ("1.5h", "expected a duration such as 15m, 24h or 1h30m; found \"1.5h\""),
      ("5 m", "expected a duration such as 15m, 24h or 1h30m; found \"5 m\""),
      ("5M", "expected a duration such as 15m, 24h or 1h30m; found \"5M\""),
      ("99999999999999999999s", "the duration \"99999999999999999999s\" is too long to count"),
      ("9223372036854775807ms", "the duration \"9223372036854775807ms\" is too long to count"),
    ])
  func bad(_ text: String, _ message: String) {
    #expect(throws: DurationText.Refusal(message: message)) { try DurationText.parse(text) }
  }

  @Test("written durations are read back")
  func roundTrip() throws {
    let seed: UInt64 = 20_130_701
    var random = SeededRandom(seed: seed)
    for _ in 0..<2000 {
      let span = TimeSpan(microseconds: Int64.random(in: 0...10_000_000_000, using: &random) * 1000)
      let text = DurationText.format(span)
      #expect(try DurationText.parse(text) == span, "seed \(seed), \(text)")
    }
  }
}
