import Domain
import Policies

/// A cache of the compiled rules by event type, for the kinds that devices have registered. The rules for one type stand in
/// the policy's order, which does not depend on when a kind was first registered.
struct RuleTable {
  /// The rules for one event type, in the policy's order.
  struct TypeRules {
    /// The event type.
    var type: Identifier
    /// The number of the type in `EventHashes`.
    var number: UInt64
    /// The kind of each rule.
    var kinds: ContiguousArray<KindSlot> = []
    /// The evaluation of every event of the type by each rule; without `hasRule` where it depends on the event.
    var evaluations: ContiguousArray<KindEvaluation> = []
    /// The rules.
    var rules: ContiguousArray<KindRule> = []
    /// Whether one of them is of a Live Activity.
    var concernsActivities = false
  }

  private var byType: [Identifier: TypeRules] = [:]
  /// The rules of the types that were looked up last. Most streams have few types.
  private(set) var recent: ContiguousArray<TypeRules> = []
  /// The place in `recent` that is overwritten next.
  private var next = 0

  /// The bound on cached event types, which publishers choose. When it is reached the cache starts anew.
  private static let typesMax = 1024
  /// The number of look-ups that are compared one by one, which is faster than a hash.
  private static let recentMax = 4

  /// Empties the cache, after a change of the policy or of the kinds.
  mutating func removeAll() {
    byType.removeAll(keepingCapacity: true)
    recent.removeAll(keepingCapacity: true)
    next = 0
  }

  /// Returns the place in `recent` of the rules for an event type, valid until the next call of `add`; nil if the type is not one of those
  /// that were looked up last.
  func place(ofType type: Identifier) -> Int? { recent.firstIndex { $0.type == type } }

  /// Looks up the rules for an event type that is not in `recent`, and adds them there.
  /// - Parameters:
  ///   - type: The event type.
  ///   - policy: The policy in force, the same in each call until `removeAll`.
  ///   - kindByName: The kinds that devices have registered, the same in each call until `removeAll`.
  /// - Returns: The place of the rules in `recent`, valid until the next call.
  mutating func add(_ type: Identifier, _ policy: Policy, _ kindByName: [Identifier: KindSlot]) -> Int {
    let rules = byType[type] ?? make(type, policy, kindByName)
    if recent.count < Self.recentMax {
      recent.append(rules)
      return recent.count - 1
    }
    defer { next = (next + 1) % Self.recentMax }
    recent[next] = rules
    return next
  }

  private mutating func make(_ type: Identifier, _ policy: Policy, _ kindByName: [Identifier: KindSlot]) -> TypeRules {
    var made = TypeRules(type: type, number: EventHashes.number(ofType: type))
    for kind in policy.kinds {
      guard let index = kindByName[kind.name] else { continue }
      let first = kind.rules(forType: type).reversed().reduce(nil as KindRule?) { next, rule in
        KindRule(rule, kind: index, otherwise: next)
      }
      guard let first else { continue }
      if kind.activity != nil { made.concernsActivities = true }
      made.kinds.append(index)
      made.evaluations.append(first.constantEvaluation ?? KindEvaluation())
      made.rules.append(first)
    }
    if byType.count >= Self.typesMax { byType.removeAll(keepingCapacity: true) }
    byType[type] = made
    return made
  }
}
