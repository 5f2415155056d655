import Domain
import Policies

/// The memory of the subjects of recent events. It holds three sorts of entries:
///
/// - For each subject and event type, the time of the newest event, and the ids and times of the events with the latest times. An
///   event with a known id is a duplicate; an unknown one that is older than the newest is stale. What is forgotten is older than
///   that, so a repeat of it is stale, too.
/// - For each subject and set of displayed fields, the *truth*: the newest known state of what kinds display (`DisplayedTruth`).
/// - For each subject of events with rules of Live Activities, what their templates read (`KnownContent`).
///
/// The memory has two generations. A rotation forgets the older one, once a day or when the newer one is full, so entries
/// live for one to two days. `rouse.state` has the entries as notes in chunks (`SubjectNote`, `ChunkLog`). A restored memory forgets an
/// entry by its generation, which each note tells. So no removal of an entry is ever written, and an old note of it can do no
/// harm.
struct SubjectMemory {
  /// The number of events that are remembered for a subject and type, those with the latest times. So a repeat of one of them is
  /// recognised by its id.
  /// - Beyond: the event with the least time is forgotten. A repeat of it ends as `STALE_EVENT`.
  static let eventsMax = 16

  /// The number of events of a subject and type that are remembered if none of them is older than the newest event that has
  /// arrived: they have one and the same time, or times ahead of the log.
  /// - Beyond: the event with the least time is forgotten. A repeat of it is decided again if it is still not older than the newest.
  static let newestEventsMax = 120

  /// The relation of an event to the earlier events of its subject and type.
  enum Standing: UInt8 {
    /// In this order: the event is unknown and not older than the newest one; its id is known; it is unknown and older
    /// than the newest one.
    case fresh, duplicate, stale
  }

  private var index = HashIndex()
  var slots = SlotPool<SubjectTag, Remembered>()
  /// The number of rotations so far. It is part of the records, so that a restore can tell which entries are forgotten.
  private(set) var generation: Int64 = 0
  /// The number of entries for a subject and type in the current generation. Truths are not counted. Each such entry has at
  /// most one truth for each kind with a rule for the type.
  private(set) var currentCount = 0
  /// The number of remembered events in all entries.
  private(set) var eventCount = 0
  /// The number of values in all entries.
  private(set) var valueCount = 0
  /// The slots that changed since the last `takeNotes`. A slot whose `isListed` is false has been forgotten since.
  var listed: ContiguousArray<SubjectSlot> = []
  /// The chunks of notes in `rouse.state`.
  var log = ChunkLog<SubjectTag>()

  /// The number of entries.
  var count: Int { index.count }

  /// The keys of all entries, sorted.
  var keys: [KeyedHash] { slots.values.lazy.filter(\.isUsed).map(\.key).sorted() }

  /// Returns the key of the entry for a subject whose hash is known, and an event type (see `HashIndex.hash`).
  static func key(subject: SipHash, type: Identifier) -> KeyedHash { key(subject: subject, type: type.utf8.span) }

  /// Returns the key of the entry for a subject whose hash is known, and an event type in UTF-8.
  @inline(__always)
  static func key(subject: SipHash, type: Span<UInt8>) -> KeyedHash {
    var hash = subject
    hash.add(utf8: type)
    return hash.value
  }

  /// Returns the entry with a key; nil when there is none.
  func remembered(_ key: KeyedHash) -> Remembered? { slot(key).map { slots[$0] } }

  /// Returns the first slot with the hash of a key, which rarely belongs to another key.
  func candidate(_ key: KeyedHash) -> SubjectSlot? { index.candidate(HashIndex.hash(key.low)).map { SubjectSlot($0) } }

  /// Asks the processor to load what `candidate` reads.
  func prefetch(_ key: KeyedHash) { index.prefetch(HashIndex.hash(key.low)) }

  /// Returns the slot of the entry with a key; nil when there is none.
  func slot(_ key: KeyedHash) -> SubjectSlot? {
    index.find(HashIndex.hash(key.low)) { slots[SubjectSlot($0)].key == key }.map { SubjectSlot($0) }
  }

