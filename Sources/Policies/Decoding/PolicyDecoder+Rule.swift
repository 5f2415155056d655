import Domain

extension PolicyDecoder {
  /// Reads `rules` of a kind.
  /// - Parameter surface: the surface of the kind. Nil if the document misspells it: actions are then not checked
  ///   against it.
  mutating func rules(_ value: Located, surface: Surface?) -> [Rule] {
    let items = reader.list(value, of: "rules", count: 1...PolicyBounds.rulesMax) ?? []
    return items.compactMap { item in
      var draft = RuleDraft(rule: Rule(event: ""), surface: surface)
      return read(item, PolicyKeys.rule, into: &draft).map { _ in draft.rule }
    }
  }

  /// Reads `action` of a rule.
  mutating func action(_ value: Located, surface: Surface?) -> Rule.Action {
    guard let name = reader.choice(value, among: Rule.Action.allCases.map(\.rawValue)),
      let action = Rule.Action(rawValue: name)
    else { return .update }
    guard let surface else { return action }
    if !surface.showsActivities {
      reader.error(
        value.owner, value.path,
        "an action is for surface \(Self.activitySurfaces); this kind is of surface \(surface.rawValue)")
    }
    return action
  }

  /// Reads `event` of a rule.
  mutating func eventType(_ value: Located) -> Identifier? {
    guard let text = reader.name(value, "an event type, or a prefix followed by *") else { return nil }
    if text.dropLast().contains("*") {
      reader.error(
        value.node.position, value.path, "a * stands only at the end, as in flight.*; found \(Excerpt.quoted(text))")
      return nil
    }
    if text.unicodeScalars.contains(where: { $0.properties.isWhitespace }) {
      reader.error(value.node.position, value.path, "an event type has no spaces; found \(Excerpt.quoted(text))")
      return nil
    }
    return Identifier(text)
  }

  /// Reads `interests` of a rule.
  mutating func interests(_ value: Located) -> [InterestTemplate] {
    let items = reader.list(value, of: "interest keys", count: 1...PolicyBounds.interestsMax) ?? []
    return items.compactMap { item -> InterestTemplate? in
      guard let text = reader.name(item, "an interest key such as \"{subject}\"") else { return nil }
      return template(text, of: item)
    }
  }

  /// Reads a text with placeholders.
  /// - Parameters:
  ///   - text: the text, which was read from `value`.
  ///   - value: the place in the document, for messages.
  mutating func template(_ text: String, of value: Located) -> InterestTemplate? {
    do throws(InterestTemplateParser.Refusal) {
      return try InterestTemplateParser.parse(text)
    } catch {
      let place = reader.source.position(of: error.offset, in: text, at: value.node.position)
      reader.error(place, value.path, error.message)
      return nil
    }
  }

  /// Reads `relevance.add` of a rule.
  mutating func terms(_ value: Located) -> [RelevanceFormula.Term] {
    let items = reader.list(value, of: "terms", count: 0...PolicyBounds.termsMax) ?? []
    return items.compactMap { term($0) }
  }

  /// The forms of a term: the key that tells the form, and the other keys that this form allows.
  private static let termShapes: [(key: String, others: [String])] = [
    ("changeOf", ["from", "per", "weight"]), ("magnitudeOf", ["per", "weight"]), ("equals", ["field", "weight"]),
    ("changed", ["from", "weight"]),
  ]

  private mutating func term(_ value: Located) -> RelevanceFormula.Term? {
    guard case .mapping(let entries) = value.node.content else {
      reader.mismatch(value, expected: "a mapping with changeOf, magnitudeOf, field and equals, or changed")
      return nil
    }
    let shapes = Self.termShapes.filter { shape in entries.contains { $0.key == shape.key } }
    guard let shape = shapes.first, shapes.count == 1 else {
      let known = Self.termShapes.map(\.key)
      let given = entries.prefix(PolicyBounds.keysMax).lazy.compactMap { entry in
        NearestName.of(entry.key, among: known).map { (entry, $0) }
      }.first
      if shapes.isEmpty, let (entry, near) = given {
        reader.error(
          entry.keyPosition, StrictReader.path(value.path, entry.key),
          "unknown key; did you mean \(near)? a term has one of changeOf, magnitudeOf, equals or changed")
      } else {
        let found = shapes.isEmpty ? "none" : shapes.map(\.key).joined(separator: " and ")
        reader.error(
          value.node.position, value.path, "a term has one of changeOf, magnitudeOf, equals or changed; found \(found)")
      }
      return nil
    }
    let names = [shape.key] + shape.others
    guard let keys = reader.keys(value, allowed: names, required: names) else { return nil }
    return term(shape.key, keys)
  }

