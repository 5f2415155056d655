public import Domain
public import Policies

/// Puts a planner together from the records of `rouse.state`, while they are still being read. The last record of a key
/// wins, a topic may repeat it any number of times, and the order of the keys does not matter.
///
///     var restore = PlannerRestore(partition: 3, partitionCount: 12)
///     for record in stateTopic { try restore.add(key: …, value: …) }
///     let planner = try restore.finish(initialPolicy: policy)
///
/// The planner decides like the one that wrote the records, byte for byte.
public struct PlannerRestore {
  private var planner: Planner
  /// Events are shared between the devices they wait on; records repeat them.
  private var events: [RestoredEvent: UInt32] = [:]
  /// Newest records of devices, by id, whose slot another device still holds: one of the two records is out of date, and
  /// a later one will say which.
  private var displaced: [String: [UInt8]] = [:]
  /// Chunks of notes, by number: read at the end, in order.
  private var notes: [Int64: [UInt8]] = [:]
  /// Records that are few and read at the end (policy, clock, kinds, apps), and those that are not the planner's.
  private var others: [[UInt8]: [UInt8]] = [:]

  public init(
    partition: Int32, partitionCount: Int32, bounds: PlannerBounds = PlannerBounds(), offsets: TimeZoneOffsets = .system
  ) {
    planner = Planner(
      partition: partition, partitionCount: partitionCount, policy: .none, bounds: bounds, offsets: offsets)
  }

  /// Makes room for a fleet whose size is known, as a snapshot's is: tables that grow are copied again and again.
  /// - Parameters:
  ///   - devices: how many there will be; fewer or more do no harm.
  ///   - instances: how many they have together.
  public mutating func reserve(devices: Int, instances: Int) { planner.reserve(devices: devices, instances: instances) }

  /// Keys that have a value.
  public var count: Int {
    planner.deviceCount + displaced.count + planner.subjects.count + notes.count + others.count
  }

  /// Takes one record, in the order of the topic: nil removes the key.
  /// - Throws: `BinaryError` for a record that does not read: corrupt, or written by another release. What was restored
  ///   so far is then of no use.
  public mutating func add(key: [UInt8], value: [UInt8]?) throws(BinaryError) {
    try add(key: key, in: key.indices, value: value ?? [], in: value?.indices)
  }

  /// Takes one record that stands in a buffer: its key and its value, nil where the key is to be removed.
  /// - Throws: like `add(key:value:)`.
  public mutating func add(key: Range<Int>, value: Range<Int>?, of bytes: [UInt8]) throws(BinaryError) {
    try add(key: bytes, in: key, value: bytes, in: value)
  }