  /// Returns the slots of the entries with up to 16 keys, absent where there is none. Each step is made for all of them, so that their
  /// waits for memory overlap.
  /// - Parameters:
  ///   - keys: The keys.
  ///   - count: How many of them are looked up, the first ones; those that are none are left out.
  @inline(never)
  borrowing func slots(_ keys: InlineArray<16, KeyedHash>, count: Int) -> InlineArray<16, SubjectSlot> {
    var found = InlineArray<16, SubjectSlot>(repeating: .absent)
    for i in 0..<count where !keys[i].isNone { found[i] = candidate(keys[i]) ?? .absent }
    for i in 0..<count where !found[i].isAbsent {
      if slots[found[i]].key != keys[i] { found[i] = slot(keys[i]) ?? .absent }
    }
    return found
  }

  /// Looks up entries as `slots(_:count:)` does, and appends those that the next rotation does not forget to a list.
  borrowing func findCurrent(
    _ keys: InlineArray<16, KeyedHash>, count: Int, _ found: inout [(key: KeyedHash, slot: SubjectSlot)]
  ) {
    let slots = slots(keys, count: count)
    for i in 0..<count where !slots[i].isAbsent {
      if self.slots[slots[i]].generation == generation { found.append((keys[i], slots[i])) }
    }
  }

  /// Returns the slot of the entry with a key, which an event needs after another entry; nil when there is none. An event needs
  /// the same entries in the same order as the last one of its subject and type, so each entry keeps the slot of the next one.
  /// Reading that slot saves a look-up, and `Planner.prefetch` can load the entries ahead of time.
  /// - Parameters:
  ///   - key: The key.
  ///   - entry: The entry that the event needed before; absent if there was none.
  mutating func slot(_ key: KeyedHash, after entry: SubjectSlot) -> SubjectSlot? {
    if entry.isAbsent { return slot(key) }
    let related = slots[entry].related
    // A free slot has the key of no entry.
    if !related.isAbsent, slots[related].key == key { return related }
    guard let slot = slot(key) else { return nil }
    slots[entry].related = slot
    return slot
  }

  private mutating func insert(_ remembered: consuming Remembered) -> SubjectSlot {
    let hash = HashIndex.hash(remembered.key.low)
    let slot = slots.insert(remembered)
    index.insert(slot.number, hash: hash)
    return slot
  }

  /// Notes an event. A duplicate, and an event that is older than all that are remembered, only move an entry of the older
  /// generation into the current one.
  /// - Parameters:
  ///   - key: The key of its subject and type.
  ///   - id: The hash of its source and id.
  ///   - time: The time of the event.
  ///   - now: Log time. An event from the future counts as from now, so that a publisher whose clock runs ahead does not make
  ///     later events stale.
  /// - Returns: The relation of the event to the earlier ones.
  mutating func note(_ key: KeyedHash, id: KeyedHash, time: Timestamp, now: Timestamp) -> Standing {
    note(at: slotOrNew(key), id: id, time: time, now: now)
  }

  /// Notes an event at the slot of the entry for its subject and type. The other parameters are those of `note(_:id:time:now:)`.
  mutating func note(at slot: SubjectSlot, id: KeyedHash, time: Timestamp, now: Timestamp) -> Standing {
    let standing = slots[slot].newest.standing(id: id, time: time, now: now)
    let moves = moveUp(slot)
    if moves { currentCount += 1 }
    let isAdded = standing != .duplicate && add(at: slot, id: id, time: time, now: now)
    // A change of the generation is written, too: a restored planner must forget the entry at the same time as this one.
    if moves || isAdded { list(slot) }
    return standing
  }

  /// Adds an event to the entry in a slot.
  /// - Returns: Whether it changes the entry.
  private mutating func add(at slot: SubjectSlot, id: KeyedHash, time: Timestamp, now: Timestamp) -> Bool {
    let count = slots[slot].newest.items.count
    var added = slots[slot].eventsToWrite
    let changes = slots[slot].newest.add(id: id, time: time, now: now, &added)
    slots[slot].eventsToWrite = added
    if changes { slots[slot].noted += 1 }
    eventCount += slots[slot].newest.items.count - count
    return changes
  }

  /// Returns the slot of the entry with a key, which is made if there is none. A new one must be noted.
  mutating func slotOrNew(_ key: KeyedHash) -> SubjectSlot {
    slot(key) ?? insert(Remembered(key: key, generation: generation - 1, born: generation))
  }

