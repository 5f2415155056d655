import Domain

extension PolicyValues {
  /// What a Live Activity is told, member by member.
  mutating func add(_ activity: ActivityPolicy, of surface: Surface, at path: String) {
    if let type = activity.attributesType { add("\(path).attributesType", .string(type)) }
    add(activity.attributes, at: "\(path).attributes")
    add(activity.contentState, at: "\(path).contentState")
    if let alert = activity.alert {
      add("\(path).alert.title", .string(Self.text(alert.title)))
      add("\(path).alert.body", .string(Self.text(alert.body)))
      if alert.aboveRelevance <= 1 { add("\(path).alert.aboveRelevance", .number(alert.aboveRelevance)) }
    }
    if let staleAfter = activity.staleAfter { add("\(path).staleAfter", Self.duration(staleAfter)) }
    add("\(path).quietEnd", Self.duration(activity.quietEnd))
    switch activity.dismissal {
    case .default: add("\(path).dismissal", .string("default"))
    case .immediate: add("\(path).dismissal", .string("immediate"))
    case .after(let span): add("\(path).dismissal.after", Self.duration(span))
    }
    add("\(path).relevanceScore", .number(activity.relevanceScore))
    add("\(path).dates", .string(activity.dates.rawValue))
    if surface == .broadcast { add("\(path).channelStoresNewest", .bool(activity.channelStoresNewest)) }
  }

  private mutating func add(_ members: [TemplateMember], at path: String) {
    for member in members { add(member.value, at: StrictReader.path(path, member.name)) }
  }

  /// In the spelling of the document; no two different values look the same.
  private mutating func add(_ value: TemplateValue, at path: String) {
    switch value {
    case .constant(.string(let text)) where Self.needsQuotes(text): add(path, .string(PolicyText.json(text)))
    case .constant(let constant): add(path, constant)
    case .field(let field, .null): add(path, .string("{\(field)}"))
    case .field(let field, let fallback):
      add(path, .string("{ field: \(field), default: \(PolicyText.json(fallback)) }"))
    case .text(let template): add(path, .string(Self.text(template)))
    case .date(let field): add(path, .string("{ date: \(field) }"))
    case .object(let members) where members.isEmpty: add(path, .string("{ object: {} }"))
    case .object(let members): add(members, at: "\(path).object")
    }
  }

  /// A text that would be read as something else without quotation marks, or as one that has them.
  private static func needsQuotes(_ text: String) -> Bool {
    NumberText.parse(text) != nil || ["", "~", "null", "true", "false"].contains(text) || text.hasPrefix("\"")
  }
}
