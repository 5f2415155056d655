import Domain

/// The newest event of each (subject, type) of the last one to two days: what is older is stale, what has the same id is
/// a duplicate. Beside them, what each kind displays of the subjects that events came about in that time. Two generations bound it by count and by age. How it gets into `rouse.state` stands at `NoteLog`.
struct SubjectMemory {
  struct Newest: Equatable {
    /// `time` of the newest event.
    var time: Timestamp
    /// Hashes of source and id of the last `idsMax` events, oldest first. Empty for a truth.
    var ids: [UInt64]
    /// Of a subject and a kind: the looks of what the kind displays (`DisplayedTruth`). Empty for a subject and a type.
    var looks: [UInt64] = []
  }

  /// Events remembered by id: how far back a repeat of an event is known as such.
  static let idsMax = 16

  enum Standing: UInt8 {
    case fresh, duplicate, stale
  }

  struct Remembered {
    var key: UInt64 = 0
    var newest = Newest(time: .distantPast, ids: [])
    /// That it was last noted in.
    var generation: Int64 = 0
    /// Generation in which it came into the memory: a subject that was forgotten and comes again is another one.
    var born: Int64 = 0
    /// Ids noted since then, of which there are min(noted, `idsMax`) in `newest`; or changes of the looks. 0: not in use.
    var noted: Int64 = 0
    /// The chunk of notes that holds it whole, or `unwritten`.
    var place = SubjectMemory.unwritten
    /// Neighbours among what is written, by place.
    var older = SubjectSlot.absent
    var younger = SubjectSlot.absent
    /// Ids noted since the last `takeNotes`, as far as there are so many in `newest`.
    var idsToWrite: UInt8 = 0
    /// Whether the next `takeNotes` writes it.
    var isListed = false

    /// Whether it is in use.
    var isUsed: Bool { noted > 0 }

    /// Whether `newest` holds every id that counts. A truth always is whole: its looks are written together.
    var isWhole: Bool { isWhole(ids: newest.ids.count) }

    func isWhole(ids: Int) -> Bool {
      !newest.looks.isEmpty || ids == Int(min(noted, Int64(SubjectMemory.idsMax)))
    }

    /// Bytes of a whole note of it.
    var wholeBytes: Int { NoteChunk.noteBytes + 8 * (newest.ids.count + newest.looks.count) }
  }

  /// A place: in no record yet.
  static let unwritten: Int64 = -1

  private var index = HashIndex()
  var slots = SlotPool<SubjectTag, Remembered>()
  /// Counts the rotations; stands in the records so that a restore knows which are over.
  var generation: Int64 = 0
  /// Subjects with types in the generation at hand. Truths are not counted: there are at most as many for each of them as
  /// the policy has kinds with a rule for the type.
  private(set) var currentCount = 0
  /// Ids and looks in all lists together.
  private(set) var hashCount = 0
  /// Ends of the chain of what is written, by place.
  private(set) var oldest = SubjectSlot.absent
  private(set) var youngest = SubjectSlot.absent
  /// Slots noted since the last `takeNotes`; those that are not listed any more have been given up.
  var listed: ContiguousArray<SubjectSlot> = []
  /// Where in `rouse.state` it stands.
  var log = NoteLog()

  var count: Int { index.count }

  /// Of both generations, rising.
  var keys: [UInt64] { slots.values.lazy.filter(\.isUsed).map(\.key).sorted() }

  /// The key of a subject and an event type, given as UTF-8.
  static func key(subject: Span<UInt8>, type: Span<UInt8>) -> UInt64 {
    var hash = Hash64()
    hash.add(utf8: subject)
    hash.add(utf8: type)
    return hash.value
  }

  /// Nil when it is not remembered.
  func remembered(_ key: UInt64) -> Remembered? { slot(key).map { slots[$0] } }

  /// The slot that is looked at first for this key; it may be another's.
  @inline(__always)
  func candidate(_ key: UInt64) -> SubjectSlot? { index.candidate(Self.hash(key)).map { SubjectSlot($0) } }

  func slot(_ key: UInt64) -> SubjectSlot? {
    index.find(Self.hash(key)) { slots[SubjectSlot($0)].key == key }.map { SubjectSlot($0) }
  }

  private static func hash(_ key: UInt64) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(key)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  private mutating func insert(_ remembered: Remembered) -> SubjectSlot {
    let slot = slots.insert(remembered)
    index.insert(slot.number, hash: Self.hash(remembered.key))
    return slot
  }

  /// Notes an event. A duplicate changes nothing but the generation of what was remembered in the older one.
  /// - Returns: how it stands to what came before.
  mutating func note(_ key: UInt64, id: UInt64, time: Timestamp) -> Standing {
    let slot = slotOrNew(key)
    let moves = moveUp(slot)
    if moves { currentCount += 1 }
    let idsBefore = slots[slot].newest.ids.count
    let standing = Self.note(&slots[slot].newest, id: id, time: time)
    if standing != .duplicate {
      hashCount += slots[slot].newest.ids.count - idsBefore
      slots[slot].noted += 1
      slots[slot].idsToWrite = min(slots[slot].idsToWrite + 1, UInt8(Self.idsMax))
    }
    // Also when only the generation has changed: a restored planner must forget it as late as this one.
    if moves || standing != .duplicate { list(slot) }
    return standing
  }

  private mutating func slotOrNew(_ key: UInt64) -> SubjectSlot {
    slot(key) ?? insert(Remembered(key: key, generation: generation - 1, born: generation))
  }

