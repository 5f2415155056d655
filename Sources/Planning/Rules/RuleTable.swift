import Domain
import Policies

/// The rules for event types that came lately, of the kinds that are registered. They stand in the policy's order, which does
/// not depend on when a kind was first registered.
struct RuleTable {
  private var byType: [String: [KindRule]] = [:]
  /// The last look-up: events of one type often come in runs.
  private var last: (type: String, rules: [KindRule])?

  /// The bound on event types, which come from outside. Beyond it, all are looked up anew.
  private static let typesMax = 1024

  /// Forgets all rules, after a change of the policy or of the kinds.
  mutating func removeAll() {
    byType.removeAll(keepingCapacity: true)
    last = nil
  }

  mutating func rules(forType type: String, _ policy: Policy, _ kindByName: [String: KindSlot]) -> [KindRule] {
    if let last, last.type == type { return last.rules }
    let rules = byType[type] ?? make(type, policy, kindByName)
    last = (type, rules)
    return rules
  }

  private mutating func make(_ type: String, _ policy: Policy, _ kindByName: [String: KindSlot]) -> [KindRule] {
    let rules = policy.kinds.compactMap { kind -> KindRule? in
      guard let index = kindByName[kind.name], let rule = kind.rule(forType: type) else { return nil }
      return KindRule(rule, kind: index, kindName: kind.name, displays: kind.displays)
    }
    if byType.count >= Self.typesMax { byType.removeAll(keepingCapacity: true) }
    byType[type] = rules
    return rules
  }
}
