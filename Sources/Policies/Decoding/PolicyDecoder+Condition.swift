import Domain

/// Reads the conditions of a rule, such as `when: { field: data.delayMinutes, atLeast: 15 }`.
extension PolicyDecoder {
  /// The keys of a condition that state a test.
  private static let tests = ["is", "in", "atLeast", "below", "changed"]

  /// Reads `when` of a rule: one condition, or a list of them.
  mutating func conditions(_ value: Located) -> [RuleCondition] {
    guard case .list = value.node.content else { return condition(value) }
    let items = reader.list(value, of: "conditions", count: 1...PolicyBounds.conditionsMax) ?? []
    return items.flatMap { condition($0) }
  }

  /// Reads one mapping. Each test in it makes a separate condition on the same field.
  private mutating func condition(_ value: Located) -> [RuleCondition] {
    guard case .mapping = value.node.content else {
      reader.mismatch(value, expected: "a condition such as { field: data.status, is: cancelled }")
      return []
    }
    guard let keys = reader.keys(value, allowed: ["field"] + Self.tests, required: ["field"]) else { return [] }
    let field = fieldPath(keys["field"])
    let tests = Self.tests.compactMap { name in keys[name].map { (name, $0) } }
    if tests.isEmpty {
      reader.error(
        value.node.position, value.path, "a condition has one or more of \(StrictReader.list(Self.tests)); found none")
    }
    let read = tests.map { test($0.0, $0.1) }
    guard let field else { return [] }
    return read.compactMap { $0.map { RuleCondition(field: field, $0) } }
  }

  private mutating func test(_ name: String, _ value: Located) -> RuleCondition.Test? {
    switch name {
    case "is": return scalar(value).map(RuleCondition.Test.equals)
    case "in":
      let items = reader.list(value, of: "values", count: 1...PolicyBounds.conditionValuesMax) ?? []
      let values = items.map { scalar($0) }
      return items.isEmpty || values.contains(nil) ? nil : .isOneOf(values.compactMap { $0 })
    case "atLeast": return reader.number(value, in: PolicyBounds.conditionNumber).map(RuleCondition.Test.isAtLeast)
    case "below": return reader.number(value, in: PolicyBounds.conditionNumber).map(RuleCondition.Test.isBelow)
    default: return fieldPath(value).map(RuleCondition.Test.differs)
    }
  }
}
