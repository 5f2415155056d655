import Domain

/// A value of the document, with its path and its place.
struct Located {
  /// The path of the value.
  var path: String
  /// The value.
  var node: YAMLNode
  /// The place of the key that the value belongs to, for messages about what is missing in the value.
  var owner: Position
}

/// The keys of one mapping of the document.
struct LocatedKeys {
  /// The path of the mapping.
  var path: String
  /// The place of the mapping's own key.
  var owner: Position
  fileprivate var values: [Identifier: Located] = [:]
  subscript(key: String) -> Located? { values[Identifier(key)] }
}

/// Reads the values of a document strictly. It continues after a mistake, so that one run shows all of them: every method
/// returns nil if the value is absent or wrong, and records what is wrong.
struct StrictReader {
  /// The name of the document, for messages.
  let file: String
  /// The text of the document.
  let source: SourceText
  /// The problems found so far, at most 100 of each severity.
  private(set) var problems: [PolicyProblem] = []
  /// The place of each value that was read, by path.
  private(set) var positions = PlacesByPath()

  init(file: String, source: SourceText) {
    self.file = file
    self.source = source
  }

  /// Whether the document will be refused.
  private(set) var hasErrors = false

  /// The problems in the order of the document, warnings included.
  var sortedProblems: [PolicyProblem] {
    problems.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }
    .map(\.element)
  }

  /// Notes an error.
  mutating func error(_ position: Position, _ path: String, _ message: String) {
    note(.error, position, path, message)
  }

  /// Notes a warning.
  mutating func warning(_ position: Position, _ path: String, _ message: String) {
    note(.warning, position, path, message)
  }

  private mutating func note(
    _ severity: PolicyProblem.Severity, _ position: Position, _ path: String, _ message: String
  ) {
    if severity == .error { hasErrors = true }
    guard problems.count(where: { $0.severity == severity }) < PolicyBounds.problemsMax else { return }
    let place = source.clamped(position)
    problems.append(
      PolicyProblem(
        severity: severity, file: file, line: place.line, column: place.column, path: path, message: message))
  }

  // MARK: Mappings and lists

  /// Reads the keys of a mapping, and notes unknown and missing ones.
  /// - Parameters:
  ///   - value: the mapping.
  ///   - allowed: all keys that the mapping may have, in the order in which messages list them.
  ///   - required: the keys that it must have.
  ///   - reasons: the reason why a key is required, for keys that are not always required.
  mutating func keys(
    _ value: Located, allowed: [String], required: [String] = [], reasons: [String: String] = [:]
  ) -> LocatedKeys? {
    guard case .mapping(let entries) = value.node.content else {
      mismatch(value, expected: "a mapping with \(Self.list(allowed))")
      return nil
    }
    guard entries.count <= PolicyBounds.keysMax else {
      error(value.owner, value.path, "\(entries.count) keys; a mapping with \(Self.list(allowed)) was expected")
      return nil
    }
    positions[value.path] = value.owner
    var keys = LocatedKeys(path: value.path, owner: value.owner)
    for entry in entries {
      let path = Self.path(value.path, entry.key)
      if allowed.contains(entry.key) {
        keys.values[Identifier(entry.key)] = Located(path: path, node: entry.value, owner: entry.keyPosition)
      } else {
        error(
          entry.keyPosition, path,
          "unknown key\(Self.suggestion(entry.key, allowed)) allowed: \(allowed.joined(separator: ", "))")
      }
    }
    for key in required
    where keys[key] == nil && !entries.contains(where: { Self.meant($0.key, allowed) == key }) {
      error(value.owner, value.path, "\(key) is missing; \(reasons[key] ?? "it is required")")
    }
    return keys
  }

  /// Reads a mapping whose keys are names that the author of the document chooses.
  /// - Parameters:
  ///   - value: the mapping.
  ///   - what: the kind of name, for messages: `a bundle id`.
  ///   - meaning: the kind of value that a name has, for messages: `its policy`.
  ///   - max: the largest number of entries.
  mutating func named(
    _ value: Located?, _ what: String, to meaning: String = "its policy", max: Int
  ) -> [(name: Identifier, value: Located)]? {
    guard let value else { return nil }
    guard case .mapping(let entries) = value.node.content else {
      mismatch(value, expected: "a mapping from \(what) to \(meaning)")
      return nil
    }
    positions[value.path] = value.owner
    guard entries.count <= max else {
      error(value.owner, value.path, "\(entries.count) entries; at most \(max) are allowed")
      return nil
    }
    return entries.compactMap { entry in
      let path = Self.path(value.path, entry.key)
      guard (1...DomainBounds.nameBytesMax).contains(entry.key.utf8.count) else {
        error(
          entry.keyPosition, path,
          "\(what) has 1 to \(DomainBounds.nameBytesMax) bytes, this one \(entry.key.utf8.count)")
        return nil
      }
      return (Identifier(entry.key), Located(path: path, node: entry.value, owner: entry.keyPosition))
    }
  }

  /// Reads a list.
  /// - Parameters:
  ///   - what: the noun for the elements, for messages.
  ///   - count: the allowed numbers of elements.
  mutating func list(_ value: Located?, of what: String, count: ClosedRange<Int>) -> [Located]? {
    guard let value else { return nil }
    guard case .list(let nodes) = value.node.content else {
      mismatch(value, expected: "a list of \(what)")
      return nil
    }
    positions[value.path] = value.owner
    guard count.contains(nodes.count) else {
      let bound =
        count.lowerBound == count.upperBound
        ? "\(count.lowerBound)"
        : nodes.count < count.lowerBound ? "at least \(count.lowerBound)" : "at most \(count.upperBound)"
      error(value.node.position, value.path, "a list of \(nodes.count) \(what); expected \(bound)")
      return nil
    }
    return nodes.enumerated().map { index, node in
      Located(path: "\(value.path)[\(index)]", node: node, owner: node.position)
    }
  }

  // MARK: Scalars

  /// Records the place of a value that was not read by one of the methods below.
  mutating func keep(_ value: Located) { positions[value.path] = value.owner }

  /// Whether each of these keys of a mapping is there and its value was read without an error.
  func wereRead(_ names: [String], of mapping: Located) -> Bool {
    names.allSatisfy { positions[Self.path(mapping.path, $0)] != nil }
  }

  /// Reads a text that is not empty. A number or a boolean counts as the text that it is written with.
  mutating func text(_ value: Located?, _ expected: String, bytesMax: Int = DomainBounds.nameBytesMax) -> String? {
    guard let value else { return nil }
    guard case .scalar(let text, _) = value.node.content, !text.isEmpty else {
      mismatch(value, expected: expected)
      return nil
    }
    guard text.utf8.count <= bytesMax else {
      error(
        value.node.position, value.path,
        "a text of \(text.utf8.count) bytes; expected \(expected), at most \(bytesMax) bytes")
      return nil
    }
    positions[value.path] = value.owner
    return text
  }

  /// Reads a text that is not empty and that other YAML readers also take for a text: `12`, `true` and `null` need quotation
  /// marks.
  mutating func name(_ value: Located?, _ expected: String, bytesMax: Int = DomainBounds.nameBytesMax) -> String? {
    guard let value else { return nil }
    if case .scalar(let text, plain: true) = value.node.content, !text.isEmpty,
      NumberText.parse(text) != nil || ScalarText.isWord(text)
    {
      error(
        value.node.position, value.path,
        "expected \(expected); found \(Self.describe(value.node)), which is no text without quotation marks")
      return nil
    }
    return text(value, expected, bytesMax: bytesMax)
  }

  /// Reads one of several texts.
  mutating func choice(_ value: Located?, among choices: [String]) -> String? {
    guard let value, let text = text(value, "one of \(Self.list(choices))") else { return nil }
    if choices.contains(text) { return text }
    error(
      value.node.position, value.path,
      "unknown value \(Excerpt.quoted(text))\(Self.suggestion(text, choices)) expected one of \(Self.list(choices))")
    return nil
  }

  /// Reads `true` or `false`.
  mutating func flag(_ value: Located?) -> Bool? {
    guard let value else { return nil }
    if case .scalar(let text, plain: true) = value.node.content, text == "true" || text == "false" {
      positions[value.path] = value.owner
      return text == "true"
    }
    mismatch(
      value, expected: "true or false", unquoted: text(of: value).map { ["true", "false"].contains($0) } ?? false)
    return nil
  }

  /// Reads a number, and returns its text and its value.
  private mutating func numeral(_ value: Located, _ expected: String) -> (text: String, number: Double)? {
    if case .scalar(let text, plain: true) = value.node.content, let number = NumberText.parse(text) {
      return (text, number)
    }
    mismatch(value, expected: expected, unquoted: text(of: value).flatMap(NumberText.parse) != nil)
    return nil
  }

  /// Reads a number within bounds.
  mutating func number(_ value: Located?, in range: ClosedRange<Double>) -> Double? {
    guard let value else { return nil }
    let expected = "a number from \(NumberText.format(range.lowerBound)) to \(NumberText.format(range.upperBound))"
    guard let (text, number) = numeral(value, expected) else { return nil }
    guard range.contains(number) else {
      error(
        value.node.position, value.path,
        "\(Excerpt.short(text)) is out of range; expected \(expected)")
      return nil
    }
    positions[value.path] = value.owner
    return number
  }

  /// Reads a whole number within bounds.
  mutating func integer(_ value: Located?, in range: ClosedRange<Int>) -> Int? {
    guard let value else { return nil }
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let (text, number) = numeral(value, expected) else { return nil }
    guard let whole = Int(exactly: number), range.contains(whole) else {
      let what = number == number.rounded() ? "out of range" : "not a whole number"
      error(
        value.node.position, value.path,
        "\(Excerpt.short(text)) is \(what); expected \(expected)")
      return nil
    }
    positions[value.path] = value.owner
    return whole
  }

  /// Reads a duration within bounds.
  /// - Parameter reason: the reason for the bounds, for the message.
  mutating func duration(_ value: Located?, in range: ClosedRange<TimeSpan>, reason: String? = nil) -> TimeSpan? {
    guard let value else { return nil }
    let bounds = "from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
    guard let text = text(value, "a duration such as 15m, \(bounds)") else { return nil }
    do {
      let span = try DurationText.parse(text)
      if range.contains(span) { return span }
      let why = reason.map { ": \($0)" } ?? ""
      error(value.node.position, value.path, "\(text) is out of range; expected a duration \(bounds)\(why)")
    } catch let refusal {
      error(value.node.position, value.path, refusal.message)
    }
    return nil
  }

  /// Reads a local time `HH:MM`, as minutes after midnight.
  mutating func clock(_ value: Located?) -> Int? {
    let expected = "a local time HH:MM from 00:00 to 23:59"
    guard let value, let text = text(value, expected) else { return nil }
    let digits = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    if digits.count == 2, digits.allSatisfy({ $0.count == 2 && $0.allSatisfy { (48...57).contains($0) } }),
      let hour = Int(String(digits[0]) ?? ""), let minute = Int(String(digits[1]) ?? ""), hour < 24, minute < 60
    {
      return hour * 60 + minute
    }
    mismatch(value, expected: expected)
    return nil
  }

  /// Reads 24 weights, one for each local hour.
  mutating func hours(_ value: Located?) -> [Double]? {
    guard let value, let items = list(value, of: "weights, one per hour 0 to 23", count: 24...24) else { return nil }
    let weights = items.compactMap { number($0, in: PolicyBounds.hourWeight) }
    guard weights.count == 24 else { return nil }
    guard weights.reduce(0, +) > 0 else {
      error(value.node.position, value.path, "all 24 weights are 0; expected at least one above 0")
      return nil
    }
    return weights
  }

  // MARK: Words

  /// Notes that a value has another form than was expected.
  /// - Parameter unquoted: whether the value would be right without its quotation marks.
  mutating func mismatch(_ value: Located, expected: String, unquoted: Bool = false) {
    let hint = unquoted ? "; remove the quotation marks" : ""
    error(value.node.position, value.path, "expected \(expected); found \(Self.describe(value.node))\(hint)")
  }

  private func text(of value: Located) -> String? {
    if case .scalar(let text, plain: false) = value.node.content { return text }
    return nil
  }

  /// Returns a short description of a value, for messages.
  static func describe(_ node: YAMLNode) -> String {
    switch node.content {
    case .list: "a list"
    case .mapping: "a mapping"
    case .scalar("", plain: true), .scalar("~", plain: true), .scalar("null", plain: true): "nothing"
    case .scalar(let text, plain: true): Excerpt.quoted(text)
    case .scalar(let text, plain: false): "the text \(Excerpt.quoted(text))"
    }
  }

  /// Returns `; did you mean perDay?` if a candidate is similar to the name, else `;`.
  static func suggestion(_ name: String, _ candidates: [String]) -> String {
    meant(name, candidates).map { "; did you mean \($0)?" } ?? ";"
  }

  /// Words that people write instead of a name with a quite different spelling. A rule has no key `on`, because `on` is the
  /// boolean true in YAML 1.1.
  private static let synonyms = ["on": "event"]

  /// Returns the candidate that `name` most likely means; nil if none is similar.
  private static func meant(_ name: String, _ candidates: [String]) -> String? {
    if let synonym = synonyms[name], candidates.contains(synonym) { return synonym }
    return NearestName.of(name, among: candidates)
  }

  /// Returns names as a list in words: `a, b or c`.
  static func list(_ names: [String]) -> String {
    names.count < 2 ? names.joined() : "\(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])"
  }

  /// Returns the path of a key that the author of the document chose.
  static func path(_ parent: String, _ key: Identifier) -> String { path(parent, key.text) }

  /// Returns the path of a key: `kinds.FlightStatus`. Names that are no plain words are put in brackets, as in
  /// `apps[com.example.flights]`.
  static func path(_ parent: String, _ key: String) -> String {
    let isWord =
      !key.isEmpty
      && key.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95 || $0 == 45
      }
    let shown = key.utf8.count > DomainBounds.nameBytesMax ? Excerpt.short(key) : key
    if parent.isEmpty { return isWord ? shown : "[\(shown)]" }
    return isWord ? "\(parent).\(shown)" : "\(parent)[\(shown)]"
  }
}

