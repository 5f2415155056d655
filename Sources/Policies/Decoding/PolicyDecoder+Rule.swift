import Domain

extension PolicyDecoder {
  /// `surface` nil: unknown, because it is misspelt.
  mutating func rules(_ value: Located?, surface: Surface?) -> [Rule] {
    let items = reader.list(value, of: "rules", count: 1...PolicyBounds.rulesMax) ?? []
    return items.compactMap { rule($0, surface: surface) }
  }

  private mutating func rule(_ value: Located, surface: Surface?) -> Rule? {
    let allowed = ["event", "interests", "relevance", "maxAge", "action"]
    guard let keys = reader.keys(value, allowed: allowed, required: ["event", "relevance"]) else { return nil }
    let event = eventType(keys["event"])
    let interests = interests(keys["interests"])
    let relevance = keys["relevance"].flatMap { self.relevance($0) }
    let maxAge = reader.duration(keys["maxAge"], in: PolicyBounds.maxAge)
    let action = action(keys["action"], surface: surface)
    guard let event, let relevance else { return nil }
    return Rule(event: event, interests: interests, relevance: relevance, maxAge: maxAge, action: action)
  }

  private mutating func action(_ value: Located?, surface: Surface?) -> Rule.Action {
    guard let value, let name = reader.choice(value, among: Rule.Action.allCases.map(\.rawValue)),
      let action = Rule.Action(rawValue: name)
    else { return .update }
    switch surface {
    case .broadcast where action == .start:
      reader.error(
        value.node.position, value.path,
        "a channel cannot start activities; start them in a kind of surface liveActivity, or in the app")
    case let surface? where !surface.showsActivities:
      reader.error(
        value.owner, value.path,
        "an action is for surface liveActivity or broadcast; this kind is of surface \(surface.rawValue)")
    default: break
    }
    return action
  }

  private mutating func eventType(_ value: Located?) -> String? {
    guard let value, let text = reader.name(value, "an event type, or a prefix followed by *") else { return nil }
    if text.dropLast().contains("*") {
      reader.error(
        value.node.position, value.path, "a * stands only at the end, as in flight.*; found \(Excerpt.quoted(text))")
      return nil
    }
    if text.unicodeScalars.contains(where: { $0.properties.isWhitespace }) {
      reader.error(value.node.position, value.path, "an event type has no spaces; found \(Excerpt.quoted(text))")
      return nil
    }
    return text
  }

  private mutating func interests(_ value: Located?) -> [InterestTemplate] {
    guard let value else { return [.subject] }
    let items = reader.list(value, of: "interest keys", count: 1...PolicyBounds.interestsMax) ?? []
    return items.compactMap { item -> InterestTemplate? in
      guard let text = reader.name(item, "an interest key such as \"{subject}\"") else { return nil }
      return template(text, of: item)
    }
  }

  /// The parts of a text that was read from `value`.
  mutating func template(_ text: String, of value: Located) -> InterestTemplate? {
    do throws(InterestTemplateParser.Refusal) {
      return try InterestTemplateParser.parse(text)
    } catch {
      let place = reader.source.position(of: error.offset, in: text, at: value.node.position)
      reader.error(place, value.path, error.message)
      return nil
    }
  }

  private mutating func relevance(_ value: Located) -> RelevanceFormula? {
    guard let keys = reader.keys(value, allowed: ["base", "add"], required: ["base"]) else { return nil }
    let base = reader.number(keys["base"], in: PolicyBounds.share)
    let items = reader.list(keys["add"], of: "terms", count: 0...PolicyBounds.termsMax) ?? []
    let terms = items.compactMap { term($0) }
    guard let base else { return nil }
    return RelevanceFormula(base: base, add: terms)
  }

  /// The key that says what a term is, with the other keys it takes.
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
      let (field, from) = (fieldPath(keys["changeOf"]), fieldPath(keys["from"]))
      let per = reader.number(keys["per"], in: PolicyBounds.per)
      guard let field, let from, let per, let weight else { return nil }
      return .changeOf(field: field, from: from, per: per, weight: weight)
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
      let (field, from) = (fieldPath(keys["changed"]), fieldPath(keys["from"]))
      guard let field, let from, let weight else { return nil }
      return .differs(field: field, from: from, weight: weight)
    }
  }

  /// A JSON scalar, as a field's counterpart or stand-in; quotation marks make a text of anything.
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
    default: return NumberText.parse(text).map(FieldValue.number) ?? .string(text)
    }
  }
}
