import Domain
import Policies

/// The rule of a kind for one event type. It never changes. It is a class, so that a look-up copies nothing.
final class KindRule: Sendable {
  /// The kind to which the rule belongs.
  let kind: KindSlot
  /// The templates of the interest keys.
  let keys: [Key]
  /// The relevance of an event.
  let relevance: RelevanceFormula?
  /// The fields that the kind displays.
  let fields: [FieldDistance]
  /// The hash of the kind's name and of the fields that it displays. Under a policy with other fields, states that were
  /// noted before must not be compared with new ones.
  let displaysHash: UInt64
  /// The head of the rows in which screens of the kind are kept (`ShownFields`).
  var rowHead: UInt64 { ShownFields.head(hash: displaysHash, count: fields.count) }
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
  ///   - kindName: The name of that kind.
  ///   - displays: The fields that the kind displays.
  ///   - otherwise: The rule that is tried when a condition of this one does not hold; nil if there is none.
  init(
    _ rule: Rule, kind: KindSlot, kindName: Identifier, displays: [DisplayField], otherwise: KindRule? = nil
  ) {
    self.kind = kind
    keys = rule.interests.map { $0 == .subject ? .subject : .template($0) }
    relevance = rule.relevance
    fields = displays.map { FieldDistance($0) }
    displaysHash = Self.hash(kindName: kindName, displays: displays)
    maxAge = rule.maxAge ?? .unbounded
    action = rule.action
    conditions = rule.conditions
    self.otherwise = otherwise
  }

  /// Returns the rule of the kind that holds for an event: this one, or the first of the rules after it whose conditions
  /// hold; nil if none does.
  /// - Parameter event: An event of the rule's type.
  @inline(__always)
  func holding(for event: DomainEvent) -> KindRule? { conditions.isEmpty ? self : chosen(for: event) }

  private func chosen(for event: DomainEvent) -> KindRule? {
    var rule: KindRule? = self
    while let candidate = rule {
      if candidate.conditions.allSatisfy({ $0.holds(for: event) }) { return candidate }
      rule = candidate.otherwise
    }
    return nil
  }

  static func hash(kindName: Identifier, displays: [DisplayField]) -> UInt64 {
    var hash = Hash64()
    hash.add(kindName)
    for field in displays {
      hash.add(field.path)
      hash.add((field.round ?? 0).bitPattern)
    }
    return hash.value
  }

  /// Returns the key under which `SubjectMemory` keeps the newest state of a subject for this kind; nil if the policy does
  /// not say which fields the kind displays.
  func truthKey(subject: Identifier) -> UInt64? {
    if fields.isEmpty { return nil }
    var hash = Hash64()
    hash.add(displaysHash)
    hash.add(subject)
    return hash.value
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
