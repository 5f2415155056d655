public import Domain
public import Policies

/// Builds a planner from the records of `rouse.state` while they are being read. The last record of each key counts. A topic
/// may hold earlier records of a key. The order of different keys does not matter, but for chunks, which come in the
/// order of the topic.
///
///     var restore = PlannerRestore(partition: 3, partitionCount: 12)
///     for record in stateTopic { try restore.add(key: …, value: …) }
///     let planner = try restore.finish(initialPolicy: policy)
///
/// The decisions of the restored planner equal those of the planner that wrote the records, byte for byte.
public struct PlannerRestore: ~Copyable {
  var fleet: Fleet
  var tables = RestoreTables()
  /// The newest versions of devices whose slot another device holds, by id. One of the two versions is out of date, and a later
  /// record will replace or remove it.
  var displaced: [[UInt8]: Displaced] = [:]
  /// The places in which devices of `displaced` are, or were.
  var displacedPlaces: Set<VersionPlace> = []
  /// The additions to devices that have no slot yet, in the order of the topic.
  var additions: [VersionPlace: [StateRecord]] = [:]
  /// The chunks of devices.
  var chunks = ChunkReplay<DeviceTag>()
  /// The chunks of notes.
  var notes = NoteReplay()
  /// The devices that are left out, because a newer one has their slot. Only left out chunks lead to such devices.
  var givenUp: [Identifier] = []
  /// The first pieces of the records that are written in pieces, by the record's key; the newest of each.
  var split: [[UInt8]: SplitRecord] = [:]
  /// Whether devices are among them. Where these are, only their last pieces tell.
  var hasSplitDevices = false
  /// The further pieces of such records, by the piece's key; the newest of each. Pieces without a first piece are left
  /// over.
  private var pieces: [[UInt8]: [UInt8]] = [:]
  /// The records that are read at the end, which are few (policy, clock, kinds, apps), and those that do not belong to the
  /// planner.
  var others: [[UInt8]: StateRecord] = [:]
  /// The keys whose newest record was left out because it cannot be read.
  var leftOut: Set<[UInt8]> = []
  /// The offset of the record that is being added.
  var offset: Int64 = 0

  /// Creates a restore without records.
  /// - Parameters:
  ///   - partition: The number of the log partition.
  ///   - partitionCount: The number of partitions of the log.
  ///   - bounds: The bounds of the planner's memory.
  ///   - offsets: The source of the UTC offsets of time zones.
  ///   - hashKey: The key of the planner's hashes, unless the records have one.
  public init(
    partition: Int32, partitionCount: Int32, bounds: PlannerBounds = PlannerBounds(),
    offsets: any TimeZoneOffsets = .system,
    hashKey: HashKey = .standard
  ) {
    fleet = Fleet(
      partition: partition, partitionCount: partitionCount, policy: .none, bounds: bounds, offsets: offsets,
      hashKey: hashKey)
  }

  /// Reserves room for a fleet of known size, such as that of a snapshot, so that growing tables are not copied repeatedly.
  /// - Parameter sizes: The approximate sizes.
  public mutating func reserve(_ sizes: PlannerSizes) { fleet.reserve(sizes) }

  /// The sizes of the tables that have been restored so far.
  public var sizes: PlannerSizes { fleet.sizes }

  /// The number of keys that have a value.
  public var count: Int {
    fleet.registry.deviceCount + displaced.count + chunks.known.count + fleet.subjects.count + notes.chunks.known.count
      + others.count + split.count + pieces.count
  }

  /// Adds one record. The records of a key must be added in the order of the topic.
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - value: The value; nil removes the key.
  ///   - offset: The offset of the record in the topic. An error of `finish` names it.
  /// - Throws: `BinaryError` for a record that is corrupt or of another format version. The restore is then unusable.
  public mutating func add(key: [UInt8], value: [UInt8]?, at offset: Int64 = 0) throws(BinaryError) {
    self.offset = offset
    if !leftOut.isEmpty { leftOut.remove(key) }
    try add(key: key, in: key.indices, value: value ?? [], in: value?.indices)
  }

  /// Removes a key, because its newest record cannot be read. Without one chunk of notes the others are worth nothing, so
  /// the planner then forgets them all. Without a chunk of devices, the devices that were written whole in it last have the version
  /// before, if a chunk still holds it; those with additions in it lack these; and a device that was removed in it may be there again.
  /// - Parameter key: The key of the record.
  /// - Throws: `BinaryError` if an earlier record of the key is corrupt. The restore is then unusable.
  public mutating func leaveOut(_ key: [UInt8]) throws(BinaryError) {
    try add(key: key, value: nil)
    leftOut.insert(key)
  }

