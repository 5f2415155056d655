/// The newest event of each (subject, type) of the last one to two days: what is older is stale, what has the same id is
/// a duplicate. Two generations bound it by count and by age.
struct SubjectMemory {
  struct Newest {
    /// `time` of the newest event, µs.
    var time: Int64
    /// Hashes of source and id of the last `idsMax` events, oldest first.
    var ids: [UInt64]
  }

  /// Events remembered by id: how far back a repeat of an event is known as such.
  static let idsMax = 16

  enum Standing: UInt8 {
    case fresh, duplicate, stale
  }

  private struct Remembered {
    var key: UInt64 = 0
    /// That it was last noted in.
    var generation: Int64 = 0
    var newest = Newest(time: .min, ids: [])
  }

  private var index = HashIndex()
  private var slots = SlotPool<Remembered>()
  /// Counts the rotations; stands in the records so that a restore knows which are over.
  var generation: Int64 = 0
  /// Keys of the generation at hand.
  private(set) var currentCount = 0

  var count: Int { index.count }

  /// Of both generations, rising.
  var keys: [UInt64] { slots.values.lazy.filter { !$0.newest.ids.isEmpty }.map(\.key).sorted() }

  func newest(_ key: UInt64) -> Newest? { slot(key).map { slots[$0].newest } }

  /// With the generation it is in.
  func remembered(_ key: UInt64) -> (Newest, Int64)? { slot(key).map { (slots[$0].newest, slots[$0].generation) } }

  private func slot(_ key: UInt64) -> UInt32? { index.find(Self.hash(key)) { slots[$0].key == key } }

  private static func hash(_ key: UInt64) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(key)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  private mutating func insert(_ remembered: Remembered) -> UInt32 {
    let slot = slots.insert(remembered)
    index.insert(slot, hash: Self.hash(remembered.key))
    return slot
  }

  /// Notes an event.
  /// - Returns: how it stands to what came before, and whether the record has changed: a duplicate changes nothing but
  ///   the generation of what was remembered in the older one.
  mutating func note(_ key: UInt64, id: UInt64, time: Int64) -> (standing: Standing, isChanged: Bool) {
    let slot = slot(key) ?? insert(Remembered(key: key, generation: generation - 1))
    let moves = slots[slot].generation != generation
    if moves {
      slots[slot].generation = generation
      currentCount += 1
    }
    let standing = Self.note(&slots[slot].newest, id: id, time: time)
    return (standing, moves || standing != .duplicate)
  }

  /// In place: the list of ids is not copied.
  private static func note(_ known: inout Newest, id: UInt64, time: Int64) -> Standing {
    if known.ids.contains(id) { return .duplicate }
    if known.ids.count == idsMax { known.ids.removeFirst() }
    known.ids.append(id)
    if time < known.time { return .stale }
    known.time = time
    return .fresh
  }

  /// A day is over, or there are too many: the older generation goes.
  /// - Returns: keys that are in neither generation any more.
  mutating func rotate() -> [UInt64] {
    var gone: [UInt64] = []
    for slot in 0..<UInt32(slots.capacity)
    where slots[slot].generation < generation && !slots[slot].newest.ids.isEmpty {
      gone.append(slots[slot].key)
      index.remove(slot, hash: Self.hash(slots[slot].key))
      slots.remove(slot, leaving: Remembered())
    }
    gone.sort()
    generation += 1
    currentCount = 0
    return gone
  }

  /// Restore: puts back one record.
  mutating func restore(_ key: UInt64, _ newest: Newest, generation: Int64) {
    let remembered = Remembered(key: key, generation: generation, newest: newest)
    if let slot = slot(key) { slots[slot] = remembered } else { _ = insert(remembered) }
  }

  /// Restore: takes a key back.
  mutating func remove(_ key: UInt64) {
    guard let slot = slot(key) else { return }
    index.remove(slot, hash: Self.hash(key))
    slots.remove(slot, leaving: Remembered())
  }

  /// Restore, after the last record and with the generation known: what is not of it counts as of the one before.
  mutating func finishRestore() {
    currentCount = 0
    for slot in 0..<UInt32(slots.capacity) where !slots[slot].newest.ids.isEmpty {
      if slots[slot].generation == generation { currentCount += 1 } else { slots[slot].generation = generation - 1 }
    }
  }

  /// Bytes of the tables, and of the lists of ids with their headers.
  var bytes: Int {
    index.bytes + slots.bytes
      + slots.values.reduce(0) { $0 + ($1.newest.ids.isEmpty ? 0 : 32 + $1.newest.ids.capacity * 8) }
  }
}
