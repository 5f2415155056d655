public import Domain
public import Policies

/// Puts a planner together from the records of `rouse.state`, in any order of keys, the newest of each key.
///
///     var restore = PlannerRestore(partition: 3, partitionCount: 12)
///     for record in stateTopic { try restore.add(key: …, value: …) }
///     let planner = restore.finish(initialPolicy: policy)
///
/// The planner decides like the one that wrote the records, byte for byte.
public struct PlannerRestore {
  private let partition: Int32
  private let partitionCount: Int32
  private let bounds: PlannerBounds
  private let offsets: TimeZoneOffsets
  /// Newest value by key. Devices are decoded at the end, once: a topic that is not compacted yet repeats them.
  private var values: [[UInt8]: [UInt8]] = [:]

  public init(
    partition: Int32, partitionCount: Int32, bounds: PlannerBounds = PlannerBounds(), offsets: TimeZoneOffsets = .system
  ) {
    self.partition = partition
    self.partitionCount = partitionCount
    self.bounds = bounds
    self.offsets = offsets
  }

  /// Keys that have a value.
  public var count: Int { values.count }

  /// Takes one record, in the order of the topic.
  public mutating func add(key: [UInt8], value: [UInt8]?) { values[key] = value }

  /// The value of a key that is not the planner's own (the worker's position), removed from the rest.
  public mutating func take(_ key: [UInt8]) -> [UInt8]? { values.removeValue(forKey: key) }

  /// Builds the planner.
  /// - Parameter initialPolicy: in force when the state holds none.
  /// - Throws: `BinaryError` for a record that does not read: corrupt, or written by a newer release.
  public consuming func finish(initialPolicy: Policy) throws(BinaryError) -> Planner {
    var policy = initialPolicy
    var document: String?
    if let bytes = values.removeValue(forKey: StateKey.policy) {
      var reader = try Self.reader(bytes)
      let text = try reader.string("a policy")
      do throws(PolicyError) {
        policy = try PolicyDocument(yaml: text, file: "rouse.state").policy
        document = text
      } catch {
        throw .corrupt(offset: 0, what: "a policy document this release reads: \(error)")
      }
    }
    var planner = Planner(
      partition: partition, partitionCount: partitionCount, policy: policy, bounds: bounds, offsets: offsets)
    planner.policyDocument = document
    if let bytes = values.removeValue(forKey: StateKey.clock) {
      var reader = try Self.reader(bytes)
      try planner.readClock(&reader)
    }
    var events: [RestoredEvent: UInt32] = [:]
    // Sorted only to make failures repeatable; the result does not depend on the order.
    for key in values.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard let bytes = values[key], key.count > 2 else { continue }
      var reader = try Self.reader(bytes)
      let name = String(decoding: key.dropFirst(2), as: UTF8.self)
      switch key[0] {
      case UInt8(ascii: "d"): try planner.restore(device: name, from: &reader, events: &events)
      case UInt8(ascii: "k"): try planner.restore(kind: name, from: &reader)
      case UInt8(ascii: "a"): try planner.restore(app: name, from: &reader)
      case UInt8(ascii: "s"): try planner.restore(subject: name, from: &reader)
      default: continue
      }
    }
    planner.finishRestore()
    return planner
  }

  private static func reader(_ bytes: [UInt8]) throws(BinaryError) -> BinaryReader {
    var reader = BinaryReader(bytes)
    let version = try reader.uint8("a format version")
    guard version == stateFormatVersion else { throw .newerVersion(found: version, newestKnown: stateFormatVersion) }
    return reader
  }
}

/// Events are shared between the devices they wait on; records repeat them.
struct RestoredEvent: Hashable {
  var id: String
  var traceparent: String?
}

extension Planner {
  mutating func readClock(_ reader: inout BinaryReader) throws(BinaryError) {
    now = try reader.int64("log time")
    curveHour = try reader.int64("an hour")
    subjects.restore(generation: try reader.zigzag("a generation"))
    policyOffset = try reader.zigzag("an offset")
  }

  mutating func restore(kind name: String, from reader: inout BinaryReader) throws(BinaryError) {
    let index = Int(kindIndex(name))
    try kinds[index].read(from: &reader)
  }

  mutating func restore(app id: String, from reader: inout BinaryReader) throws(BinaryError) {
    let index = Int(appIndex(id))
    apps[index].spent = try reader.integer("tokens spent")
    apps[index].day = try reader.zigzag("a day")
  }

  mutating func restore(subject name: String, from reader: inout BinaryReader) throws(BinaryError) {
    guard let key = UInt64(name, radix: 16) else { throw .corrupt(offset: 0, what: "a subject hash as key") }
    let generation = try reader.zigzag("a generation")
    subjects.restore(key, try SubjectMemory.Newest(from: &reader), generation: generation)
  }

