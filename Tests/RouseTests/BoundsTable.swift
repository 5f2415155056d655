import Domain
import Foundation

/// The bounds of a module, read from its source files. A bound is a constant or a default whose doc comment says with
/// `- Beyond:` what happens beyond it. A type may say it for all of its constants.
struct BoundsTable {
  /// A bound, as its declaration describes it.
  struct Bound {
    /// The constant's name.
    let name: String
    /// The value in words: `262,144 bytes`, `2 h`, `1 to 200`.
    let value: String
    /// The doc comment without its last part: the bounded thing, and the reason for the bound.
    let meaning: String
    /// The consequence of a larger value.
    let beyond: String
  }

  /// The bounds in the order of the files' paths and of their declarations.
  let bounds: [Bound]

  /// Reads the files of a module, or one file of it.
  /// - Parameter path: relative to `Sources`: a folder or a file.
  /// - Throws: a ``PageError`` that names a declaration which is not understood.
  init(_ path: String) throws {
    let root = DocumentationPage.root.appending(path: "Sources/\(path)")
    let files = try path.hasSuffix(".swift") ? [root] : Self.files(below: root)
    bounds = try files.flatMap { file in
      try Self.bounds(in: String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent)
    }
    if bounds.isEmpty { throw PageError(description: "Sources/\(path) states no bound") }
  }

  /// The Swift files below a folder, in the order of their paths.
  static func files(below folder: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted()
      .map { folder.appending(path: $0) }
  }

  /// The names of the constants of a source text that end in `Max`, are not private, and say nothing of what is beyond them.
  static func silentBounds(in text: String) throws -> [String] {
    var silent: [String] = []
    try walk(text) { declaration in
      // A value that is made of other bounds says nothing new.
      let isDerived = declaration.value == "get" || declaration.value.contains(#/[a-z]Max\b/#)
      if declaration.isShared, declaration.name.hasSuffix("Max"), declaration.beyond == nil, !isDerived {
        silent.append(declaration.name)
      }
    }
    return silent
  }

  private static func bounds(in text: String, file: String) throws -> [Bound] {
    var bounds: [Bound] = []
    try walk(text) { declaration in
      guard let beyond = declaration.beyond else { return }
      func refuse(_ problem: String) -> PageError {
        PageError(description: "\(file): \(declaration.name): \(problem)")
      }
      guard !declaration.meaning.isEmpty else { throw refuse("a bound needs a doc comment that says what is bounded") }
      guard let value = BoundValue(declaration)?.text else { throw refuse("write the value as a number or a time") }
      // The unit stands beside the value.
      let meaning = declaration.meaning.replacing(#/, in µs|,? ?(?:Bytes|µs)\.$/#, with: "")
      bounds.append(Bound(name: declaration.name, value: value, meaning: meaning, beyond: beyond))
    }
    return bounds
  }

  /// A constant or a default with its doc comment.
  struct Declaration {
    let name: String
    let value: String
    let meaning: String
    let beyond: String?
    /// Whether other files see a constant of the type.
    let isShared: Bool
  }

  /// Calls the body for each constant or default of a text.
  private static func walk(_ text: String, _ body: (Declaration) throws -> Void) throws {
    var comment: [String] = []
    var beyondOfType: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if trimmed.hasPrefix("///") {
        comment.append(String(trimmed.dropFirst(3)).trimmingCharacters(in: .whitespaces))
        continue
      }
      defer { comment = [] }
      let (meaning, beyond) = parts(comment)
      if trimmed.contains(#/^(?:[a-z@]+ )*(?:enum|struct|class|extension) /#) {
        beyondOfType = beyond
      } else if let match = trimmed.firstMatch(
        of: /^((?:[a-z@]+ )*)(?:let|var) (\w+)(?:: [\w<>]+\??)? (?:= (.+?)|\{ (.+?) \})(?: *\/\/.*)?$/)
      {
        let words = match.1.split(separator: " ")
        try body(
          Declaration(
            name: String(match.2), value: String(match.3 ?? match.4 ?? ""), meaning: meaning,
            beyond: beyond ?? (words.contains("static") ? beyondOfType : nil),
            isShared: words.contains("static") && !words.contains { $0.hasSuffix("private") }))
      }
    }
  }

  /// Splits a doc comment at `- Beyond:`.
  private static func parts(_ comment: [String]) -> (meaning: String, beyond: String?) {
    let text = comment.filter { !$0.isEmpty }.joined(separator: " ")
    guard let mark = text.firstRange(of: "- Beyond:") else { return (text, nil) }
    func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: .whitespaces) }
    return (trimmed(text[..<mark.lowerBound]), trimmed(text[mark.upperBound...]))
  }
}

