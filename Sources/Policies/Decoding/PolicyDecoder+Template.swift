import Domain

/// Reads templates of JSON objects, such as `{ status: "{data.status}", note: "Gate {data.gate}", version: 1 }`.
extension PolicyDecoder {
  /// Reads the members of one object.
  /// - Parameters:
  ///   - what: the object that the members belong to, for messages.
  ///   - depth: the number of objects around it.
  /// - Returns: nil if the value is no mapping.
  mutating func members(_ value: Located?, of what: String, depth: Int) -> [TemplateMember]? {
    guard let value else { return nil }
    guard depth <= PolicyBounds.templateDepthMax else {
      reader.error(
        value.owner, value.path, "objects nested deeper than \(PolicyBounds.templateDepthMax) levels; flatten them")
      return nil
    }
    let entries = reader.named(
      value, "a member of \(what)", to: "its value", max: PolicyBounds.templateMembersMax)
    return entries?.compactMap { name, value in
      var member = TemplateMember(name: name, value: .constant(.null))
      guard let template = templateValue(value, depth: depth, &member.isRequired) else { return nil }
      member.value = template
      return member
    }
  }

  private mutating func templateValue(_ value: Located, depth: Int, _ isRequired: inout Bool) -> TemplateValue? {
    switch value.node.content {
    case .scalar("", plain: true):
      reader.error(value.owner, value.path, "no value; write null where null is meant")
      return nil
    case .scalar: return scalarTemplate(value)
    case .mapping(let entries): return mappedTemplate(value, entries, depth: depth, &isRequired)
    case .list:
      reader.mismatch(value, expected: "a text, a number, true, false, null, { field }, { date } or { object }")
      return nil
    }
  }

  /// Reads a constant, or a text with placeholders. A text that is only one placeholder yields the field itself, so a number
  /// stays a number.
  private mutating func scalarTemplate(_ value: Located) -> TemplateValue? {
    guard let constant = scalar(value) else { return nil }
    guard case .string(let text) = constant, !text.isEmpty else { return .constant(constant) }
    guard let template = template(text, of: value) else { return nil }
    if template.parts.count == 1 {
      switch template.parts[0] {
      case .text: return .constant(constant)
      case .field(let path) where path.hasPrefix("data."): return .field(path: path, fallback: .null)
      // Attributes of the event and parts of fields are always texts.
      case .field, .filtered: break
      }
    }
    return .text(template)
  }

  /// The forms of a value: the key that tells the form, and the other keys that this form allows.
  private static let valueShapes: [(key: String, others: [String])] = [
    ("field", ["default", "required"]), ("date", ["unit", "required"]), ("object", []),
  ]

  private mutating func mappedTemplate(
    _ value: Located, _ entries: [YAMLNode.Entry], depth: Int, _ isRequired: inout Bool
  ) -> TemplateValue? {
    let shapes = Self.valueShapes.filter { shape in entries.contains { $0.key == shape.key } }
    guard let shape = shapes.first, shapes.count == 1 else {
      let found =
        shapes.isEmpty ? "none; write an object as { object: { … } }" : shapes.map(\.key).joined(separator: " and ")
      reader.error(
        value.node.position, value.path, "a value that is a mapping has one of field, date or object; found \(found)")
      return nil
    }
    guard let keys = reader.keys(value, allowed: [shape.key] + shape.others) else { return nil }
    if let required = keys["required"] {
      guard let flag = reader.flag(required) else { return nil }
      isRequired = flag
    }
    switch shape.key {
    case "field":
      let fallback = keys["default"].map { scalar($0) } ?? .null
      guard let path = fieldPath(keys["field"]), let fallback else { return nil }
      return .field(path: path, fallback: fallback)
    case "date":
      var unit: DateUnit?
      if let stated = keys["unit"] {
        unit = reader.choice(stated, among: DateUnit.allCases.map(\.rawValue)).flatMap { DateUnit(rawValue: $0) }
        if unit == nil { return nil }
      }
      return fieldPath(keys["date"]).map { .date(path: $0, unit: unit) }
    default: return members(keys["object"], of: "an object", depth: depth + 1).map(TemplateValue.object)
    }
  }
}
