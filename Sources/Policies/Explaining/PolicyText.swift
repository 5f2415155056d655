package import Domain
import JSON

/// The texts of policy values, for people and for programs.
package enum PolicyText {
  /// Returns a value as written in a document.
  package static func of(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number), .inexact(let number): NumberText.format(number)
    case .integer(let integer): integer.description
    case .string(let text): text
    }
  }

  /// Returns a value as JSON.
  static func json(_ value: FieldValue) -> String {
    if case .string(let text) = value { return json(text) }
    return of(value)
  }

  /// Returns an identifier as a JSON string.
  static func json(_ name: Identifier) -> String { json(name.text) }

  /// Returns a text as a JSON string.
  static func json(_ text: String) -> String {
    var json = JSONWriter()
    json.string(text)
    return json.text
  }

  static func duration(_ span: TimeSpan) -> FieldValue { .string(DurationText.format(span)) }

  /// Returns minutes after midnight as `HH:MM`.
  static func clock(_ minute: Int) -> String {
    let parts = [minute / 60, minute % 60]
    return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Returns a displayed field with its rounding, and how wrong a difference is: `0.6 × data.delayMinutes by 5 per 30`.
  package static func of(_ display: DisplayField) -> String {
    var text = display.weightInForce == 1 ? "" : "\(NumberText.format(display.weightInForce)) × "
    text += display.path.text
    if let round = display.round { text += " by \(NumberText.format(round))" }
    switch display.per {
    case .units(let units): text += " per \(NumberText.format(units))"
    case .percentOfShown(let percent): text += " per \(NumberText.format(percent))%"
    case nil: break
    }
    if let initial = display.initial { text += " from \(of(initial))" }
    if display.weights.isEmpty { return text }
    return text + " (" + display.weights.map { "\($0.value) \(NumberText.format($0.weight))" }.joined(separator: ", ")
      + ")"
  }

  /// Returns a template as written in a document.
  package static func of(_ template: InterestTemplate) -> String {
    template.parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let name): "{\(name)}"
      case .filtered(let name, let filters): "{\(name)\(filters.map { "|" + of($0) }.joined())}"
      }
    }.joined()
  }

  /// Returns a filter of a placeholder as written in a document.
  static func of(_ filter: KeyFilter) -> String {
    switch filter {
    case .lower: "lower"
    case .prefix(let count): "prefix:\(count)"
    case .part(let number, let separator): "split:\(separator):\(number)"
    }
  }

  /// Returns a condition in words: `data.delayMinutes at least 15`.
  package static func of(_ condition: RuleCondition) -> String {
    let test =
      switch condition.test {
      case .equals(let value): "is \(of(value))"
      case .isOneOf(let values): "in \(values.map { of($0) }.joined(separator: ", "))"
      case .isAtLeast(let number): "at least \(NumberText.format(number))"
      case .isBelow(let number): "below \(NumberText.format(number))"
      case .differs(let other): "changed from \(other)"
      }
    return "\(condition.field) \(test)"
  }

  /// Returns a term of a relevance formula in words.
  static func of(_ term: RelevanceFormula.Term) -> String {
    let weight = NumberText.format(term.weight)
    return switch term {
    case .changeOf(let field, let from, let per, _):
      "\(weight) × change of \(field) from \(from) per \(NumberText.format(per))"
    case .magnitudeOf(let field, let per, _): "\(weight) × \(field) per \(NumberText.format(per))"
    case .equals(let field, let value, _): "\(weight) if \(field) equals \(of(value))"
    case .differs(let field, let from, _): "\(weight) if \(field) differs from \(from)"
    case .changeFromShown(let field, let per, _):
      "\(weight) × change of \(field) from what the screen shows per \(NumberText.format(per))"
    case .differsFromShown(let field, _): "\(weight) if \(field) differs from what the screen shows"
    }
  }
}
