/// A step that makes a part of an interest key from a field's text, as in `{data.flight|prefix:2}`.
public enum KeyFilter: Equatable, Sendable {
  /// The text in lower case, by Unicode's rules and independent of any language.
  case lower
  /// The first characters of the text, as many as this; the whole text if it is shorter. Characters are Unicode scalars.
  case prefix(Int)
  /// One of the parts into which a separator divides the text: 1 is the first, −1 the last.
  case part(Int, separator: String)

  /// Returns the text after this step; nil if there is no such part, or nothing is left.
  func callAsFunction(_ text: String) -> String? {
    let result: String
    switch self {
    case .lower: result = text.lowercased()
    case .prefix(let count): result = String(text.unicodeScalars.prefix(count))
    case .part(let number, let separator):
      let parts = Self.split(text, by: separator)
      let place = number > 0 ? number - 1 : parts.count + number
      guard parts.indices.contains(place) else { return nil }
      result = parts[place]
    }
    return result.isEmpty ? nil : result
  }

  /// Splits a text by bytes, so that no combining mark hides a separator.
  private static func split(_ text: String, by separator: String) -> [String] {
    let mark = Array(separator.utf8)
    guard !mark.isEmpty else { return [text] }
    var parts: [String] = []
    var rest = Array(text.utf8)[...]
    while let found = rest.firstRange(of: mark) {
      parts.append(String(decoding: rest[..<found.lowerBound], as: UTF8.self))
      rest = rest[found.upperBound...]
    }
    return parts + [String(decoding: rest, as: UTF8.self)]
  }
}
