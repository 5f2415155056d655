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
    /// Adds weight · min(1, |field − shown| / per), where `shown` is what the screen shows of the field. Adds the weight if one of
    /// them is no number and they look different; nothing if they look alike after the rounding of `displays`, or if the field is
    /// missing. The kind displays the field.
    case changeFromShown(field: Identifier, per: Double, weight: Double)
    /// Adds the weight if the screen shows another value of the field, after the rounding of `displays`. Adds nothing if the field
    /// is missing. The kind displays the field.
    case differsFromShown(field: Identifier, weight: Double)
  }

  /// Whether the relevance depends on what the screen shows.
  package var comparesWithShown: Bool { add.contains { $0.shownField != nil } }

  /// Returns the relevance of an event, 0…1. Never NaN.
  /// - Parameter event: The event.
  public func evaluate(_ event: DomainEvent) -> Double { evaluate(event, shown: [], []) }

  /// Returns the relevance of an event for a screen, 0…1. Never NaN.
  /// - Parameters:
  ///   - event: The event.
  ///   - shown: The value of each displayed field on the screen.
  ///   - displays: The displayed fields, as many. A term about another field adds nothing.
  package func evaluate(_ event: DomainEvent, shown: [DisplayedValue], _ displays: [FieldDistance]) -> Double {
    var sum = base
    for term in add {
      switch term {
      case .changeFromShown(let field, let per, let weight):
        guard let (before, after) = Self.difference(field, event, shown, displays) else { continue }
        guard let before = before.number, let after = after.number else {
          sum += weight
          continue
        }
        sum += weight * min(1, abs(after - before) / per)
      case .differsFromShown(let field, let weight):
        if Self.difference(field, event, shown, displays) != nil { sum += weight }
      case .changeOf(let field, let from, let per, let weight):
        guard let change = event.change(at: field, from: from) else { continue }
        sum += weight * min(1, change / per)
      case .magnitudeOf(let field, let per, let weight):
        guard let now = event.value(at: field)?.nearestNumber else { continue }
        sum += weight * min(1, abs(now) / per)
      case .equals(let field, let value, let weight):
        if event.value(at: field) == value { sum += weight }
      case .differs(let field, let from, let weight):
        if (event.value(at: field) ?? .null) != (event.value(at: from) ?? .null) { sum += weight }
      }
    }
    return sum.isNaN ? 0 : min(1, max(0, sum))
  }

  /// Returns the values of a field before and after an event reaches a screen; nil if both look alike, or if the event does not
  /// carry the field.
  private static func difference(
    _ field: Identifier, _ event: DomainEvent, _ shown: [DisplayedValue], _ displays: [FieldDistance]
  ) -> (before: DisplayedValue, after: DisplayedValue)? {
    guard let place = displays.firstIndex(where: { $0.path == field }), place < shown.count,
      let after = displays[place].value(in: event),
      displays[place].look(of: after) != displays[place].look(of: shown[place])
    else { return nil }
    return (shown[place], after)
  }
}

extension RelevanceFormula.Term {
  /// The field whose shown value the term reads; nil if it reads none.
  var shownField: Identifier? {
    switch self {
    case .changeFromShown(let field, _, _), .differsFromShown(let field, _): field
    case .changeOf, .magnitudeOf, .equals, .differs: nil
    }
  }
}