  private mutating func add(
    key keyBytes: [UInt8], in key: Range<Int>, value bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    let isNamed = key.count > 2 && keyBytes[key.lowerBound + 1] == UInt8(ascii: "/")
    let letter = isNamed ? keyBytes[key.lowerBound] : 0
    switch letter {
    case UInt8(ascii: "d"):
      let id = String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self)
      try add(device: id, bytes, in: value)
    case UInt8(ascii: "s"), UInt8(ascii: "m"):
      let name = String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self)
      try add(subject: name, bytes, in: value)
    case UInt8(ascii: "n"):
      let name = String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self)
      guard let number = Int64(name, radix: 16), 0..<(Int64.max >> 1) ~= number else {
        throw .corrupt(offset: 0, what: "the number of a chunk as key")
      }
      notes[number] = value.map { Array(bytes[$0]) }
    default: others[Array(keyBytes[key])] = value.map { Array(bytes[$0]) }
    }
  }

  private mutating func add(device id: String, _ bytes: [UInt8], in value: Range<Int>?) throws(BinaryError) {
    if !displaced.isEmpty { displaced[id] = nil }
    if let known = planner.device(named: id) { remove(device: known) }
    guard let value else { return }
    var reader = try Self.reader(bytes, in: value)
    let slot: UInt32 = try reader.integer("a device slot")
    if planner.isTaken(device: slot) {
      displaced[id] = Array(bytes[value])
    } else {
      try planner.restore(device: id, at: slot, version: bytes[value.lowerBound], from: &reader, events: &events)
    }
  }

  private mutating func add(subject name: String, _ bytes: [UInt8], in value: Range<Int>?) throws(BinaryError) {
    guard let key = UInt64(name, radix: 16) else { throw .corrupt(offset: 0, what: "a subject hash as key") }
    guard let value else {
      planner.subjects.remove(key)
      return
    }
    var reader = try Self.reader(bytes, in: value)
    planner.subjects.restore(
      try SubjectMemory.Remembered(key, from: &reader, version: bytes[value.lowerBound]))
  }

  /// Takes back a device that an earlier record put in.
  private mutating func remove(device slot: UInt32) {
    for event in planner.unplace(device: slot) {
      events[RestoredEvent(id: planner.events[event].id, traceparent: planner.events[event].traceparent)] = nil
      planner.events.remove(event, leaving: EventEntry())
    }
  }

  /// The value of a key that is not the planner's own (the worker's position), removed from the rest.
  public mutating func take(_ key: [UInt8]) -> [UInt8]? { others.removeValue(forKey: key) }

  /// Builds the planner.
  /// - Parameter initialPolicy: in force when the state holds none.
  /// - Throws: like `add(key:value:)`.
  public consuming func finish(initialPolicy: Policy) throws(BinaryError) -> Planner {
    try placeDisplaced()
    try readPolicy(initialPolicy)
    if let bytes = others.removeValue(forKey: StateKey.clock) {
      var reader = try Self.reader(bytes, in: bytes.indices)
      try planner.readClock(&reader)
    }
    try readNotes()
    try readOthers()
    planner.finishRestore()
    return planner
  }

  private mutating func placeDisplaced() throws(BinaryError) {
    for (id, bytes) in displaced.sorted(by: { $0.key < $1.key }) {
      var reader = try Self.reader(bytes, in: bytes.indices)
      let slot: UInt32 = try reader.integer("a device slot")
      guard !planner.isTaken(device: slot) else {
        throw .corrupt(offset: 1, what: "a slot of its own for each device")
      }
      try planner.restore(device: id, at: slot, version: bytes[0], from: &reader, events: &events)
    }
  }

  private mutating func readNotes() throws(BinaryError) {
    var replay = NoteReplay()
    for number in notes.keys.sorted() {
      guard let bytes = notes.removeValue(forKey: number) else { continue }
      var reader = try Self.reader(bytes, in: bytes.indices)
      try replay.take(chunk: number, bytes: bytes.count, from: &reader, into: &planner.subjects)
    }
    try replay.finish(&planner.subjects)
  }

  private mutating func readOthers() throws(BinaryError) {
    // Sorted only to make failures repeatable; the result does not depend on the order.
    for (key, bytes) in others.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where key.count > 2 {
      let name = String(decoding: key.dropFirst(2), as: UTF8.self)
      switch key[0] {
      case UInt8(ascii: "k"):
        var reader = try Self.reader(bytes, in: bytes.indices)
        try planner.restore(kind: name, from: &reader)
      case UInt8(ascii: "a"):
        var reader = try Self.reader(bytes, in: bytes.indices)
        try planner.restore(app: name, from: &reader)
      default: continue
      }
    }
  }

  private mutating func readPolicy(_ initialPolicy: Policy) throws(BinaryError) {
    guard let bytes = others.removeValue(forKey: StateKey.policy) else {
      planner.use(initialPolicy)
      return
    }
    var reader = try Self.reader(bytes, in: bytes.indices)
    let text = try reader.string("a policy")
    do throws(PolicyError) {
      planner.use(try PolicyDocument(yaml: text, file: "rouse.state").policy)
      planner.policyDocument = text
    } catch {
      throw .corrupt(offset: 0, what: "a policy document this release reads: \(error)")
    }
  }

  private static func reader(_ bytes: [UInt8], in range: Range<Int>) throws(BinaryError) -> BinaryReader {
    var reader = BinaryReader(bytes, in: range)
    let version = try reader.uint8("a format version")
    guard version <= stateFormatVersion else { throw .newerVersion(found: version, newestKnown: stateFormatVersion) }
    guard version >= stateFormatOldest else {
      throw .corrupt(offset: range.lowerBound, what: "a format version from \(stateFormatOldest) on")
    }
    return reader
  }
}

/// What makes two waiting events one.
struct RestoredEvent: Hashable {
  var id: String
  var traceparent: String?
}

