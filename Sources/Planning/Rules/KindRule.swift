import Domain
import Policies

/// The rule of a kind for one event type. It never changes. It is a class, so that a look-up copies nothing.
final class KindRule: Sendable {
  /// The kind to which the rule belongs.
  let kind: KindSlot
  /// The templates of the interest keys.
  let keys: [Key]
  /// The formula for the relevance of an event; nil if the rule states none.
  let relevance: RelevanceFormula?
  /// Whether the formula compares an event with what a screen shows.
  let comparesWithShown: Bool
  /// The age beyond which an event is stale; unbounded if the rule sets none.
  let maxAge: TimeSpan
  /// The effect on a Live Activity.
  let action: Rule.Action
  /// The conditions on the event's fields. All must hold; otherwise `otherwise` is tried.
  private let conditions: [RuleCondition]
  /// The rule that is tried when a condition does not hold; nil if there is none.
  private let otherwise: KindRule?

  /// The template of an interest key.
  enum Key {
    /// The event's subject, which is always the first of an event's keys.
    case subject
    /// Any other template.
    case template(InterestTemplate)
  }

  /// Compiles a rule of the policy.
  /// - Parameters:
  ///   - rule: The rule for the event type.
  ///   - kind: The kind to which the rule belongs.
  ///   - otherwise: The rule that is tried when a condition of this one does not hold; nil if there is none.
  init(_ rule: Rule, kind: KindSlot, otherwise: KindRule? = nil) {
    self.kind = kind
    keys = rule.interests.map { $0 == .subject ? .subject : .template($0) }
    relevance = rule.relevance
    comparesWithShown = rule.relevance?.comparesWithShown ?? false
    maxAge = rule.maxAge ?? .unbounded
    action = rule.action
    conditions = rule.conditions
    self.otherwise = otherwise
  }

  /// The evaluation of every event of the type; nil if it depends on the event.
  var constantEvaluation: KindEvaluation? {
    guard conditions.isEmpty, relevance?.add.isEmpty ?? true else { return nil }
    for case .template in keys { return nil }
    var (none, leftOut) = ([Identifier](), 0)
    // Neither the keys nor the relevance of such a rule read the event.
    return evaluate(DomainEvent.blank, keys: &none, &leftOut)
  }

  /// Returns the rule of the kind that holds for an event: this one, or the first of the rules after it whose conditions
  /// hold; nil if none does.
  /// - Parameter event: An event of the rule's type.
  func holding(for event: DomainEvent) -> KindRule? { conditions.isEmpty ? self : chosen(for: event) }

  private func chosen(for event: DomainEvent) -> KindRule? {
    var rule: KindRule? = self
    while let candidate = rule {
      if candidate.conditions.allSatisfy({ $0.holds(for: event) }) { return candidate }
      rule = candidate.otherwise
    }
    return nil
  }

  /// Returns the meaning of an event for the kind: its keys, relevance, age limit and action.
  /// - Parameters:
  ///   - event: The event.
  ///   - eventKeys: The interest keys of the event so far, beginning with its subject. Keys that only this rule makes are
  ///     appended, up to `DomainBounds.interestsPerEventMax` keys in all.
  ///   - leftOut: Raised by the number of keys that found no room.
  func evaluate(_ event: DomainEvent, keys eventKeys: inout [Identifier], _ leftOut: inout Int) -> KindEvaluation {
    var evaluation = KindEvaluation()
    evaluation.keys = 0
    evaluation.hasRule = true
    for key in keys {
      switch key {
      case .subject: evaluation.keys |= 1
      case .template(let template):
        guard let key = template.key(for: event) else { continue }
        if let bit = eventKeys.firstIndex(of: key) {
          evaluation.keys |= 1 << UInt64(bit)
        } else if eventKeys.count < DomainBounds.interestsPerEventMax {
          evaluation.keys |= 1 << UInt64(eventKeys.count)
          eventKeys.append(key)
        } else {
          leftOut += 1
        }
      }
    }
    evaluation.maxAge = maxAge
    evaluation.action = action
    if let relevance {
      evaluation.relevance = Float(relevance.evaluate(event))
      evaluation.isRelevanceStated = true
    }
    return evaluation
  }
}
