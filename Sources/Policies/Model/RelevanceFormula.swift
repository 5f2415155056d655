public import Domain

/// The relevance of an event: the base plus the terms, kept within 0 and 1.
public struct RelevanceFormula: Equatable, Sendable {
  /// The relevance of every event of the rule, 0…1.
  public var base: Double
  /// The terms that are added to the base.
  public var add: [Term]

  /// Creates a formula. Nothing is checked.
  public init(base: Double, add: [Term] = []) {
    self.base = base
    self.add = add
  }

  /// A term of the sum.
  public enum Term: Equatable, Sendable {
    /// Adds weight · min(1, |field − from| / per). Adds nothing if `field` is missing; a missing `from` counts as 0.
    case changeOf(field: Identifier, from: Identifier, per: Double, weight: Double)
    /// Adds weight · min(1, |field| / per). Adds nothing if the field is missing.
    case magnitudeOf(field: Identifier, per: Double, weight: Double)
    /// Adds the weight if the field equals the value.
    case equals(field: Identifier, value: FieldValue, weight: Double)
    /// Adds the weight if the two fields differ. A missing field counts as null.
    case differs(field: Identifier, from: Identifier, weight: Double)
  }

  /// Returns the relevance of an event, 0…1. Never NaN.
  public func evaluate(_ event: DomainEvent) -> Double {
    var sum = base
    for term in add {
      switch term {
      case .changeOf(let field, let from, let per, let weight):
        guard case .number(let now) = event.value(at: field) else { continue }
        var before = 0.0
        if case .number(let value) = event.value(at: from) { before = value }
        sum += weight * min(1, abs(now - before) / per)
      case .magnitudeOf(let field, let per, let weight):
        guard case .number(let now) = event.value(at: field) else { continue }
        sum += weight * min(1, abs(now) / per)
      case .equals(let field, let value, let weight):
        if event.value(at: field) == value { sum += weight }
      case .differs(let field, let from, let weight):
        if (event.value(at: field) ?? .null) != (event.value(at: from) ?? .null) { sum += weight }
      }
    }
    return sum.isNaN ? 0 : min(1, max(0, sum))
  }
}