extension Planner {
  mutating func reserve(devices count: Int, instances instanceCount: Int) {
    devices.reserve(count)
    deviceIndex.reserve(count)
    instances.reserve(instanceCount)
    entries.reserve(instanceCount)
    // An id, and two tokens of 32 bytes; half as many keys as instances.
    texts.reserve(count * 96 + instanceCount * 8)
    interests.reserve(instanceCount / 2)
  }

  func isTaken(device slot: UInt32) -> Bool {
    slot < devices.capacity && devices[slot].flags.contains(.used)
  }

  /// Takes a device out as if it had never been restored.
  /// - Returns: events that nothing refers to any more.
  mutating func unplace(device slot: UInt32) -> [UInt32] {
    var unused: [UInt32] = []
    var instance = devices[slot].firstInstance
    while instance != none {
      let gone = instances[instance]
      var entry = gone.firstEntry
      while entry != none {
        let next = entries[entry].next
        entries.remove(entry, leaving: InterestEntry())
        entry = next
      }
      var slot = waiting(instance).firstCause
      while slot != none {
        let cause = causes[slot]
        events[cause.event].references -= 1
        if events[cause.event].references == 0 { unused.append(cause.event) }
        causes.remove(slot, leaving: Cause())
        slot = cause.next
      }
      remove(instance)
      instance = gone.next
    }
    viewHabits[slot] = nil
    removeTexts(ofDevice: slot)
    dropRare(slot)
    devices[slot] = DeviceState()
    return unused
  }

  mutating func readClock(_ reader: inout BinaryReader) throws(BinaryError) {
    now = try reader.int64("log time")
    curveHour = try reader.int64("an hour")
    subjects.generation = try reader.zigzag("a generation")
    policyOffset = try reader.zigzag("an offset")
  }

  mutating func restore(kind name: String, from reader: inout BinaryReader) throws(BinaryError) {
    let index = Int(knownKindIndex(name))
    try kinds[index].read(from: &reader)
  }

  mutating func restore(app id: String, from reader: inout BinaryReader) throws(BinaryError) {
    let index = Int(appIndex(id))
    apps[index].spent = try reader.integer("tokens spent")
    apps[index].day = try reader.zigzag("a day")
  }

