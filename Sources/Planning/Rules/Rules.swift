import Domain
import Policies

/// The policy in force, compiled for the kinds that devices have registered. It is large, so it is never copied by accident.
struct Rules: ~Copyable {
  /// The policy in force.
  private(set) var policy: Policy
  /// The document of the policy in force; nil if no record of the log has put it in force.
  private(set) var document: String?
  /// The offset of the record that put the policy in force; −1 if none did.
  private(set) var offset: Int64 = -1
  /// The reason why the newest policy record of the log was not taken over; nil if it was, or if there was none. The policy
  /// before it stays in force.
  private(set) var refused: PolicyError?
  /// The settings of the registered kinds, by kind slot.
  private(set) var kinds: ContiguousArray<KindSettings> = []
  private var kindByName: [Identifier: KindSlot] = [:]
  private var table = RuleTable()
  /// The fields that the templates of Live Activities read, sorted by path.
  private(set) var contentFields: [PatchedField]

  /// The key of the planner's hashes, also of the texts with which displayed fields are compared.
  private(set) var hashKey: HashKey

  /// Creates the rules of a policy, without kinds.
  /// - Parameters:
  ///   - policy: The policy.
  ///   - hashKey: The key of the planner's hashes.
  init(_ policy: Policy, _ hashKey: HashKey = .standard) {
    self.policy = policy
    self.hashKey = hashKey
    contentFields = policy.contentPaths.map { PatchedField($0) }
  }

  /// Copies rules, for tests that compare two futures.
  init(copying other: borrowing Rules) {
    (policy, document, offset, refused) = (other.policy, other.document, other.offset, other.refused)
    (kinds, kindByName, table) = (other.kinds, other.kindByName, other.table)
    (contentFields, hashKey) = (other.contentFields, other.hashKey)
  }

  /// The settings of a kind.
  subscript(kind: KindSlot) -> KindSettings {
    _read { yield kinds[kind.index] }
  }

  /// Returns the Live Activity settings of a kind; nil if the policy has none for it.
  func activity(_ kind: KindSlot) -> ActivityPolicy? {
    kinds[kind.index].policyIndex.flatMap { policy.kinds[$0].activity }
  }

  // MARK: Kinds

  /// Returns the slot of a kind; nil if no device has registered it.
  func kind(named name: Identifier) -> KindSlot? { kindByName[name] }

  /// Returns the name under which a kind is added. It is the kind's own name as long as there is room, and always for kinds
  /// that are known or that the policy names. All other kinds share one name, so that devices cannot fill the memory with
  /// made-up kinds.
  /// - Parameters:
  ///   - name: The kind's own name.
  ///   - kindsMax: The number of known kinds from which on there is no more room.
  func countedName(_ name: Identifier, kindsMax: Int) -> Identifier {
    if kindByName[name] != nil || kinds.count < min(kindsMax, Self.kindsMax) || name == Self.otherKinds
      || policy.kinds.contains(where: { $0.name == name })
    {
      return name
    }
    return Self.otherKinds
  }

  /// Adds a kind that is not known yet.
  /// - Parameter name: The name that `countedName` gave.
  /// - Returns: The kind's slot, which is the next one, and the policy's settings for it.
  mutating func addKind(_ name: Identifier) -> (KindSlot, KindPolicy) {
    let slot = KindSlot(UInt32(kinds.count))
    kinds.append(KindSettings(name: name))
    kindByName[name] = slot
    table.removeAll()
    kinds[slot.index].begin(era: era(ofNew: slot))
    return (slot, configure(slot))
  }

  /// Returns the era of a kind that is registered for the first time: that of a kind which the policy names and which displays the
  /// same fields, because its states of subjects are up to date. Otherwise one that no other kind has, because states may
  /// be left of a kind that a policy no longer named for a while.
  private mutating func era(ofNew kind: KindSlot) -> UInt64 {
    _ = configure(kind)
    let own = kinds[kind.index].display.shared
    let eras = kinds.indices.filter { other in
      other != kind.index && kinds[other].policyIndex != nil && kinds[other].display.shared == own
    }.map { kinds[$0].era }
    // The largest, because the order of kinds is another one after a restart.
    return eras.max() ?? UInt64(bitPattern: offset) &+ 1
  }

  /// The bound on kinds that the policy does not name. An instance keeps its kind in 16 bits; the numbers above
  /// this bound are left for kinds that policies name.
  private static let kindsMax = 60_000

  /// The name of all kinds beyond `PlannerBounds.kindsMax`.
  private static let otherKinds: Identifier = "(other kinds)"

  /// Notes the scale by which the distance of a restored row was computed.
  mutating func note(scale: UInt64, of kind: KindSlot) { kinds[kind.index].note(scale: scale) }

  private mutating func configure(_ kind: KindSlot) -> KindPolicy {
    let name = kinds[kind.index].name
    let index = policy.kinds.firstIndex { $0.name == name }
    let numbers =
      index.map { policy.kinds[$0] }
      ?? KindPolicy(
        name: name,
        budget: InstanceBudget(
          perDay: policy.profile.instanceReloads.limit, minInterval: policy.profile.instanceReloads.minInterval),
        rules: [])
    kinds[kind.index].configure(numbers, index: index, hashKey)
    return numbers
  }

  /// Restores the era of a kind. The policy in force must be restored before.
  mutating func restore(era: UInt64, of kind: KindSlot) {
    kinds[kind.index].begin(era: era)
    _ = configure(kind)
  }

  // MARK: Policy

