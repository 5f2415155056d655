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
    if let known = planner.registry.device(named: name, hash: hash) { remove(device: known) }
    guard let value else { return }
    var reader = try Self.reader(bytes, in: value)
    let slot = DeviceSlot(try reader.integer("a device slot"))
    if planner.isTaken(slot) {
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
  private mutating func remove(device: DeviceSlot) {
    for event in planner.unplace(device) {
      let entry = planner.pending.events[event]
      tables.events[RestoredEvent(id: entry.id, traceparent: entry.traceparent)] = nil
      planner.pending.forget(event)
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
      let slot = DeviceSlot(try reader.integer("a device slot"))
      guard !planner.isTaken(slot) else {
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
      planner.rules.restore(document: text)
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
