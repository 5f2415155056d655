import Domain

/// The keys of `rouse.state`: a letter, a slash, a name.
///
///     d/<device>   a device with its instances, ledgers and what waits on them
///     k/<kind>     what a kind has learnt
///     a/<app>      the app's ledger
///     n/<number>   notes of the newest events of subjects, in hexadecimal chunks (see `NoteLog`)
///     m/<hash>     what is remembered of a subject, in local snapshots only
///     p/policy     the policy document in force
///     p/clock      log time and counters
///     p/position   written by the worker, last in each transaction
enum StateKey {
  static let policy = Array("p/policy".utf8)
  static let clock = Array("p/clock".utf8)
}

/// The version byte that starts every state value.
let stateFormatVersion: UInt8 = 1

/// Takes one record of `rouse.state`: its key, and its value or nil where the key is to be removed. The bytes are lent:
/// what is kept must be copied.
public typealias StateRecordSink = (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>?) -> Void

/// Writes records one after the other into one buffer.
struct StateRecordWriter {
  var binary = BinaryWriter()
  /// The events that wait on the device in hand.
  var pending: [EventSlot] = []
  private var keyEnd = 0

  /// Starts a record whose key is a letter, a slash and a name.
  mutating func begin(_ letter: Unicode.Scalar, _ name: String) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(name)
    keyEnd = binary.bytes.count
  }

  /// The same, for a name given as UTF-8.
  mutating func begin(_ letter: Unicode.Scalar, utf8 name: Span<UInt8>) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(utf8: name)
    keyEnd = binary.bytes.count
  }

  /// Starts the value.
  mutating func beginValue() { binary.uint8(stateFormatVersion) }

  /// Lends the record, whose value is what was written since `beginValue`.
  /// - Returns: the size of the value.
  @discardableResult
  func lend(to body: StateRecordSink) -> Int {
    body(binary.bytes[..<keyEnd], binary.bytes[keyEnd...])
    return binary.bytes.count - keyEnd
  }

  /// Lends the removal of the key.
  func lendRemoval(to body: StateRecordSink) { body(binary.bytes[..<keyEnd], nil) }
}

extension Planner {
  /// Hands over every record that changed since the last call, in an order that depends on the log only, and starts
  /// collecting anew. What is handed over is the state after the last `advance`.
  public mutating func takeChanges(_ body: StateRecordSink) {
    var writer = StateRecordWriter()
    for place in journal.devices.indices {
      if place % Self.hintsMax == 0 { prefetch(devices: journal.devices[place...].prefix(Self.hintsMax)) }
      let device = journal.devices[place]
      if registry.isUsed(device) { lend(device: device, &writer, body) }
    }
    // An id may have been removed and come back within the same stretch.
    for id in journal.removedDevices where registry.device(named: id) == nil {
      writer.begin("d", id)
      writer.lendRemoval(to: body)
    }
    for kind in pricing.takeTouchedKinds() { lend(kind: kind, &writer, body) }
    for id in journal.removedApps {
      writer.begin("a", id)
      writer.lendRemoval(to: body)
    }
    // After the removals: an app may have come back within the same stretch.
    for app in ledgers.takeTouchedApps() { lend(app: app, &writer, body) }
    subjects.takeNotes(now: now, bounds: bounds, body)
    if journal.policy { lendPolicy(&writer, body) }
    lendClock(&writer, body)
    journal.clear()
  }

  func lend(device: DeviceSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("d", utf8: registry.texts.bytes.span.extracting(registry.idRange(of: device)))
    writer.beginValue()
    findPendingEvents(of: device, &writer.pending)
    write(device, pending: writer.pending, to: &writer.binary)
    writer.lend(to: body)
  }

  func lend(kind: KindSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("k", rules[kind].name)
    writer.beginValue()
    pricing.curves[kind.index].write(to: &writer.binary)
    writer.lend(to: body)
  }

  func lend(app: AppSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    let state = ledgers.apps[app]
    writer.begin("a", state.id)
    writer.beginValue()
    writer.binary.count(state.spent)
    writer.binary.zigzag(state.day ?? .min)
    writer.lend(to: body)
  }

  /// Only in a walk: the topic has it as notes.
  /// - Returns: whether the subject is still remembered.
  func lend(subject key: UInt64, _ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Bool {
    guard let subject = subjects.remembered(key) else { return false }
    writer.begin("m", String(key, radix: 16))
    writer.beginValue()
    subject.write(to: &writer.binary)
    writer.lend(to: body)
    return true
  }

  /// Only in a walk: that the chunk stands in the topic.
  func lend(chunk number: Int64, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    NoteChunk.begin(number, &writer)
    writer.binary.uint8(NoteChunk.size)
    writer.binary.varint(UInt64(subjects.log.size(of: number)))
    writer.lend(to: body)
  }

  /// - Returns: whether the policy in force came by the log.
  @discardableResult
  func lendPolicy(_ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Bool {
    guard let document = rules.document else { return false }
    writer.begin("p", "policy")
    writer.beginValue()
    writer.binary.string(document)
    writer.lend(to: body)
    return true
  }

  func lendClock(_ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("p", "clock")
    writer.beginValue()
    writer.binary.int64(now.microseconds)
    writer.binary.int64(pricing.hour)
    writer.binary.zigzag(subjects.generation)
    writer.binary.zigzag(rules.offset)
    writer.lend(to: body)
  }
}

extension SubjectMemory.Remembered {
  /// The place last, eight bytes: of all that is remembered it alone depends on what was committed together.
  func write(to writer: inout BinaryWriter) {
    writer.zigzag(generation)
    writer.zigzag(born)
    writer.varint(UInt64(noted))
    newest.write(to: &writer)
    writer.int64(place)
  }

  init(_ key: UInt64, from reader: inout BinaryReader) throws(BinaryError) {
    self.key = key
    generation = try reader.zigzag("a generation")
    born = try reader.zigzag("a generation")
    noted = try reader.integer("a count of ids")
    newest = try SubjectMemory.Newest(from: &reader)
    place = max(try reader.int64("a place"), SubjectMemory.unwritten)
    guard noted > 0, noted < .max >> 1, newest.ids.isEmpty != newest.looks.isEmpty, isWhole else {
      throw .corrupt(offset: reader.offset, what: "1 to 16 ids, as many as noted, or looks")
    }
  }
}

extension SubjectMemory.Newest {
  func write(to writer: inout BinaryWriter) {
    writer.int64(time.microseconds)
    writer.count(ids.count)
    for id in ids { writer.int64(Int64(bitPattern: id)) }
    writer.count(looks.count)
    for look in looks { writer.int64(Int64(bitPattern: look)) }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    time = Timestamp(microseconds: try reader.int64("a time"))
    ids = []
    for _ in 0..<(try reader.count("ids")) { ids.append(UInt64(bitPattern: try reader.int64("a hash"))) }
    for _ in 0..<(try reader.count("looks")) { looks.append(UInt64(bitPattern: try reader.int64("a look"))) }
  }
}