  /// Moves an entry into the current generation.
  /// - Returns: Whether it was in the older generation.
  private mutating func moveUp(_ slot: SubjectSlot) -> Bool {
    guard slots[slot].generation != generation else { return false }
    slots[slot].generation = generation
    return true
  }

  /// Returns the newest known state of what a kind displays of a subject; nil when there is no entry.
  /// - Parameter key: The subject and the displayed fields, as `KindDisplay.truthKey` returns it.
  func truth(_ key: KeyedHash) -> DisplayedTruth? { slot(key).map { truth(at: $0) } }

  /// Returns the newest known state of what a kind displays of a subject.
  /// - Parameter slot: The slot of its entry.
  func truth(at slot: SubjectSlot) -> DisplayedTruth {
    DisplayedTruth(values: slots[slot].newest.items.array.map(\.value))
  }

  /// Returns the newest known value of one field that a kind displays of a subject, and the time of the event that said it.
  /// - Parameters:
  ///   - field: The place of the field in the policy's list.
  ///   - slot: The slot of the entry for the subject and the displayed fields.
  func value(_ field: Int, at slot: SubjectSlot) -> (value: DisplayedValue, time: Timestamp) {
    let item = slots[slot].newest.items[field]
    return (item.value, item.time)
  }

  /// Returns the newest known state of what a kind displays of a subject, if it has not changed after an earlier
  /// instant; nil if it has, or when there is no entry.
  /// - Parameters:
  ///   - key: The subject and the displayed fields, as `KindDisplay.truthKey` returns it.
  ///   - instant: The earlier log time.
  func truth(_ key: KeyedHash, unchangedSince instant: Timestamp) -> DisplayedTruth? {
    guard let slot = slot(key), slots[slot].newest.time <= instant else { return nil }
    return truth(at: slot)
  }

  /// Sets the state of what a kind displays of a subject after an event. An event that changes nothing prolongs the life of
  /// the entry.
  /// - Parameters:
  ///   - key: The subject and the displayed fields, as `KindDisplay.truthKey` returns it.
  ///   - known: The slot of its entry, if it was looked up after the last rotation; absent to look it up here.
  ///   - values: The values after the event.
  ///   - said: The places of the values that the event says, as bits.
  ///   - time: The time of the event.
  ///   - now: Log time.
  mutating func note(
    _ key: KeyedHash, at known: SubjectSlot = .absent, values: Span<DisplayedValue>, said: UInt32,
    saidAt time: Timestamp,
    now: Timestamp
  ) {
    let slot = known.ifPresent ?? slotOrNew(key)
    let moves = moveUp(slot)
    let (changes, isSaidAgain) = slots[slot].newest.take(values, said: said, saidAt: time, &valueCount)
    if changes { slots[slot].newest.time = now }
    if changes || isSaidAgain { slots[slot].noted += 1 }
    if changes || isSaidAgain || moves { list(slot) }
  }

  /// Returns the key of what templates know of a subject whose hash is known.
  static func contentKey(subject: SipHash) -> KeyedHash {
    var key = subject
    // No text of one word ends with this byte, nor does the key of a truth.
    key.add(0xfe << 56)
    return key.value
  }

  /// Sets what templates know of a subject after an event. An event that changes nothing prolongs the life of the entry.
  /// - Parameters:
  ///   - key: The subject, as `contentKey` returns it.
  ///   - content: What is known after the event; not empty.
  ///   - now: Log time.
  mutating func note(_ key: KeyedHash, content: KnownContent, now: Timestamp) {
    let slot = slotOrNew(key)
    let moves = moveUp(slot)
    let changes = slots[slot].newest.content != content
    if changes {
      slots[slot].newest.content = content
      slots[slot].newest.time = now
      slots[slot].noted += 1
    }
    if changes || moves { list(slot) }
  }

  private mutating func list(_ slot: SubjectSlot) {
    guard !slots[slot].isListed else { return }
    slots[slot].isListed = true
    listed.append(slot)
  }

  /// Prolongs the life of the entry in a slot, as an event that changes nothing does.
  mutating func prolong(_ slot: SubjectSlot) {
    if moveUp(slot) { list(slot) }
  }