  /// Returns the records that the topic must get, in ascending order of their keys, so that the next restore needs no record
  /// to be left out: a chunk of devices is replaced by an empty one, because the numbers of chunks have no gaps. Every other
  /// key that was left out, and those that are worth nothing without them, are removed. Call it before `finish`.
  /// - Returns: Keys and values; a nil value removes the key.
  /// - Throws: `StateRecordError` for a clock that is corrupt.
  public func repairs() throws(StateRecordError) -> [(key: [UInt8], value: [UInt8]?)] {
    guard !leftOut.isEmpty else { return [] }
    var keys = leftOut
    if leavesNotesOut { keys.formUnion(notes.chunks.known.keys.map { StateKey.chunk($0, of: .notes) }) }
    var values: [[UInt8]: [UInt8]] = [:]
    if leavesChunksOut {
      for number in try chunkRange(of: .devices).prefix(chunks.known.count + Self.missingChunksMax)
      where chunks.known[number] == nil {
        values[StateKey.chunk(number, of: .devices)] = ChunkFormat.empty(number, of: .devices)
      }
    }
    keys.formUnion(values.keys)
    return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { ($0, values[$0]) }
  }

  /// Whether a chunk of notes is left out, and with it all notes.
  var leavesNotesOut: Bool { leftOut.contains { StateKey.number(of: $0, .notes) != nil } }
  /// Whether a chunk of devices is left out.
  var leavesChunksOut: Bool { leftOut.contains { StateKey.number(of: $0, .devices) != nil } }
  /// The number of missing chunks of devices that a restore passes over when an operator ordered to leave out one of them.
  /// - Beyond: the partition stays stopped; create `rouse.state` again.
  static let missingChunksMax = 10_000

  /// Adds one record that is part of a buffer. The records of a key must be added in the order of the topic.
  /// - Parameters:
  ///   - key: The place of the key in `bytes`.
  ///   - value: The place of the value in `bytes`; nil removes the key.
  ///   - bytes: The buffer.
  /// - Throws: `BinaryError` for a record that is corrupt or of another format version. The restore is then unusable.
  public mutating func add(key: Range<Int>, value: Range<Int>?, of bytes: [UInt8]) throws(BinaryError) {
    try add(key: bytes, in: key, value: bytes, in: value)
  }

  private mutating func add(
    key keyBytes: [UInt8], in key: Range<Int>, value bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    let isNamed = key.count > 2 && keyBytes[key.lowerBound + 1] == UInt8(ascii: "/")
    let letter = isNamed ? keyBytes[key.lowerBound] : 0
    if !split.isEmpty { split[Array(keyBytes[key])] = nil }
    if let value, !value.isEmpty, bytes[value.lowerBound] == SplitRecord.marker, !SplitRecord.isWhole(letter) {
      try add(key: keyBytes, in: key, value: [], in: nil)
      split[Array(keyBytes[key])] = try SplitRecord(bytes[value], at: offset)
      if letter == UInt8(ascii: "d") { hasSplitDevices = true }
      return
    }
    switch letter {
    case SplitRecord.letter: pieces[Array(keyBytes[key])] = value.map { Array(bytes[$0]) }
    case UInt8(ascii: "d"):
      try add(device: keyBytes, in: key.dropFirst(2), bytes, in: value)
    case UInt8(ascii: "m"):
      try add(subject: String(decoding: keyBytes[key.dropFirst(2)], as: UTF8.self), bytes, in: value)
    case ChunkSort.devices.rawValue, ChunkSort.notes.rawValue:
      guard let sort = ChunkSort(rawValue: letter), let number = StateKey.number(of: Array(keyBytes[key]), sort) else {
        // A removal makes room behind a record that was left out.
        guard value != nil else { return }
        throw .corrupt(offset: 0, what: "the number of a chunk as key")
      }
      try add(chunk: number, of: sort, bytes, in: value)
    default: others[Array(keyBytes[key])] = value.map { StateRecord(bytes: Array(bytes[$0]), offset: offset) }
    }
  }

  private mutating func add(
    subject name: String, _ bytes: [UInt8], in value: Range<Int>?
  ) throws(BinaryError) {
    guard let value else {
      if let key = KeyedHash(hex: name) { fleet.subjects.remove(key) }
      return
    }
    guard let key = KeyedHash(hex: name) else { throw .corrupt(offset: 0, what: "a subject hash as key") }
    var reader = try Self.reader(bytes, in: value)
    let subject = try SubjectMemory.Remembered(key, from: &reader)
    let chunk = try reader.int64("the number of a chunk")
    let size = EntrySize(code: try reader.uint8("a size"))
    try reader.end()
    notes.take(snapshot: subject, in: chunk, size, into: &fleet.subjects)
  }

  /// Removes a device that an earlier record added.
  mutating func remove(device: DeviceSlot) {
    for event in fleet.unplace(device) {
      tables.events[fleet.pending.events[event].offset] = nil
      fleet.pending.forget(event)
    }
  }

