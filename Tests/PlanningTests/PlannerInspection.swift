import Domain
import Policies

@testable import Planning

/// The questions of tests that no decision, command or census answers. The reaches of tests into the inside of a planner are here, so that a
/// change of the inside changes this file.
extension Planner {
  /// An instance as checks of a whole planner see it.
  struct InstanceFacts {
    /// The device and the instance, for messages.
    var name: String
    var device: DeviceSlot
    var surface: InstanceSurface
    var isRetired: Bool
    /// The difference of the screen from the truth; 0 if there is none.
    var wrong: Double
    /// Whether the policy in force has the kind, and has not switched it off.
    var (hasPolicy, isDisabled): (Bool, Bool)
    /// Whether a push can reach it now.
    var isReachable: Bool
    /// The reason for which it is held back.
    var heldFor: HeldReason
    /// Whether events or a difference wait for it.
    var isWaiting: Bool
    /// The time of the next look at what waits, and that of its timer, which may be outdated.
    var (due, timerAt): (Timestamp, Timestamp)
  }

  func facts(of instance: InstanceSlot = InstanceSlot(0)) -> InstanceFacts {
    let state = fleet.registry.instances[instance]
    let (settings, waiting) = (fleet.rules[state.kind], fleet.pending[state.waiting])
    let route = state.surface.isActivity ? nil : fleet.route(of: instance, device: state.device)
    let isReachable = if case .unreachable? = route { false } else { true }
    return InstanceFacts(
      name: "\(fleet.registry.id(of: state.device))/\(fleet.registry.id(of: instance))", device: state.device,
      surface: state.surface, isRetired: state.flags.contains(.retired),
      wrong: fleet.registry.difference(of: instance).value, hasPolicy: settings.policyIndex != nil,
      isDisabled: settings.isDisabled, isReachable: isReachable, heldFor: state.heldFor, isWaiting: !waiting.isEmpty,
      due: waiting.due, timerAt: waiting.armedAt)
  }

  /// All instances, those included that are kept for their ledgers only.
  var instances: [InstanceFacts] {
    var all: [InstanceFacts] = []
    for instance in fleet.registry.instances.slots where fleet.registry.isUsed(instance) {
      all.append(facts(of: instance))
    }
    return all
  }

  /// The tokens that the only device's first instance, or a given one, has left today.
  func tokensLeft(_ instance: InstanceSlot? = nil) -> Int {
    let first = fleet.registry.instances.slots.first { fleet.registry.isUsed($0) }
    return (instance ?? first).map { fleet.tokensLeft($0) } ?? 0
  }

  // MARK: What is learnt

  /// The demand that is learnt of the first kind, and of an instance.
  var demand: KindDemand { fleet.pricing.kinds[0].demand }
  func demand(of instance: UInt32) -> DemandState { fleet.registry.instances[InstanceSlot(instance)].demand }

  /// The surplus of a device's rate that is remembered at a time.
  func surplus(_ rate: ChargedRate, of device: DeviceSlot = DeviceSlot(0), at now: Timestamp) -> Double {
    fleet.registry.devices[device].surplus.remembered(rate, now: now)
  }

  var viewHabits: [DeviceSlot: ViewHabits] { fleet.pricing.viewHabits }

  /// The number of changes and the price that an instance's next token has, as a decision's estimates have them.
  func price(of decision: Decision, left: Int) -> TokenPrice? {
    guard let device = fleet.registry.device(named: decision.device),
      let instance = fleet.registry.find(decision.instance, of: device)
    else { return nil }
    let state = fleet.registry.instances[instance]
    let time = fleet.zones.timeOfDay(fleet.registry.devices[device].zone, decision.at)
    let kind = fleet.pricing.kinds[state.kind.index]
    return kind.demand.price(
      state.demand, left: left, at: DayPlace(time, anchorMinute: kind.anchorMinute), now: decision.at)
  }

  // MARK: The truth about subjects

  /// The number under which a kind knows the truths of what it displays; nil for a kind that no policy has named.
  func truths(of kind: Identifier) -> UInt64? {
    fleet.rules.kind(named: kind).map { fleet.rules[$0].display.truths }
  }

  /// The numbers of the kinds that the policy in force decides.
  var truths: [UInt64] { fleet.rules.kinds.filter(\.isDecided).map(\.display.truths) }

  /// Whether the first kind knows the truth of a subject.
  func knowsTruth(of subject: Identifier) -> Bool {
    let key = fleet.rules.kinds[0].display.truthKey(subject: subject.utf8.span, hashKey: fleet.hashKey)
    return fleet.subjects.truth(key) != nil
  }

  // MARK: Live Activities

  /// The lives of the activities of a subject on the first device: as its push-to-start token knows it, and of those that are registered.
  func lives(of subject: Identifier) -> (started: ActivityLife?, registered: [(token: String, life: ActivityLife)]) {
    var (started, registered): (ActivityLife?, [(token: String, life: ActivityLife)]) = (nil, [])
    for (instance, state) in fleet.registry.addressed.sorted(by: { $0.key < $1.key }) {
      if fleet.registry.instances[instance].flags.contains(.retired) { continue }
      switch fleet.registry.instances[instance].surface {
      case .starter: started = state.activity(of: subject)?.life(at: fleet.now)
      case .activity: registered.append((state.token, state.life))
      case .widget, .control: break
      }
    }
    return (started, registered)
  }

  // MARK: State

  /// All that is remembered of subjects, and the chunks of it on Kafka.
  var subjects: SubjectMemory { fleet.subjects }

  /// The chunks of devices on Kafka.
  var deviceLog: ChunkLog<DeviceTag> { fleet.deviceChunks }

  /// The chunk of each device, by id.
  var chunkOfDevices: [Identifier: Int64] {
    var chunks: [Identifier: Int64] = [:]
    for device in fleet.registry.devices.slots where fleet.registry.isUsed(device) {
      chunks[fleet.registry.id(of: device)] = fleet.deviceChunks.chunk(of: fleet.registry[chunkPlace: device])
    }
    return chunks
  }

  /// The record of each device in a snapshot, without its place, by key.
  var deviceRecords: [[UInt8]: [UInt8]] {
    var (records, writer): ([[UInt8]: [UInt8]], StateRecordWriter) = ([:], StateRecordWriter())
    for device in fleet.registry.devices.slots where fleet.registry.isUsed(device) {
      fleet.findPendingEvents(of: device, .whole, &writer.pending)
      writer.binary.reset()
      fleet.write(device, pending: writer.pending, to: &writer.binary)
      records[Array(fleet.registry.id(of: device).utf8)] = writer.binary.bytes
    }
    return records
  }

  /// The ids of the devices that the next commit writes because they changed or went.
  var changedDevices: Set<Identifier> {
    let changed = fleet.journal.devices.filter { fleet.registry.isUsed($0) }.map { fleet.registry.id(of: $0) }
    return Set(changed + fleet.journal.removedDevices.map(\.id))
  }

  /// The number of slots that the table of apps has ever had.
  var appSlots: Int { fleet.ledgers.apps.capacity }

  /// Puts a policy in force, as a policy record does with its document.
  mutating func activate(_ policy: Policy) { fleet.activate(policy) }
}