  /// Forgets the older generation and begins a new one.
  mutating func rotate() {
    for slot in slots.slots
    where slots[slot].generation < generation && slots[slot].isUsed {
      remove(slot)
    }
    generation += 1
    currentCount = 0
  }

  private mutating func remove(_ slot: SubjectSlot) {
    log.drop(slots[slot].place, slots[slot].size)
    eventCount -= slots[slot].newest.items.eventCount
    valueCount -= slots[slot].newest.items.valueCount
    index.remove(slot.number, hash: HashIndex.hash(slots[slot].key.low))
    slots.remove(slot, leaving: Remembered())
  }

  // MARK: Restore

  /// Sets the number of rotations that was read from the state.
  mutating func restore(generation: Int64) { self.generation = generation }

  /// Adds an entry that was read from the state, or replaces the entry of the same key.
  /// - Returns: The slot of the entry.
  @discardableResult
  mutating func restore(_ remembered: Remembered) -> SubjectSlot {
    guard let slot = slot(remembered.key) else { return insert(remembered) }
    slots[slot] = remembered
    return slot
  }

  /// Forgets everything that was restored, because a chunk of notes is left out.
  /// - Parameter next: The number of the next chunk.
  mutating func restoreNothing(next: Int64) {
    let generation = generation
    self = SubjectMemory()
    self.generation = generation
    log = ChunkLog(first: next)
  }

  /// Removes the entry with a key, if there is one.
  mutating func remove(_ key: KeyedHash) {
    if let slot = slot(key) { remove(slot) }
  }

  /// Finishes a restore after the last record: removes the entries of older generations and builds the list of chunks. `generation`
  /// must be restored before.
  /// - Parameters:
  ///   - replay: The chunks that were read, and those with the newest whole note of each entry.
  ///   - range: The numbers of the chunks that count.
  mutating func finishRestore(_ replay: ChunkReplay<SubjectTag>, _ range: Range<Int64>) {
    var used: ContiguousArray<SubjectSlot> = []
    currentCount = 0
    eventCount = slots.values.reduce(0) { $0 + $1.newest.items.eventCount }
    valueCount = slots.values.reduce(0) { $0 + $1.newest.items.valueCount }
    for slot in slots.slots where slots[slot].isUsed {
      guard slots[slot].generation >= generation - 1 else {
        remove(slot)
        continue
      }
      // A version in a chunk that was removed counts for nothing.
      if case .replaced = replay.life(of: slot, in: range) {
        remove(slot)
        continue
      }
      // Only a broker that shows aborted records can have an entry that is newer than the clock.
      slots[slot].generation = min(slots[slot].generation, generation)
      if slots[slot].generation == generation, slots[slot].newest.items.eventCount > 0 { currentCount += 1 }
      used.append(slot)
    }
    log = ChunkLog(replay, range, used) { slot, place in
      slots[slot].place = place
      slots[slot].size = replay.size(of: slot)
      if !place.isEntry { list(slot) }
    }
  }

  /// The memory of the tables and of the arrays of events and values, with their headers. Bytes.
  var bytes: Int {
    index.bytes + slots.bytes + log.tableBytes
      + slots.values.reduce(0) {
        $0 + $1.newest.items.arrayBytes + $1.newest.content.fields.heldBytes
      }
  }

  /// Checks the invariants that hold between any two records. It reads every slot; for tests.
  func checkInvariants() {
    slots.checkInvariants()
    var (used, events, values, current) = (0, 0, 0, 0)
    for slot in slots.slots where slots[slot].isUsed {
      let remembered = slots[slot]
      precondition(self.slot(remembered.key) == slot, "a subject is not found by its key")
      precondition(remembered.newest.isOfOneSort, "neither events nor values nor content")
      precondition(
        Int(remembered.eventsToWrite) <= remembered.newest.items.eventCount, "more events to write than there are")
      precondition(remembered.notedBefore <= remembered.noted, "a note of changes that are not made yet")
      used += 1
      events += remembered.newest.items.eventCount
      values += remembered.newest.items.valueCount
      if remembered.generation == generation, remembered.newest.items.eventCount > 0 { current += 1 }
    }
    precondition(used == index.count && current == currentCount, "subjects are miscounted")
    precondition(events == eventCount && values == valueCount, "events or values are miscounted")
    checkChunks()
  }
}