  /// Removes and returns the record of a key that does not belong to the planner, such as the position in the log.
  /// - Parameter key: The key of the record.
  /// - Returns: The newest record with this key; nil when there is none.
  public mutating func take(_ key: [UInt8]) -> StateRecord? { others.removeValue(forKey: key) }

  /// Builds the planner from the records.
  /// - Parameter initialPolicy: The policy in force when the state holds none.
  /// - Returns: The planner, without a record in progress.
  /// - Throws: `StateRecordError` when a record is corrupt, of another format version or missing, or when two devices have the
  ///   same slot.
  public consuming func finish(initialPolicy: Policy) throws(StateRecordError) -> Planner {
    try joinPieces()
    let range = try checkChunks(of: .devices)
    let noteRange = try checkChunks(of: .notes)
    dropReplaced(range)
    try placeDisplaced(range)
    if let record = others.removeValue(forKey: StateKey.clock) {
      try record.read(as: StateKey.clock) { bytes throws(BinaryError) in
        var reader = try Self.reader(bytes, in: bytes.indices)
        try fleet.readClock(&reader)
      }
    }
    try readPolicy(initialPolicy)
    if leavesNotesOut {
      fleet.subjects.restoreNothing(next: noteRange.upperBound)
    } else {
      try finishNotes(noteRange)
    }
    try readOthers()
    fleet.finishRestore()
    additions = [:]
    fleet.restore(chunks, range)
    for id in givenUp { fleet.journal.noteRemoval(ofDevice: id, at: .unwritten) }
    return Planner(fleet)
  }

  private mutating func joinPieces() throws(StateRecordError) {
    let records = split.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for (key, record) in records {
      do throws(BinaryError) {
        try add(key: key, value: try record.whole(key, with: pieces), at: record.offset)
      } catch { throw StateRecordError(key: key, offset: record.offset, cause: error) }
      if key == StateKey.policy { _ = fleet.journal.note(policyPieces: record.pieces) }
    }
    pieces = [:]
  }

  private mutating func finishNotes(_ range: Range<Int64>) throws(StateRecordError) {
    let last = notes.chunks.known.max { $0.key < $1.key }
    do throws(BinaryError) { try notes.finish(&fleet.subjects, range) } catch {
      throw StateRecordError(
        key: last.map { StateKey.chunk($0.key, of: .notes) } ?? StateKey.clock, offset: last?.value.offset ?? 0,
        cause: error)
    }
  }

  private mutating func readOthers() throws(StateRecordError) {
    // The order does not affect the result. The keys are sorted so that an error names the same record each time.
    for (key, record) in others.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where key.count > 2 {
      let name = Identifier(decoding: key.dropFirst(2))
      try record.read(as: key) { bytes throws(BinaryError) in
        switch key[0] {
        case UInt8(ascii: "k"):
          var reader = try Self.reader(bytes, in: bytes.indices)
          try fleet.restore(kind: name, from: &reader)
        case UInt8(ascii: "a"):
          var reader = try Self.reader(bytes, in: bytes.indices)
          try fleet.restore(app: name, from: &reader)
        default: return
        }
      }
    }
  }

  private mutating func readPolicy(_ initialPolicy: Policy) throws(StateRecordError) {
    guard let record = others.removeValue(forKey: StateKey.policy) else {
      fleet.use(initialPolicy)
      return
    }
    try record.read(as: StateKey.policy) { bytes throws(BinaryError) in
      var reader = try Self.reader(bytes, in: bytes.indices)
      let text = try reader.string("a policy")
      do throws(PolicyError) {
        fleet.use(try PolicyDocument(record: text, file: "rouse.state").policy)
        fleet.rules.restore(document: text)
      } catch {
        throw .corrupt(offset: 0, what: "a policy document this release reads: \(error)")
      }
    }
  }

  /// Reads the slot of a device. It decides how much memory the table of devices takes, so it is checked first.
  static func deviceSlot(_ reader: inout BinaryReader) throws(BinaryError) -> DeviceSlot {
    let number: UInt32 = try reader.integer("a device slot")
    guard number < PlannerBounds.deviceSlotsMax else {
      throw .corrupt(offset: reader.offset, what: "a device slot below \(PlannerBounds.deviceSlotsMax)")
    }
    return DeviceSlot(number)
  }

  static func reader(_ bytes: [UInt8], in range: Range<Int>) throws(BinaryError) -> BinaryReader {
    var reader = BinaryReader(bytes, in: range)
    let version = try reader.uint8("a format version")
    guard version <= stateFormatVersion else { throw .newerVersion(found: version, newestKnown: stateFormatVersion) }
    guard version == stateFormatVersion else {
      throw .corrupt(offset: range.lowerBound, what: "format version \(stateFormatVersion)")
    }
    return reader
  }
}