/// The value of a bound in words.
private struct BoundValue {
  let text: String

  /// Reads numbers, products and shifts of numbers, `.minutes(5)` with or without the name of the type, and ranges of these.
  init?(_ declaration: BoundsTable.Declaration) {
    let unit: Unit =
      if declaration.meaning.contains("µs") {
        .microseconds
      } else if declaration.name.contains("Bytes") {
        .bytes
      } else {
        .none
      }
    let ends = declaration.value.split(separator: "...", omittingEmptySubsequences: false)
    let texts = ends.compactMap { Self.text(String($0), unit) }
    guard texts.count == ends.count, ends.count <= 2 else { return nil }
    text = texts.joined(separator: " to ") + (unit == .bytes ? " bytes" : "")
  }

  private enum Unit { case none, bytes, microseconds }

  private static func text(_ value: String, _ unit: Unit) -> String? {
    if let time = value.wholeMatch(of: /(?:TimeSpan|Duration)?\.(zero|[a-z]+\((.+)\))/) {
      guard let argument = time.2 else { return "0 s" }
      guard let count = number(String(argument)), let size = timeUnits[String(time.1.prefix { $0 != "(" })] else {
        return nil
      }
      return Self.time(count * size)
    }
    if let instant = value.wholeMatch(of: /Timestamp\(microseconds: (\d+)\)/) {
      return Int64(instant.1).map { "\(Timestamp(microseconds: $0))" }
    }
    if value == "Int(UInt16.max)" { return grouped(Double(UInt16.max)) }
    guard let number = number(value) else { return nil }
    return switch unit {
    case .none, .bytes: grouped(number)
    case .microseconds: time(number)
    }
  }

  private static let timeUnits: [String: Double] = [
    "microseconds": 1, "milliseconds": 1e3, "seconds": 1e6, "minutes": 6e7, "hours": 3.6e9,
  ]

  /// A number, or a product or shift of numbers.
  private static func number(_ text: String) -> Double? {
    if let shift = text.firstRange(of: " << ") {
      guard let base = Int(text[..<shift.lowerBound]), let by = Int(text[shift.upperBound...]) else { return nil }
      return Double(base << by)
    }
    let factors = text.components(separatedBy: " * ").map { Double($0.replacing("_", with: "")) }
    return factors.reduce(1) { product, factor in
      guard let product, let factor else { return nil }
      return product * factor
    }
  }

  private static func time(_ microseconds: Double) -> String {
    let units: [(String, Double)] = [("d", 8.64e10), ("h", 3.6e9), ("min", 6e7), ("s", 1e6), ("ms", 1e3)]
    for (name, size) in units where microseconds / size == (microseconds / size).rounded() && microseconds >= size {
      return "\(grouped(microseconds / size)) \(name)"
    }
    return "\(grouped(microseconds)) µs"
  }

  private static func grouped(_ number: Double) -> String {
    guard number == number.rounded(), number.magnitude < 1e15 else { return "\(number)" }
    var digits = String(Int(number.magnitude))
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "−" : "") + ([digits] + groups).joined(separator: ",")
  }
}