  /// Begins an era of each kind that the policy in force does not name and the next one does, and of each kind that displays other
  /// fields from now on. The latter joins the kinds that display these fields already.
  /// - Parameters:
  ///   - next: The next policy. Call `use` with it next.
  ///   - offset: The log offset of its record.
  mutating func beginEras(_ next: Policy, offset: Int64) {
    var known: [UInt64: UInt64] = [:]
    var changed: [(kind: Int, shared: UInt64)] = []
    for kind in kinds.indices {
      guard let named = next.kinds.first(where: { $0.name == kinds[kind].name }) else { continue }
      let shared = KindDisplay.shared(named.displays, of: named.name)
      if kinds[kind].policyIndex == nil {
        kinds[kind].begin(era: UInt64(bitPattern: offset) &+ 1)
      } else if kinds[kind].display.shared == shared {
        known[shared] = max(known[shared] ?? 0, kinds[kind].era)
      } else {
        changed.append((kind, shared))
      }
    }
    for (kind, shared) in changed { kinds[kind].begin(era: known[shared] ?? UInt64(bitPattern: offset) &+ 1) }
  }

  /// Takes over another policy.
  /// - Parameter policy: The policy that is in force from now on.
  /// - Returns: Each kind with the policy's settings for it.
  mutating func use(_ policy: Policy) -> [(KindSlot, KindPolicy)] {
    self.policy = policy
    contentFields = policy.contentPaths.map { PatchedField($0) }
    table.removeAll()
    return kinds.indices.map { kind in
      let slot = KindSlot(UInt32(kind))
      return (slot, configure(slot))
    }
  }

  /// Notes the record that put the policy in force.
  /// - Parameters:
  ///   - offset: The offset of the record in the log.
  ///   - document: The document in the record; nil keeps the one that is known.
  mutating func note(offset: Int64, document: String?) {
    self.offset = offset
    if let document { self.document = document }
    refused = nil
  }

  /// Notes that a policy record was not taken over.
  /// - Parameter error: The problems of its document.
  mutating func note(refused error: PolicyError) { refused = error }

  /// Restores the key of the planner's hashes. Restore the policy in force after it.
  mutating func restore(hashKey: HashKey) { self.hashKey = hashKey }
  /// Restores the offset of the record that put the policy in force.
  mutating func restore(offset: Int64) { self.offset = offset }
  /// Restores the document of the policy in force.
  mutating func restore(document: String) { self.document = document }

  /// Returns one partition's share of an app's tokens of a day; −1 if the app has no limit. Each of P partitions has
  /// `perDay / P` tokens, and the first `perDay % P` of them one more, so that the shares sum to the limit.
  /// - Parameters:
  ///   - id: The bundle id of the app.
  ///   - partition: The number of the partition, from 0 on.
  ///   - partitionCount: P, the number of partitions of the log.
  func appLimit(_ id: Identifier, partition: Int32, of partitionCount: Int32) -> Int {
    appShare(id, \.perDay, partition: partition, of: partitionCount)
  }

  /// Returns one partition's share of an app's refunds of a day; −1 if they have no limit. The parameters are those of `appLimit`.
  func appRefundLimit(_ id: Identifier, partition: Int32, of partitionCount: Int32) -> Int {
    appShare(id, \.refundsInForce, partition: partition, of: partitionCount)
  }

  private func appShare(
    _ id: Identifier, _ number: KeyPath<AppBudget, Int>, partition: Int32, of partitionCount: Int32
  ) -> Int {
    guard let whole = policy.apps.first(where: { $0.app == id })?[keyPath: number] else { return -1 }
    return whole / Int(partitionCount) + (Int(partition) < whole % Int(partitionCount) ? 1 : 0)
  }

  /// The refunds of a device in 24 hours.
  var deviceRefundsMax: Int { AppBudget.refunds(of: policy.profile.instanceReloads.limit) }

  /// Looks up the rules for an event type.
  /// - Returns: A number for the functions below, valid until the next call and until the policy or the kinds change.
  mutating func type(_ type: Identifier) -> Int { table.place(ofType: type) ?? table.add(type, policy, kindByName) }

  /// Returns a number for the functions below as `type(_:)` does; nil if the type is not one of those that were looked up last.
  /// - Parameter number: The number of the type in `EventHashes`.
  func recentType(_ number: UInt64) -> Int? { table.recent.firstIndex { $0.number == number } }

  /// Returns the number of kinds that have rules for an event type.
  func ruleCount(ofType type: Int) -> Int { table.recent[type].kinds.count }

  /// Returns whether one of the rules for an event type is of a Live Activity. Its parameter is that of `ruleCount(ofType:)`.
  func concernsActivities(type: Int) -> Bool { table.recent[type].concernsActivities }

  /// Returns the kind that a rule belongs to.
  /// - Parameters:
  ///   - place: The place of the rule, 0..<`ruleCount(ofType:)`, in the order of the policy.
  ///   - type: The number that `type(_:)` returned.
  func kind(ofRule place: Int, ofType type: Int) -> KindSlot { table.recent[type].kinds[place] }

  /// Returns the evaluation of every event of a type by a rule; without `hasRule` if it depends on the event. Its parameters are those of
  /// `kind(ofRule:ofType:)`.
  func evaluation(byRule place: Int, ofType type: Int) -> KindEvaluation { table.recent[type].evaluations[place] }

  /// Returns the first rule of a kind for an event type. Its parameters are those of `kind(ofRule:ofType:)`.
  func rule(_ place: Int, ofType type: Int) -> KindRule { table.recent[type].rules[place] }

  /// Traps if an invariant is broken that holds between any two records. For tests.
  func checkInvariants() {
    precondition(kindByName.count == kinds.count, "two kinds of one name")
    for (name, slot) in kindByName {
      precondition(kinds[slot.index].name == name, "a kind is found under another name")
    }
  }
}