  private mutating func term(_ shape: String, _ keys: LocatedKeys) -> RelevanceFormula.Term? {
    let weight = reader.number(keys["weight"], in: PolicyBounds.weight)
    switch shape {
    case "changeOf":
      let (field, from) = (fieldPath(keys["changeOf"]), origin(keys["from"]))
      let per = reader.number(keys["per"], in: PolicyBounds.per)
      guard let field, let from, let per, let weight else { return nil }
      switch from {
      case .field(let from): return .changeOf(field: field, from: from, per: per, weight: weight)
      case .shown: return .changeFromShown(field: field, per: per, weight: weight)
      }
    case "magnitudeOf":
      let field = fieldPath(keys["magnitudeOf"])
      let per = reader.number(keys["per"], in: PolicyBounds.per)
      guard let field, let per, let weight else { return nil }
      return .magnitudeOf(field: field, per: per, weight: weight)
    case "equals":
      let field = fieldPath(keys["field"])
      let operand = scalar(keys["equals"])
      guard let field, let operand, let weight else { return nil }
      return .equals(field: field, value: operand, weight: weight)
    default:
      let (field, from) = (fieldPath(keys["changed"]), origin(keys["from"]))
      guard let field, let from, let weight else { return nil }
      switch from {
      case .field(let from): return .differs(field: field, from: from, weight: weight)
      case .shown: return .differsFromShown(field: field, weight: weight)
      }
    }
  }

  /// The thing that a term compares a field with.
  private enum TermOrigin {
    /// Another field of the event.
    case field(Identifier)
    /// The value that the screen shows.
    case shown
  }

  /// The word that stands for what the screen shows.
  private static let shown = "shown"

  /// Reads `from` of a term: a `data.…` path of the event, or `shown`.
  private mutating func origin(_ value: Located?) -> TermOrigin? {
    guard let value, let path = reader.text(value, "a field path such as data.status, or shown") else { return nil }
    if path == Self.shown { return .shown }
    guard let problem = FieldPath.problem(path, eventAttributes: false) else { return .field(Identifier(path)) }
    if let near = NearestName.of(path, among: [Self.shown]) {
      reader.error(value.node.position, value.path, "unknown field \(Excerpt.quoted(path)); did you mean \(near)?")
    } else {
      reader.error(value.node.position, value.path, "\(problem), or shown")
    }
    return nil
  }

  /// Reads a JSON scalar: the value that a field is compared with, or that replaces a missing field. Anything in quotation
  /// marks is a text.
  mutating func scalar(_ value: Located?) -> FieldValue? {
    guard let value else { return nil }
    guard case .scalar(let text, let plain) = value.node.content else {
      reader.mismatch(value, expected: "a text, a number, true, false or null")
      return nil
    }
    guard text.utf8.count <= DomainBounds.fieldBytesMax else {
      reader.error(
        value.node.position, value.path,
        "a text of \(text.utf8.count) bytes; at most \(DomainBounds.fieldBytesMax) are allowed")
      return nil
    }
    reader.keep(value)
    guard plain else { return .string(text) }
    switch text {
    case "", "~", "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    if let word = ScalarText.word(writtenAs: text) {
      reader.error(
        value.node.position, value.path, "write \(word), or put \(text) in quotation marks if events carry it as a text"
      )
      return nil
    }
    guard let number = NumberText.value(text) else {
      if ScalarText.isNumberElsewhere(text) {
        reader.warning(
          value.node.position, value.path,
          "a text here, a number to other readers of YAML: put \(Excerpt.short(text)) in quotation marks, or write it as JSON does"
        )
      }
      return .string(text)
    }
    if case .inexact = number {
      reader.error(
        value.node.position, value.path,
        "\(Excerpt.short(text)) has more than 64 bits, and no event with such an integer is taken; "
          + "put it in quotation marks if events carry it as a text")
      return nil
    }
    return number
  }
}
