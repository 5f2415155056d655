import Domain
import Policies

/// A cache of the compiled rules by event type, for the kinds that devices have registered. The rules for one type stand in
/// the policy's order, which does not depend on when a kind was first registered.
struct RuleTable {
  private var byType: [Identifier: [KindRule]] = [:]
  /// The types of the last look-ups, and their rules. Most streams have few types.
  private var recentTypes: [Identifier] = []
  private var recentRules: [[KindRule]] = []

  /// The bound on cached event types, which publishers choose. When it is reached the cache starts anew.
  private static let typesMax = 1024
  /// The number of look-ups that are compared one by one, which is faster than a hash.
  private static let recentMax = 4

  /// Empties the cache, after a change of the policy or of the kinds.
  mutating func removeAll() {
    byType.removeAll(keepingCapacity: true)
    recentTypes.removeAll(keepingCapacity: true)
    recentRules.removeAll(keepingCapacity: true)
  }

  /// Returns the rules for an event type.
  /// - Parameters:
  ///   - type: The event type.
  ///   - policy: The policy in force, the same in each call until `removeAll`.
  ///   - kindByName: The kinds that devices have registered, the same in each call until `removeAll`.
  mutating func rules(forType type: Identifier, _ policy: Policy, _ kindByName: [Identifier: KindSlot]) -> [KindRule] {
    for place in recentTypes.indices where recentTypes[place] == type { return recentRules[place] }
    let rules = byType[type] ?? make(type, policy, kindByName)
    if recentTypes.count == Self.recentMax {
      recentTypes.removeFirst()
      recentRules.removeFirst()
    }
    recentTypes.append(type)
    recentRules.append(rules)
    return rules
  }

  private mutating func make(_ type: Identifier, _ policy: Policy, _ kindByName: [Identifier: KindSlot]) -> [KindRule] {
    let rules = policy.kinds.compactMap { kind -> KindRule? in
      guard let index = kindByName[kind.name] else { return nil }
      return kind.rules(forType: type).reversed().reduce(nil as KindRule?) { next, rule in
        KindRule(rule, kind: index, otherwise: next)
      }
    }
    if byType.count >= Self.typesMax { byType.removeAll(keepingCapacity: true) }
    byType[type] = rules
    return rules
  }
}