/// Scalars without quotation marks that are no texts, or none to other readers of YAML. Source: the core schema of YAML 1.2.
enum ScalarText {
  /// Returns whether a scalar is true, false or nothing, however it is spelled.
  static func isWord(_ text: String) -> Bool {
    ["~", "null", "true", "false"].contains(text) || word(writtenAs: text) != nil
  }

  /// Returns the word that a text is another spelling of: `true`, `false` or `null`; nil if it is none.
  static func word(writtenAs text: String) -> String? {
    switch text {
    case "True", "TRUE": "true"
    case "False", "FALSE": "false"
    case "Null", "NULL": "null"
    default: nil
    }
  }

  /// Returns whether a text that `NumberText` does not take for a number is one in YAML: `0x1F`, `+5`, `.5`, `010`, `.inf`.
  static func isNumberElsewhere(_ text: String) -> Bool {
    let decimal = /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/
    let other = /0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)/
    return text.wholeMatch(of: decimal) != nil || text.wholeMatch(of: other) != nil
  }
}

/// The texts of numbers, as YAML 1.2 and JSON write them. `0x10`, `1_000` and `.inf` are no numbers, and neither are leading
/// zeros, which YAML 1.1 reads as octal.
enum NumberText {
  /// Returns the number that a text denotes; nil if it is none.
  static func parse(_ text: String) -> Double? {
    let characters = Array(text.utf8)
    let digits = characters.first == UInt8(ascii: "-") ? characters.dropFirst() : characters[...]
    guard let first = digits.first, (48...57).contains(first), digits.count <= 32 else { return nil }
    let hasLeadingZero = first == 48 && digits.dropFirst().first.map { (48...57).contains($0) } == true
    let isDecimal = digits.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
    guard isDecimal, !hasLeadingZero, let number = Double(text), number.isFinite else { return nil }
    return number
  }

  /// Returns the value of a number in events that a text denotes, an integer exactly; nil if it is none.
  static func value(_ text: String) -> FieldValue? {
    guard let number = parse(text) else { return nil }
    guard text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (48...57).contains($0) }) else { return .number(number) }
    let isNegative = text.hasPrefix("-")
    guard let magnitude = UInt64(isNegative ? text.dropFirst() : text[...]), !isNegative || magnitude <= 1 << 63
    else { return .inexact(number) }
    return FieldValue(magnitude: magnitude, isNegative: isNegative)
  }

  /// Returns the text of a number. Whole numbers have no fraction.
  static func format(_ number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return "\(number)"
  }
}
