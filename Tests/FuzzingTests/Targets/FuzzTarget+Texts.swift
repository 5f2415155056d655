import Domain
import JSON
import Policies

extension FuzzTarget {
  /// Readers of texts that occur inside of records.
  static let textTargets = [json, times, printable]

  /// Any JSON: what was read is written and read again.
  private static let json = FuzzTarget(
    name: "json", form: .text, cases: 20_000,
    seeds: {
      try FuzzExamples.files("domain-event/valid") + FuzzExamples.files("command/valid")
        + FuzzExamples.files("domain-event/invalid")
    },
    body: { input in
      let value: JSONValue
      do throws(JSONError) {
        value = try JSONReader().read(input) { (node: JSONNode) throws(JSONError) in JSONValue(node) }
      } catch { return }
      var writer = JSONWriter(reserving: 64)
      writer.value(value)
      let text = String(decoding: writer.bytes, as: UTF8.self)
      try FuzzFinding.unless(try JSONValue(parsing: text) == value, "the value changed when it was written as \(text)")
    })

  /// RFC 3339 times and the durations of policies.
  private static let times = FuzzTarget(
    name: "times", form: .bytes, cases: 20_000,
    seeds: {
      [
        "2026-07-01T12:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999+23:59", "1972-02-29t00:00:00z",
        "5m",
        "1h30m", "24h", "7d", "0s", "99999999999999999d",
      ].map { Array($0.utf8) }
    },
    body: { input in
      let text = String(decoding: input, as: UTF8.self)
      if let time = Timestamp(rfc3339: text) {
        try FuzzFinding.unless(Timestamp(rfc3339: "\(time)") == time, "\(time) is not read as it was written")
      }
      let span: TimeSpan
      do { span = try DurationText.parse(text) } catch { return }
      let written = DurationText.format(span)
      try FuzzFinding.unless(try DurationText.parse(written) == span, "\(written) is not read as it was written")
    })

  /// Text for terminals and logs: one line without controls.
  private static let printable = FuzzTarget(
    name: "printable-text", form: .bytes, cases: 20_000,
    seeds: {
      FuzzWords.characters + ["flight/UA1", "\u{202e}abc\u{2066}", "line\nline\r\u{85}\u{2028}"].map { Array($0.utf8) }
    },
    body: { input in
      let text: PrintableText = "device \(String(decoding: input, as: UTF8.self))"
      for scalar in text.description.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator:
          throw FuzzFinding("the control U+\(String(scalar.value, radix: 16)) was not escaped")
        case _ where scalar.properties.isBidiControl:
          throw FuzzFinding("U+\(String(scalar.value, radix: 16)), which reorders text, was not escaped")
        case _: continue
        }
      }
    })
}
