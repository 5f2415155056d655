import Domain

/// Reads texts with placeholders, such as `airport/{data.origin}`.
enum InterestTemplateParser {
  /// A mistake in a text, and its place: the number of Unicode scalars before it.
  struct Refusal: Error, Equatable {
    var offset: Int
    var message: String
  }

  /// Splits a text into its parts.
  /// - Throws: the first mistake.
  static func parse(_ text: String) throws(Refusal) -> InterestTemplate {
    guard !text.isEmpty else {
      throw Refusal(offset: 0, message: "expected an interest key such as {subject}; found nothing")
    }
    var parts: [InterestTemplate.Part] = []
    var literal = ""
    var field: (name: String, offset: Int)?
    for (offset, scalar) in text.unicodeScalars.enumerated() {
      switch (scalar, field) {
      case ("{", nil):
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        field = ("", offset)
      case ("{", _): throw Refusal(offset: offset, message: "a { inside { }; close the first one before it")
      case ("}", nil): throw Refusal(offset: offset, message: "a } without a { before it")
      case ("}", let open?):
        parts.append(try placeholder(open.name, at: open.offset + 1))
        field = nil
      case (_, let open?): field = (open.name + String(scalar), open.offset)
      default: literal.unicodeScalars.append(scalar)
      }
    }
    if let open = field {
      throw Refusal(offset: open.offset, message: "this { is not closed; write {subject} or {data.field}")
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
    return InterestTemplate(parts: parts)
  }
}

extension InterestTemplateParser {
  /// Reads a placeholder without its braces: a field, and filters after a `|` each.
  /// - Parameter offset: The number of Unicode scalars before it.
  private static func placeholder(_ text: String, at offset: Int) throws(Refusal) -> InterestTemplate.Part {
    let pieces = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    if let message = FieldPath.problem(pieces[0], eventAttributes: true) {
      throw Refusal(offset: offset, message: message)
    }
    let path = Identifier(pieces[0])
    if pieces.count == 1 { return .field(path) }
    guard pieces.count - 1 <= PolicyBounds.keyFiltersMax else {
      throw Refusal(
        offset: offset,
        message: "a placeholder has at most \(PolicyBounds.keyFiltersMax) filters; found \(pieces.count - 1)")
    }
    var filters: [KeyFilter] = []
    var at = offset + pieces[0].unicodeScalars.count + 1
    for piece in pieces.dropFirst() {
      switch KeyFilterParser.parse(piece) {
      case .filter(let filter): filters.append(filter)
      case .problem(let message): throw Refusal(offset: at, message: message)
      }
      at += piece.unicodeScalars.count + 1
    }
    return .filtered(path, filters)
  }
}

/// The names of an event's fields, as a policy writes them.
enum FieldPath {
  /// The CloudEvents attributes that an interest key may contain.
  private static let attributes = ["subject", "type", "source"]

  /// Returns a message about what is wrong with a path; nil for a good one.
  /// - Parameter eventAttributes: whether attributes of the event are allowed, as in interest keys.
  static func problem(_ path: String, eventAttributes: Bool) -> String? {
    if eventAttributes, attributes.contains(path) { return nil }
    let expected = eventAttributes ? "subject, type, source or data.<field>" : "data.<field>"
    let segments = path.split(separator: ".", omittingEmptySubsequences: false)
    if segments.first == "data", segments.count > 1 {
      guard path.utf8.count <= DomainBounds.nameBytesMax else {
        return "a field path has at most \(DomainBounds.nameBytesMax) bytes"
      }
      let isWhole = segments.allSatisfy { !$0.isEmpty && !$0.unicodeScalars.contains { $0.properties.isWhitespace } }
      return isWhole ? nil : "\(Excerpt.quoted(path)) is not a field path; expected \(expected)"
    }
    if attributes.contains(path) { return "\(path) has no meaning here; expected \(expected)" }
    let near = eventAttributes ? NearestName.of(path, among: attributes) : nil
    let hint = near ?? (path.isEmpty || path == "data" ? nil : "data.\(path)")
    let suggestion = hint.map { " did you mean \($0)?" } ?? ""
    return "unknown field \(Excerpt.quoted(path));\(suggestion) expected \(expected)"
  }
}
