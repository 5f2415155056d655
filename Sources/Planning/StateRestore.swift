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
  private var tables = RestoreTables()
  /// Newest records of devices, by id, whose slot another device still holds: one of the two records is out of date, and
  /// a later one will say which.
  private var displaced: [[UInt8]: [UInt8]] = [:]
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
  /// - Parameter sizes: about; more or less does no harm.
  public mutating func reserve(_ sizes: PlannerSizes) { planner.reserve(sizes) }

  /// What has been restored so far.
  public var sizes: PlannerSizes { planner.sizes }

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
      try add(device: keyBytes, in: key.dropFirst(2), bytes, in: value)
    case UInt8(ascii: "m"):
      try add(subject: String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self), bytes, in: value)
    case UInt8(ascii: "n"):
      let name = String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self)
      guard let number = Int64(name, radix: 16), 0..<(Int64.max >> 1) ~= number else {
        throw .corrupt(offset: 0, what: "the number of a chunk as key")
      }
      notes[number] = value.map { Array(bytes[$0]) }
    default: others[Array(keyBytes[key])] = value.map { Array(bytes[$0]) }
    }
  }

  private mutating func add(
    device keyBytes: [UInt8], in id: Range<Int>, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    if !displaced.isEmpty { displaced[Array(keyBytes[id])] = nil }
    let name = keyBytes.span.extracting(id)
    let hash = HashIndex.hash(name)
    if let known = planner.device(named: name, hash: hash) { remove(device: known) }
    guard let value else { return }
    var reader = try Self.reader(bytes, in: value)
    let slot: UInt32 = try reader.integer("a device slot")
    if planner.isTaken(device: slot) {
      displaced[Array(keyBytes[id])] = Array(bytes[value])
    } else {
      try planner.restore(device: name, hash: hash, at: slot, from: &reader, sharing: &tables)
    }
  }

  private mutating func add(
    subject name: String, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    guard let key = UInt64(name, radix: 16) else { throw .corrupt(offset: 0, what: "a subject hash as key") }
    guard let value else {
      planner.subjects.remove(key)
      return
    }
    var reader = try Self.reader(bytes, in: value)
    planner.subjects.restore(try SubjectMemory.Remembered(key, from: &reader))
  }

  /// Takes back a device that an earlier record put in.
  private mutating func remove(device slot: UInt32) {
    for event in planner.unplace(device: slot) {
      tables.events[RestoredEvent(id: planner.events[event].id, traceparent: planner.events[event].traceparent)] = nil
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
    for (id, bytes) in displaced.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      var reader = try Self.reader(bytes, in: bytes.indices)
      let slot: UInt32 = try reader.integer("a device slot")
      guard !planner.isTaken(device: slot) else {
        throw .corrupt(offset: 1, what: "a slot of its own for each device")
      }
      try planner.restore(
        device: id.span, hash: HashIndex.hash(id.span), at: slot, from: &reader, sharing: &tables)
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
    guard version == stateFormatVersion else {
      throw .corrupt(offset: range.lowerBound, what: "format version \(stateFormatVersion)")
    }
    return reader
  }
}

extension Planner {
  /// Sizes beyond these are nobody's, and would only take memory.
  private static let reserveMax = 1 << 28

  mutating func reserve(_ sizes: PlannerSizes) {
    devices.reserve(min(sizes.devices, Self.reserveMax))
    deviceIndex.reserve(min(sizes.devices, Self.reserveMax))
    instances.reserve(min(sizes.instances, Self.reserveMax))
    entries.reserve(min(sizes.interests, Self.reserveMax))
    interests.reserve(min(sizes.keys, Self.reserveMax))
    texts.reserve(min(sizes.textBytes, 64 * Self.reserveMax))
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
    // The app stays until all is read: other records may name it.
    apps[devices[slot].app].devices -= 1
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
    let slot = appIndex(id)
    apps[slot].spent = try reader.integer("tokens spent")
    apps[slot].day = try reader.zigzag("a day")
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
    // Those of devices that were taken out again. What has a record goes with the day, and its record with it.
    for slot in 0..<UInt32(apps.capacity) where apps[slot].day == .min { purgeIfOver(app: slot) }
    changes = PlannerChanges()
  }
}