  mutating func restore(
    device id: String, at slot: UInt32, version: UInt8, from reader: inout BinaryReader,
    events known: inout [RestoredEvent: UInt32]
  ) throws(BinaryError) {
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: try reader.integer("device flags")).intersection(.stored)
    device.app = appIndex(try reader.string("an app"))
    device.zone = zoneIndex(try reader.string("a time zone"))
    device.osVersion = OSVersion(major: try reader.integer("a version"), minor: try reader.integer("a version"))
    let widgets = try reader.optionalString("a token")
    let tokens = TokenPair(widgets: widgets, background: try reader.optionalString("a token"))
    device.pushTAT = try reader.zigzag("a push TAT")
    device.backgroundTAT = try reader.zigzag("a background TAT")
    var rare = RareDeviceState()
    rare.startTAT = try reader.zigzag("a start TAT")
    device.commandRoute = try reader.uint8("a route")
    rare.foregroundSince = try reader.zigzag("an instant")
    device.commandOffset = try reader.zigzag("an offset")
    device.commandOrdinal = try reader.integer("an ordinal")
    device.updatedAt = try reader.zigzag("an instant")
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    devices.place(device, at: slot, empty: DeviceState())
    name(device: slot, id)
    set(tokens, device: slot)
    changeRare(slot) { $0 = rare }
    var pending: [UInt32] = []
    for _ in 0..<(try reader.count("events")) {
      let event = RestoredEvent(id: try reader.string("an event id"), traceparent: try reader.optionalString("a trace"))
      let place = known[event] ?? events.insert(EventEntry(id: event.id, traceparent: event.traceparent))
      known[event] = place
      pending.append(place)
    }
    var previous = none
    for _ in 0..<(try reader.count("instances")) {
      let instance = try restoreInstance(device: slot, version: version, from: &reader, pending: pending)
      if previous == none {
        devices[slot].firstInstance = instance
      } else {
        guard instances[previous].index < instances[instance].index else {
          throw .corrupt(offset: reader.offset, what: "instances by rising index")
        }
        instances[previous].next = instance
      }
      previous = instance
    }
    guard pending.allSatisfy({ events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if device.flags.contains(.habits) { viewHabits[slot] = try ViewHabits(from: &reader) }
    try reader.end()
  }

  private mutating func restoreInstance(
    device slot: UInt32, version: UInt8, from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) -> UInt32 {
    let id = try reader.string("an instance id")
    var state = InstanceState()
    state.device = slot
    let kind = knownKindIndex(try reader.string("a kind"))
    guard let kind = UInt16(exactly: kind) else { throw .corrupt(offset: reader.offset, what: "a known kind") }
    state.kind = kind
    state.index = try reader.integer("an index")
    let surface = try reader.uint8("a surface")
    guard let kindOfInstance = InstanceSurface(rawValue: surface) else {
      throw .corrupt(offset: reader.offset - 1, what: "a surface")
    }
    state.surface = kindOfInstance
    state.held = try reader.uint8("a reason")
    state.flags = InstanceState.Flags(rawValue: try reader.uint8("instance flags")).intersection(.stored)
    state.spent = try reader.integer("tokens spent")
    state.theta = try reader.float("θ")
    var waiting = Waiting()
    waiting.pendingValue = try reader.float("a value")
    waiting.pendingAt = try reader.zigzag("an instant")
    state.calibratedAt = try reader.integer("an instant")
    state.flow = try reader.float("a flow")
    state.flowMean = try reader.float("a mean flow")
    state.flowCount = try reader.integer("arrivals")
    state.flowAt = try reader.integer("an instant")
    state.windowEnd = try reader.zigzag("an instant")
    state.lastReload = try reader.zigzag("an instant")
    let nextReload = try reader.zigzag("an instant")
    waiting.due = try reader.zigzag("an instant")
    var charges: [Int64] = []
    for _ in 0..<(try reader.count("charges")) { charges.append(try reader.zigzag("an instant")) }
    state.id = instanceIDs.retain(id, in: &texts)
    let instance = instances.insert(state)
    set(nextReload: nextReload, instance)
    waitings[waitingSlot(instance)] = waiting
    if kindOfInstance != .widget { addressed[instance] = try AddressedState(from: &reader, version: version) }
    if !charges.isEmpty { rollingCharges[instance] = charges }
    let chain = try restoreEntries(instance, from: &reader)
    try restoreCauses(instance, chain: chain, from: &reader, pending: pending)
    settle(instance)
    return instance
  }

  private mutating func restoreEntries(
    _ instance: UInt32, from reader: inout BinaryReader
  ) throws(BinaryError) -> [UInt32] {
    var chain: [UInt32] = []
    for _ in 0..<(try reader.count("interests")) {
      let interest = interests.intern(try reader.string("an interest key"), in: &texts)
      var entry = InterestEntry(interest: interest, instance: instance)
      entry.shown = UInt64(bitPattern: try reader.int64("a fingerprint"))
      entry.current = UInt64(bitPattern: try reader.int64("a fingerprint"))
      let slot = entries.insert(entry)
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
      let waiting = waitingSlot(instance)
      if waitings[waiting].lastCause == none {
        waitings[waiting].firstCause = inserted
      } else {
        causes[waitings[waiting].lastCause].next = inserted
      }
      waitings[waiting].lastCause = inserted
      waitings[waiting].causes += 1
    }
  }

  /// After the last record: what is made from all devices at once.
  mutating func finishRestore() {
    devices.freeUnused { $0.flags.contains(.used) }
    var due: ContiguousArray<TimerQueue.Entry> = []
    for slot in 0..<UInt32(devices.capacity) {
      var instance = devices[slot].firstInstance
      while instance != none {
        let waiting = instances[instance].waiting
        if waiting != none, waitings[waiting].due != .max {
          waitings[waiting].armedAt = waitings[waiting].due
          due.append(
            TimerQueue.Entry(due: waitings[waiting].due, order: instances[instance].order, instance: instance))
        }
        var entry = instances[instance].firstEntry
        while entry != none {
          // Devices and their instances come in order, so the lists are sorted.
          interests.append(entry, into: entries[entry].interest)
          entry = entries[entry].next
        }
        instance = instances[instance].next
      }
    }
    interests.removeUnused(in: &texts)
    timers = TimerQueue(due)
    for kind in kinds.indices { kinds[kind].touched = false }
    for app in apps.indices { apps[app].touched = false }
    changes = PlannerChanges()
  }
}
