import Domain
import Policies

/// A kind's rule for one event type. A class, because looking at one must not copy it; nothing of it changes.
final class KindRule: Sendable {
  /// Index of the kind in the planner.
  let kind: Int
  let keys: [Key]
  let relevance: RelevanceFormula
  let displays: [DisplayField]
  /// Hash of the kind's name and of what it displays: under another policy the fields have other meanings.
  let displaysHash: UInt64
  let maxAge: Int64
  let action: Rule.Action

  enum Key {
    /// The event's subject, which is always the first key.
    case subject
    case template(InterestTemplate)
  }

  init(_ rule: Rule, kind: Int, kindName: String, displays: [DisplayField]) {
    self.kind = kind
    keys = rule.interests.map { $0 == .subject ? .subject : .template($0) }
    relevance = rule.relevance
    self.displays = displays
    displaysHash = Self.hash(kindName: kindName, displays: displays)
    maxAge = rule.maxAge?.microseconds ?? .max
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

  /// The key of a subject's truth in `SubjectMemory`; nil where the kind displays nothing in particular.
  func truthKey(subject: String) -> UInt64? {
    if displays.isEmpty { return nil }
    var hash = Hash64()
    hash.add(displaysHash)
    hash.add(subject)
    return hash.value
  }

  /// What the event means to the kind. Adds the keys it is of interest by to those of the event.
  /// - Parameter leftOut: counts keys beyond `DomainBounds.interestsPerEventMax`.
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

/// The rules for event types that came lately, of the kinds that are registered, in the policy's order: that does not
/// depend on when a kind was first registered.
struct RuleTable {
  private var byType: [String: [KindRule]] = [:]
  /// What was asked for last: events of one type often come in runs.
  private var last: (type: String, rules: [KindRule])?

  /// Types come from outside: beyond this many, which no policy names, all are looked up anew.
  private static let typesMax = 1024

  /// After a change of the policy or of the kinds.
  mutating func removeAll() {
    byType.removeAll(keepingCapacity: true)
    last = nil
  }

  mutating func rules(forType type: String, _ policy: Policy, _ kindByName: [String: UInt32]) -> [KindRule] {
    if let last, last.type == type { return last.rules }
    let rules = byType[type] ?? make(type, policy, kindByName)
    last = (type, rules)
    return rules
  }

  private mutating func make(_ type: String, _ policy: Policy, _ kindByName: [String: UInt32]) -> [KindRule] {
    let rules = policy.kinds.compactMap { kind -> KindRule? in
      guard let index = kindByName[kind.name], let rule = kind.rule(forType: type) else { return nil }
      return KindRule(rule, kind: Int(index), kindName: kind.name, displays: kind.displays)
    }
    if byType.count >= Self.typesMax { byType.removeAll(keepingCapacity: true) }
    byType[type] = rules
    return rules
  }
}
