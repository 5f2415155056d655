public import Domain

/// A condition of a rule on one field of the event. It is total: a missing field counts as null, and a value of another type
/// never fulfils a comparison of numbers.
public struct RuleCondition: Equatable, Sendable {
  /// The path of the field, such as `data.status`.
  public var field: Identifier
  /// The test that the field's value must pass.
  public var test: Test

  /// A test of a value.
  public enum Test: Equatable, Sendable {
    /// The value equals this one, of the same type.
    case equals(FieldValue)
    /// The value equals one of these.
    case isOneOf([FieldValue])
    /// The value is a number and not less than this, at most ±10^15.
    case isAtLeast(Double)
    /// The value is a number and less than this, at most ±10^15.
    case isBelow(Double)
    /// The value differs from that of another field of the same event, which holds the value before.
    case differs(from: Identifier)
  }

  /// Creates a condition. Nothing is checked.
  public init(field: Identifier, _ test: Test) {
    self.field = field
    self.test = test
  }

  /// Returns whether an event fulfils the condition.
  public func holds(for event: DomainEvent) -> Bool {
    let value = event.value(at: field) ?? .null
    switch test {
    case .equals(let other): return value == other
    case .isOneOf(let others): return others.contains(value)
    // The bounds of conditions are far below 2^53, so the nearest double of an integer is on the same side of them.
    case .isAtLeast(let least): return value.nearestNumber.map { $0 >= least } ?? false
    case .isBelow(let bound): return value.nearestNumber.map { $0 < bound } ?? false
    case .differs(let other): return value != (event.value(at: other) ?? .null)
    }
  }
}

extension RuleCondition {
  /// Returns whether no event can fulfil both conditions.
  func contradicts(_ other: RuleCondition) -> Bool {
    guard field == other.field else { return false }
    switch (test, other.test) {
    case (.isAtLeast(let least), .isBelow(let bound)), (.isBelow(let bound), .isAtLeast(let least)):
      return least >= bound
    case (.differs, _), (_, .differs): return false
    case (.equals, _), (.isOneOf, _), (.isAtLeast, _), (.isBelow, _):
      guard let named = values ?? other.values else { return false }
      return !named.contains { Self.passes($0, test) && Self.passes($0, other.test) }
    }
  }

  /// The values that the test names; nil for a comparison.
  private var values: [FieldValue]? {
    switch test {
    case .equals(let value): [value]
    case .isOneOf(let values): values
    case .isAtLeast, .isBelow, .differs: nil
    }
  }

  private static func passes(_ value: FieldValue, _ test: Test) -> Bool {
    let event = DomainEvent(
      id: "", source: "", type: "", subject: "", time: Timestamp(microseconds: 0),
      fields: [EventField(path: "data.value", value: value)])
    return RuleCondition(field: "data.value", test).holds(for: event)
  }
}
