import Domain

/// A policy as a list of paths and values in the spelling of the document. `PolicyExplanation` adds where each value comes
/// from; `PolicyDifference` compares two lists.
struct PolicyValues {
  /// The ways to name a rule in a path.
  enum RuleNames {
    /// `rules[0]`, as in the document.
    case byIndex
    /// `rules[flight.cancelled]`, which stays the same when a rule is added before it.
    case byEventType
  }

  private(set) var items: [(path: String, value: FieldValue)] = []
  let names: RuleNames

  /// Lists the values of a policy.
  /// - Parameter names: how paths name the rules.
  init(_ policy: Policy, rules names: RuleNames) {
    self.names = names
    add(PolicyDraft(policy), PolicyKeys.policy, at: "")
  }

  /// Adds one value.
  mutating func add(_ path: String, _ value: FieldValue) { items.append((path, value)) }

  /// Adds the rules of a kind, and, where rules are named by event type, their order.
  mutating func add(rules: [Rule], of surface: Surface, at path: String) {
    for (index, rule) in rules.enumerated() {
      add(RuleDraft(rule: rule, surface: surface), PolicyKeys.rule, at: "\(path)[\(name(of: index, in: rules))]")
    }
    if names == .byEventType { add(path, .string(rules.map(\.event.text).joined(separator: ", "))) }
  }

  private func name(of index: Int, in rules: [Rule]) -> String {
    guard names == .byEventType else { return String(index) }
    let earlier = rules[..<index].count { $0.event == rules[index].event }
    return earlier == 0 ? rules[index].event.text : "\(rules[index].event)#\(earlier + 1)"
  }

  /// Returns hourly weights as text. Explanations show thousandths, which are enough to read; differences compare millionths.
  func text(hours weights: [Double]) -> String {
    let scale: Double = names == .byIndex ? 1000 : 1_000_000
    return weights.map { NumberText.format(($0 * scale).rounded() / scale) }.joined(separator: " ")
  }
}

// MARK: Templates

extension PolicyValues {
  /// Adds the members of a template, one by one.
  mutating func add(_ members: [TemplateMember], at path: String) {
    for member in members { add(member.value, member.isRequired, at: StrictReader.path(path, member.name)) }
  }

  /// Adds a text of an alert in the spelling of the document.
  mutating func add(_ text: AlertText, at path: String) {
    switch text {
    case .text(let template): add(path, .string(PolicyText.of(template)))
    case .localized(let key, let arguments):
      add("\(path).locKey", .string(key.text))
      for (index, argument) in arguments.enumerated() {
        add("\(path).locArgs[\(index)]", .string(PolicyText.of(argument)))
      }
    }
  }

  /// Adds a template value in the spelling of the document. No two different values look the same.
  private mutating func add(_ value: TemplateValue, _ isRequired: Bool, at path: String) {
    let required = isRequired ? ", required: true" : ""
    switch value {
    case .constant(.string(let text)) where Self.needsQuotes(text): add(path, .string(PolicyText.json(text)))
    case .constant(let constant): add(path, constant)
    case .field(let field, .null) where !isRequired: add(path, .string("{\(field)}"))
    case .field(let field, .null): add(path, .string("{ field: \(field)\(required) }"))
    case .field(let field, let fallback):
      add(path, .string("{ field: \(field), default: \(PolicyText.json(fallback))\(required) }"))
    case .text(let template): add(path, .string(PolicyText.of(template)))
    case .date(let field, let unit):
      let stated = unit.map { ", unit: \($0.rawValue)" } ?? ""
      add(path, .string("{ date: \(field)\(stated)\(required) }"))
    case .object(let members) where members.isEmpty: add(path, .string("{ object: {} }"))
    case .object(let members): add(members, at: "\(path).object")
    }
  }

  /// Whether a text needs quotation marks, because it would otherwise be read as something else, or as a text that has them.
  private static func needsQuotes(_ text: String) -> Bool {
    text.isEmpty || NumberText.parse(text) != nil || ScalarText.isWord(text) || ScalarText.isNumberElsewhere(text)
      || text.hasPrefix("\"")
  }
}
