package import Domain

/// Numbers and times as text for people, the same in every locale.
package enum Figure {
  /// A number with at most three decimals and without trailing zeros. A small one has more decimals, so that at least two
  /// significant digits stay.
  package static func decimal(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    var scale = 1000.0
    while value != 0, abs(value) * scale < 10, scale < 1e9 { scale *= 10 }
    let scaled = Int64((abs(value) * scale).rounded())
    let whole = scaled / Int64(scale)
    var digits = String(scaled % Int64(scale))
    digits = String(repeating: "0", count: String(Int64(scale)).count - 1 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return (value < 0 && scaled > 0 ? "-" : "") + (digits.isEmpty ? "\(whole)" : "\(whole).\(digits)")
  }

  /// A share of 1 in percent, without decimals from 1 % on: `64 %`.
  package static func percent(_ share: Double) -> String {
    let percent = share * 100
    return "\(decimal(abs(percent) < 1 ? percent : percent.rounded())) %"
  }

  /// A number of looks with the noun: `0.8 looks`.
  package static func looks(_ looks: Double) -> String {
    let number = decimal(looks)
    return number == "1" ? "1 look" : "\(number) looks"
  }

  /// An integer with thousands separators: `12,345,678`.
  package static func grouped(_ value: Int64) -> String {
    var text = ""
    for (index, digit) in String(value.magnitude).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + String(text.reversed())
  }

  /// `1 token`, `5 tokens`, or `unknown tokens` for nil.
  package static func tokens(_ count: Int?) -> String { count.map { self.count($0, "token") } ?? "unknown tokens" }

  /// A count with its noun, which takes an "s" for all counts but one.
  package static func count(_ count: Int, _ noun: String) -> String { self.count(count, noun, noun + "s") }

  /// A count with its noun: `one` for 1, `many` for other counts.
  package static func count(_ count: Int, _ one: String, _ many: String) -> String {
    "\(grouped(Int64(count))) \(count == 1 ? one : many)"
  }

  /// A time in RFC 3339 and UTC.
  package static func time(_ time: Timestamp) -> String { time.description }

  /// The date, such as `2026-11-20`, of a day counted from 1970-01-01.
  package static func day(_ days: Int64) -> String {
    String(time(Timestamp(microseconds: days.multipliedSaturating(by: 86_400_000_000))).prefix { $0 != "T" })
  }

  /// A length of time in at most two units: `1 h 5 min`, `30 s`.
  package static func span(_ span: TimeSpan) -> String {
    let seconds = span.microseconds / 1_000_000
    if seconds < 1 { return "\(span.microseconds / 1000) ms" }
    let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    var rest = seconds
    var parts: [String] = []
    for (size, name) in units where parts.count < 2 {
      if rest >= size {
        parts.append("\(rest / size) \(name)")
        rest %= size
      } else if !parts.isEmpty {
        break
      }
    }
    return parts.joined(separator: " ")
  }
}