  mutating func restore(
    device id: String, from reader: inout BinaryReader, events known: inout [RestoredEvent: UInt32]
  ) throws(BinaryError) {
    let slot: UInt32 = try reader.integer("a device slot")
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: try reader.integer("device flags"))
    device.app = appIndex(try reader.string("an app"))
    device.zone = zoneIndex(try reader.string("a time zone"))
    var names = DeviceNames(id: id)
    device.osVersion = OSVersion(major: try reader.integer("a version"), minor: try reader.integer("a version"))
    let widgets = try reader.optionalString("a token")
    names.tokens = TokenPair(widgets: widgets, background: try reader.optionalString("a token"))
    device.pushTAT = try reader.zigzag("a push TAT")
    device.backgroundTAT = try reader.zigzag("a background TAT")
    device.startTAT = try reader.zigzag("a start TAT")
    device.commandRoute = try reader.uint8("a route")
    device.foregroundSince = try reader.zigzag("an instant")
    device.commandOffset = try reader.zigzag("an offset")
    device.commandOrdinal = try reader.integer("an ordinal")
    device.updatedAt = try reader.zigzag("an instant")
    devices.place(device, at: slot, empty: DeviceState())
    deviceNames.grow(to: devices.capacity, DeviceNames())
    deviceNames[Int(slot)] = names
    deviceByID[id] = slot
    var pending: [UInt32] = []
    for _ in 0..<(try reader.count("events")) {
      let event = RestoredEvent(id: try reader.string("an event id"), traceparent: try reader.optionalString("a trace"))
      let place = known[event] ?? events.insert(EventEntry(id: event.id, traceparent: event.traceparent))
      known[event] = place
      pending.append(place)
    }
    var previous = none
    for _ in 0..<(try reader.count("instances")) {
      let instance = try restoreInstance(device: slot, from: &reader, pending: pending)
      if previous == none {
        devices[slot].firstInstance = instance
      } else {
        instances[previous].next = instance
      }
      previous = instance
    }
    try reader.end()
  }

  private mutating func restoreInstance(
    device slot: UInt32, from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) -> UInt32 {
    let names = InstanceNames(id: try reader.string("an instance id"))
    var state = InstanceState()
    state.device = slot
    state.kind = kindIndex(try reader.string("a kind"))
    state.index = try reader.integer("an index")
    let surface = try reader.uint8("a surface")
    guard let kindOfInstance = InstanceSurface(rawValue: surface) else {
      throw .corrupt(offset: reader.offset - 1, what: "a surface")
    }
    state.surface = kindOfInstance
    state.held = try reader.uint8("a reason")
    state.flags = InstanceState.Flags(rawValue: try reader.uint8("instance flags"))
    state.spent = try reader.integer("tokens spent")
    state.theta = try reader.float("θ")
    state.pendingValue = try reader.float("a value")
    state.pendingAt = try reader.zigzag("an instant")
    state.calibratedAt = try reader.integer("an instant")
    state.flow = try reader.float("a flow")
    state.flowMean = try reader.float("a mean flow")
    state.flowCount = try reader.integer("arrivals")
    state.flowAt = try reader.integer("an instant")
    state.windowEnd = try reader.zigzag("an instant")
    state.lastReload = try reader.zigzag("an instant")
    state.nextReload = try reader.zigzag("an instant")
    let due = try reader.zigzag("an instant")
    var charges: [Int64] = []
    for _ in 0..<(try reader.count("charges")) { charges.append(try reader.zigzag("an instant")) }
    let instance = instances.insert(state)
    instanceNames.grow(to: instances.capacity, InstanceNames())
    instanceNames[Int(instance)] = names
    if kindOfInstance != .widget { addressed[instance] = try AddressedState(from: &reader) }
    if !charges.isEmpty { rollingCharges[instance] = charges }
    let chain = try restoreEntries(instance, from: &reader)
    try restoreCauses(instance, chain: chain, from: &reader, pending: pending)
    if due != .max { setDue(instance, due) }
    return instance
  }

  private mutating func restoreEntries(
    _ instance: UInt32, from reader: inout BinaryReader
  ) throws(BinaryError) -> [UInt32] {
    var chain: [UInt32] = []
    for _ in 0..<(try reader.count("interests")) {
      let interest = interests.intern(try reader.string("an interest key"))
      var entry = InterestEntry(interest: interest, instance: instance)
      entry.shown = UInt64(bitPattern: try reader.int64("a fingerprint"))
      entry.current = UInt64(bitPattern: try reader.int64("a fingerprint"))
      let slot = entries.insert(entry)
      interests.appendUnsorted(slot, into: interest)
      if let last = chain.last { entries[last].next = slot } else { instances[instance].firstEntry = slot }
      chain.append(slot)
    }
    return chain
  }

  private mutating func restoreCauses(
    _ instance: UInt32, chain: [UInt32], from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) {
    for _ in 0..<(try reader.count("causes")) {
      let place: Int = try reader.integer("an interest")
      guard place <= chain.count else { throw .corrupt(offset: reader.offset, what: "an interest of the instance") }
      let event: Int = try reader.integer("an event")
      guard event < pending.count, event >= 0 else {
        throw .corrupt(offset: reader.offset, what: "an event of the device")
      }
      let slot = pending[event]
      events[slot].references += 1
      var cause = Cause(event: slot, entry: place == 0 ? none : chain[place - 1])
      cause.signedRelevance = try reader.float("a relevance")
      cause.at = try reader.zigzag("an instant")
      cause.expires = try reader.zigzag("an instant")
      let inserted = causes.insert(cause)
      if instances[instance].lastCause == none {
        instances[instance].firstCause = inserted
      } else {
        causes[instances[instance].lastCause].next = inserted
      }
      instances[instance].lastCause = inserted
      instances[instance].causes += 1
    }
  }

  mutating func finishRestore() {
    devices.freeUnused { $0.flags.contains(.used) }
    interests.sortAll(by: EntryOrder(entries: entries, instances: instances))
    for kind in kinds.indices { kinds[kind].touched = false }
    for app in apps.indices { apps[app].touched = false }
    changes = PlannerChanges()
  }
}
