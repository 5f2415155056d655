import Foundation

/// Formats numbers for people, the same in every locale.
enum Digits {
  /// Returns a number with commas: `12,345,678`.
  static func grouped(_ value: Int) -> String {
    var text = ""
    for (index, digit) in String(value.magnitude).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + String(text.reversed())
  }

  /// Returns a number with a fixed count of decimals. What is rounded to zero has no sign.
  static func decimal(_ value: Double, _ places: Int) -> String {
    let text = String(format: "%.\(places)f", locale: Locale(identifier: "en_US_POSIX"), value)
    return text.hasPrefix("-") && !text.contains { ("1"..."9").contains($0) } ? String(text.dropFirst()) : text
  }

  /// Returns `1 device` or `2 devices`.
  static func count(_ value: Int, _ noun: String) -> String { count(value, noun, "\(noun)s") }

  /// Returns a number with the singular or the plural of a noun.
  static func count(_ value: Int, _ one: String, _ many: String) -> String {
    "\(grouped(value)) \(value == 1 ? one : many)"
  }
}
