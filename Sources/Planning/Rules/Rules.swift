import Domain
import Policies

/// The policy in force, compiled for the kinds that devices have.
struct Rules {
  /// The policy in force.
  private(set) var policy: Policy
  /// The document of the policy in force, where it came by the log.
  private(set) var document: String?
  /// The offset of the record that put it in force; −1 where none did.
  private(set) var offset: Int64 = -1
  /// The reason why the newest policy record of the log was not taken over; nil when it was. The policy before it stays in
  /// force.
  private(set) var refused: PolicyError?
  private(set) var kinds: ContiguousArray<KindSettings> = []
  private var kindByName: [String: KindSlot] = [:]
  private var table = RuleTable()

  init(_ policy: Policy) { self.policy = policy }

  @inline(__always)
  subscript(kind: KindSlot) -> KindSettings {
    @inline(__always) _read { yield kinds[kind.index] }
  }

  /// Returns the activity settings of a kind; nil where the policy has none for it.
  func activity(_ kind: KindSlot) -> ActivityPolicy? {
    kinds[kind.index].policyIndex.flatMap { policy.kinds[$0].activity }
  }

  // MARK: Kinds

  /// Returns the slot of a kind; nil where no device has it.
  func kind(named name: String) -> KindSlot? { kindByName[name] }

  /// Returns the name under which a kind is counted: its own, or that of all kinds beyond the bound.
  /// - Parameter kindsMax: The number of kinds, besides the policy's, from which on they share one name.
  func countedName(_ name: String, kindsMax: Int) -> String {
    if kindByName[name] != nil || kinds.count < min(kindsMax, Self.kindsMax) || name == Self.otherKinds
      || policy.kinds.contains(where: { $0.name == name })
    {
      return name
    }
    return Self.otherKinds
  }

  /// Adds a kind.
  /// - Returns: Its slot, which is the next one, and the policy's numbers for it.
  mutating func addKind(_ name: String) -> (KindSlot, KindPolicy) {
    let slot = KindSlot(UInt32(kinds.count))
    kinds.append(KindSettings(name: name))
    kindByName[name] = slot
    table.removeAll()
    return (slot, configure(slot))
  }

  /// The bound that 16 bits for the number of a kind set; the kinds of a policy come on top.
  private static let kindsMax = 60_000

  /// The name of all kinds beyond `PlannerBounds.kindsMax`.
  private static let otherKinds = "(other kinds)"

  private mutating func configure(_ kind: KindSlot) -> KindPolicy {
    let name = kinds[kind.index].name
    let index = policy.kinds.firstIndex { $0.name == name }
    let numbers =
      index.map { policy.kinds[$0] }
      ?? KindPolicy(
        name: name,
        budget: InstanceBudget(
          perDay: policy.profile.instanceReloads.limit, minInterval: policy.profile.instanceReloads.minInterval),
        halfLife: .minutes(20), rules: [])
    kinds[kind.index].configure(numbers, index: index)
    return numbers
  }

  // MARK: Policy

  /// Takes over another policy.
  /// - Returns: Each kind with the policy's numbers for it.
  mutating func use(_ policy: Policy) -> [(KindSlot, KindPolicy)] {
    self.policy = policy
    table.removeAll()
    return kinds.indices.map { kind in
      let slot = KindSlot(UInt32(kind))
      return (slot, configure(slot))
    }
  }

  /// Notes the record that put the policy in force.
  /// - Parameter document: The document of the record; nil leaves the known one.
  mutating func note(offset: Int64, document: String?) {
    self.offset = offset
    if let document { self.document = document }
    refused = nil
  }

  /// Notes that a policy record was not taken over.
  mutating func note(refused error: PolicyError) { refused = error }

  mutating func restore(offset: Int64) { self.offset = offset }
  mutating func restore(document: String) { self.document = document }

  /// Returns this partition's share of an app's tokens: `perDay / P`, the first `perDay % P` partitions one more, so that
  /// the shares sum to the limit; −1 where there is no limit.
  func appLimit(_ id: String, partition: Int32, of partitionCount: Int32) -> Int {
    guard let budget = policy.apps.first(where: { $0.app == id }) else { return -1 }
    let share = budget.perDay / Int(partitionCount)
    return share + (Int(partition) < budget.perDay % Int(partitionCount) ? 1 : 0)
  }

  /// Returns the rules for an event type, in the order of the policy.
  mutating func rules(forType type: String) -> [KindRule] {
    table.rules(forType: type, policy, kindByName)
  }

  /// Checks what holds between any two records.
  func checkInvariants() {
    precondition(kindByName.count == kinds.count, "two kinds of one name")
    for (name, slot) in kindByName {
      precondition(kinds[slot.index].name == name, "a kind is found under another name")
    }
  }
}