  /// Brings what was remembered in the older generation into the one at hand.
  /// - Returns: whether it was in the older one.
  private mutating func moveUp(_ slot: SubjectSlot) -> Bool {
    guard slots[slot].generation != generation else { return false }
    slots[slot].generation = generation
    return true
  }

  /// What a kind displays of a subject, by `KindRule.truthKey`; nil when it is not remembered.
  func truth(_ key: UInt64) -> DisplayedTruth? { slot(key).map { DisplayedTruth(looks: slots[$0].newest.looks) } }

  /// Takes over what an event has left of it; what an event does not change stays for another day all the same.
  mutating func note(_ key: UInt64, truth: DisplayedTruth) {
    let slot = slotOrNew(key)
    let moves = moveUp(slot)
    if slots[slot].newest.looks != truth.looks {
      hashCount += truth.looks.count - slots[slot].newest.looks.count
      slots[slot].newest.looks = truth.looks
      slots[slot].noted += 1
      list(slot)
    } else if moves {
      list(slot)
    }
  }

  /// In place: the list of ids is not copied.
  private static func note(_ known: inout Newest, id: UInt64, time: Timestamp) -> Standing {
    if known.ids.contains(id) { return .duplicate }
    if known.ids.count == idsMax { known.ids.removeFirst() }
    known.ids.append(id)
    if time < known.time { return .stale }
    known.time = time
    return .fresh
  }

  private mutating func list(_ slot: SubjectSlot) {
    guard !slots[slot].isListed else { return }
    slots[slot].isListed = true
    listed.append(slot)
  }

  /// A day is over, or there are too many: the older generation goes.
  mutating func rotate() {
    for slot in slots.slots
    where slots[slot].generation < generation && slots[slot].isUsed {
      remove(slot)
    }
    generation += 1
    currentCount = 0
  }

  private mutating func remove(_ slot: SubjectSlot) {
    unlink(slot)
    hashCount -= slots[slot].newest.ids.count + slots[slot].newest.looks.count
    index.remove(slot.number, hash: Self.hash(slots[slot].key))
    slots.remove(slot, leaving: Remembered())
  }

  // MARK: Chain

  /// It stands whole in a chunk, which is the newest.
  mutating func move(_ slot: SubjectSlot, to place: Int64) {
    unlink(slot)
    slots[slot].place = place
    link(slot)
  }

  /// At the young end.
  private mutating func link(_ slot: SubjectSlot) {
    slots[slot].older = youngest
    if youngest == .absent { oldest = slot } else { slots[youngest].younger = slot }
    youngest = slot
  }

  private mutating func unlink(_ slot: SubjectSlot) {
    let (older, younger) = (slots[slot].older, slots[slot].younger)
    if older != .absent { slots[older].younger = younger } else if oldest == slot { oldest = younger }
    if younger != .absent { slots[younger].older = older } else if youngest == slot { youngest = older }
    slots[slot].older = .absent
    slots[slot].younger = .absent
  }

  // MARK: Restore

  /// Puts a subject in, or in the place of what was known of it.
  mutating func restore(_ remembered: Remembered) {
    if let slot = slot(remembered.key) { slots[slot] = remembered } else { _ = insert(remembered) }
  }

  /// Takes a key back.
  mutating func remove(_ key: UInt64) {
    if let slot = slot(key) { remove(slot) }
  }

  /// After the last record and with the generation known: forgets what is in neither of the two, and chains the rest.
  mutating func finishRestore() {
    var written: [SubjectSlot] = []
    currentCount = 0
    hashCount = slots.values.reduce(0) { $0 + $1.newest.ids.count + $1.newest.looks.count }
    for slot in slots.slots where slots[slot].isUsed {
      guard slots[slot].generation >= generation - 1 else {
        remove(slot)
        continue
      }
      if slots[slot].generation == generation, slots[slot].newest.looks.isEmpty { currentCount += 1 }
      if slots[slot].place == Self.unwritten { list(slot) } else { written.append(slot) }
    }
    written.sort { (slots[$0].place, slots[$0].key) < (slots[$1].place, slots[$1].key) }
    for slot in written { link(slot) }
  }

  private static func bytes(_ list: [UInt64]) -> Int { list.isEmpty ? 0 : 32 + list.capacity * 8 }

  /// Bytes of the tables, and of the lists of ids with their headers.
  var bytes: Int {
    index.bytes + slots.bytes + log.tableBytes
      + slots.values.reduce(0) { $0 + Self.bytes($1.newest.ids) + Self.bytes($1.newest.looks) }
  }

  /// Checks what holds between any two records.
  func checkInvariants() {
    slots.checkInvariants()
    var (used, hashes, current) = (0, 0, 0)
    for slot in slots.slots where slots[slot].isUsed {
      let remembered = slots[slot]
      precondition(self.slot(remembered.key) == slot, "a subject is not found by its key")
      precondition(remembered.newest.ids.isEmpty != remembered.newest.looks.isEmpty, "neither events nor looks")
      precondition(remembered.isWhole, "a subject that lacks ids")
      used += 1
      hashes += remembered.newest.ids.count + remembered.newest.looks.count
      if remembered.generation == generation, remembered.newest.looks.isEmpty { current += 1 }
    }
    precondition(used == index.count && hashes == hashCount && current == currentCount, "subjects are miscounted")
  }
}
