import Domain

/// Reads the filters of a placeholder, such as `lower`, `prefix:2` and `split:/:1`.
enum KeyFilterParser {
  /// A filter, or the reason why a text is none.
  enum Result: Equatable {
    case filter(KeyFilter)
    case problem(String)
  }

  /// The names of all filters.
  private static let names = ["lower", "prefix", "split"]

  /// Reads one filter.
  static func parse(_ text: String) -> Result {
    let name = String(text.prefix { $0 != ":" })
    let argument = text.dropFirst(name.count + 1)
    switch name {
    case "lower":
      return text == "lower" ? .filter(.lower) : .problem("lower takes nothing after it; write {data.field|lower}")
    case "prefix":
      guard let count = Int(argument), PolicyBounds.keyPrefix.contains(count) else {
        return .problem(
          "expected prefix:N with N from \(PolicyBounds.keyPrefix.lowerBound) to \(PolicyBounds.keyPrefix.upperBound), such as {data.flight|prefix:2}; found \(Excerpt.quoted(text))"
        )
      }
      return .filter(.prefix(count))
    case "split": return split(String(argument), text)
    default:
      let near = NearestName.of(name, among: names).map { " did you mean \($0)?" } ?? ""
      return .problem("unknown filter \(Excerpt.quoted(name));\(near) expected lower, prefix:N or split:SEPARATOR:N")
    }
  }

  private static func split(_ argument: String, _ text: String) -> Result {
    let expected =
      "expected split:SEPARATOR:N, where N is 1 for the first part and -1 for the last, such as {data.route|split:-:1}"
    guard let colon = argument.lastIndex(of: ":") else { return .problem("\(expected); found \(Excerpt.quoted(text))") }
    let separator = String(argument[..<colon])
    guard let number = Int(argument[argument.index(after: colon)...]), number != 0,
      PolicyBounds.keyParts.contains(abs(number)),
      (1...PolicyBounds.keySeparatorBytesMax).contains(separator.utf8.count)
    else { return .problem("\(expected); found \(Excerpt.quoted(text))") }
    return .filter(.part(number, separator: separator))
  }
}
