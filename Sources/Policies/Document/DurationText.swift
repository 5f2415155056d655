public import Domain

/// Lengths of time the way people write them: `500ms`, `15s`, `5m`, `24h`, `7d`, `1h30m`.
public enum DurationText {
  /// Why a text is not a duration; words for a person.
  public struct Refusal: Error, Equatable, Sendable {
    public var message: String
  }

  /// Units in falling order: the order in which a compound duration names them.
  private static let units: [(name: String, microseconds: Int64)] = [
    ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000),
  ]

  /// Whole numbers with a unit each, largest unit first, each unit at most once. Never negative.
  public static func parse(_ text: String) throws(Refusal) -> TimeSpan {
    var rest = Array(text.utf8)[...]
    guard !rest.isEmpty else { throw Refusal(message: "expected a duration such as 15m; found nothing") }
    var total: Int64 = 0
    var unitsLeft = units[...]
    while !rest.isEmpty {
      let digits = rest.prefix { (48...57).contains($0) }
      rest = rest.dropFirst(digits.count)
      let letters = rest.prefix { (97...122).contains($0) }
      rest = rest.dropFirst(letters.count)
      let name = String(decoding: letters, as: UTF8.self)
      guard !digits.isEmpty, !(letters.isEmpty && !rest.isEmpty) else { throw refusal(text) }
      guard !letters.isEmpty || unitsLeft.count == units.count else {
        throw Refusal(message: "each number needs a unit, as in 1h30m; found \(Excerpt.quoted(text))")
      }
      guard !letters.isEmpty else {
        throw Refusal(
          message:
            "a duration needs a unit: write \(Excerpt.short(text))s, \(Excerpt.short(text))m or \(Excerpt.short(text))h (units: d, h, m, s, ms)"
        )
      }
      guard let unit = units.first(where: { $0.name == name }) else {
        throw Refusal(message: "unknown unit \(Excerpt.short(name)) in \(Excerpt.short(text)); units: d, h, m, s, ms")
      }
      guard let place = unitsLeft.firstIndex(where: { $0.name == name }) else {
        throw Refusal(message: "units of \(Excerpt.short(text)) must fall, each at most once, as in 1h30m")
      }
      unitsLeft = unitsLeft[(place + 1)...]
      guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { throw tooLong(text) }
      let (part, partOverflows) = number.multipliedReportingOverflow(by: unit.microseconds)
      let (sum, sumOverflows) = total.addingReportingOverflow(part)
      guard !partOverflows, !sumOverflows else { throw tooLong(text) }
      total = sum
    }
    return TimeSpan(microseconds: total)
  }

  /// The shortest text that `parse` reads back; microseconds below a millisecond are dropped.
  public static func format(_ span: TimeSpan) -> String {
    var rest = span.microseconds
    guard rest >= 1000 else { return "0s" }
    var text = ""
    for unit in units where rest >= unit.microseconds {
      text += "\(rest / unit.microseconds)\(unit.name)"
      rest %= unit.microseconds
    }
    return text
  }

  private static func refusal(_ text: String) -> Refusal {
    Refusal(message: "expected a duration such as 15m, 24h or 1h30m; found \(Excerpt.quoted(text))")
  }

  private static func tooLong(_ text: String) -> Refusal {
    Refusal(message: "the duration \(Excerpt.quoted(text)) is too long to count")
  }
}
