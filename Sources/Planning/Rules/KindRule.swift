import Domain
import Policies

/// The rule of a kind for one event type. A class, so that a look-up copies nothing; it never changes.
final class KindRule: Sendable {
  let kind: KindSlot
  let keys: [Key]
  let relevance: RelevanceFormula
  let displays: [DisplayField]
  /// The hash of the kind's name and of what it displays: under another policy the fields have other meanings.
  let displaysHash: UInt64
  let maxAge: TimeSpan
  let action: Rule.Action

  enum Key {
    /// The event's subject, which is always the first key.
    case subject
    case template(InterestTemplate)
  }

  init(_ rule: Rule, kind: KindSlot, kindName: String, displays: [DisplayField]) {
    self.kind = kind
    keys = rule.interests.map { $0 == .subject ? .subject : .template($0) }
    relevance = rule.relevance
    self.displays = displays
    displaysHash = Self.hash(kindName: kindName, displays: displays)
    maxAge = rule.maxAge ?? .unbounded
    action = rule.action
  }

  private static func hash(kindName: String, displays: [DisplayField]) -> UInt64 {
    var hash = Hash64()
    hash.add(kindName)
    for field in displays {
      hash.add(field.path)
      hash.add((field.round ?? 0).bitPattern)
    }
    return hash.value
  }

  /// Returns the key of a subject's truth in `SubjectMemory`; nil where the kind displays nothing in particular.
  func truthKey(subject: String) -> UInt64? {
    if displays.isEmpty { return nil }
    var hash = Hash64()
    hash.add(displaysHash)
    hash.add(subject)
    return hash.value
  }

  /// Returns the meaning of an event to the kind.
  /// - Parameters:
  ///   - eventKeys: The keys of the event, to which the rule adds the ones it makes.
  ///   - leftOut: Counts the keys beyond `DomainBounds.interestsPerEventMax`.
  func evaluate(_ event: DomainEvent, keys eventKeys: inout [String], _ leftOut: inout Int) -> KindEvaluation {
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
    evaluation.relevance = Float(relevance.evaluate(event))
    return evaluation
  }
}
