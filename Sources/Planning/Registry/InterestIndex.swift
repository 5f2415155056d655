/// The interest entries that listen to each key. Each list is sorted by device and instance, so the order of a fan-out
/// depends on which devices are registered and not on when they registered.
struct InterestIndex {
  private struct Interest {
    /// The text of the key.
    var key: TextHandle
    /// The only entry that listens, or `isList` and an index in `lists`; `nobody` where none does. Most keys of a large
    /// fleet have one listener.
    var listener: UInt32
  }

  private var index = HashIndex()
  private var interests: ContiguousArray<Interest> = []
  private var lists: ContiguousArray<ContiguousArray<UInt32>> = []
  private var freeLists: [UInt32] = []
  private var free: [InterestSlot] = []

  private static let nobody: UInt32 = .max
  private static let isList: UInt32 = 0x8000_0000

  var keyCount: Int { index.count }

  /// Makes room for this many keys.
  mutating func reserve(_ count: Int) {
    index.reserve(count)
    interests.reserveCapacity(count)
  }

  @inline(__always)
  func id(of key: String, in texts: TextPool) -> InterestSlot? {
    let utf8 = key.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(interests[Int($0)].key, utf8) }.map { InterestSlot($0) }
  }

  /// Returns the key that a look-up of this hash compares first; it may be another key.
  @inline(__always)
  func candidate(_ hash: UInt32) -> InterestSlot? { index.candidate(hash).map { InterestSlot($0) } }

  /// Returns the text of a key.
  func key(of id: InterestSlot) -> TextHandle { interests[id.index].key }

  @inline(__always)
  func count(of id: InterestSlot) -> Int {
    let listener = interests[id.index].listener
    if listener == Self.nobody { return 0 }
    return listener & Self.isList == 0 ? 1 : lists[Int(listener & ~Self.isList)].count
  }

  /// Returns the entry at a place of a key's list.
  @inline(__always)
  func entry(_ place: Int, of id: InterestSlot) -> EntrySlot {
    let listener = interests[id.index].listener
    return EntrySlot(listener & Self.isList == 0 ? listener : lists[Int(listener & ~Self.isList)][place])
  }

  mutating func intern(_ key: Span<UInt8>, in texts: inout TextPool) -> InterestSlot {
    let hash = HashIndex.hash(key)
    if let id = index.find(hash, where: { texts.isEqual(interests[Int($0)].key, key) }) { return InterestSlot(id) }
    let handle = texts.insert(key)
    let id: InterestSlot
    if let unused = free.popLast() {
      id = unused
      interests[id.index].key = handle
    } else {
      id = InterestSlot(UInt32(interests.count))
      interests.makeRoom()
      interests.append(Interest(key: handle, listener: Self.nobody))
    }
    index.insert(id.number, hash: hash)
    return id
  }

  mutating func insert(_ entry: EntrySlot, into id: InterestSlot, by order: EntryOrder) {
    let count = count(of: id)
    guard count > 0, order(self.entry(count - 1, of: id)) > order(entry) else {
      append(entry, into: id)
      return
    }
    let place = position(of: order(entry), in: id, by: order)
    append(entry, into: id)
    let list = Int(interests[id.index].listener & ~Self.isList)
    lists[list].removeLast()
    lists[list].insert(entry.number, at: place)
  }

  /// Appends an entry that comes after all others of the list.
  mutating func append(_ entry: EntrySlot, into id: InterestSlot) {
    precondition(entry.number < Self.isList, "at most two billion interests")
    let listener = interests[id.index].listener
    if listener == Self.nobody {
      interests[id.index].listener = entry.number
    } else if listener & Self.isList != 0 {
      lists[Int(listener & ~Self.isList)].makeRoom(4)
      lists[Int(listener & ~Self.isList)].append(entry.number)
    } else {
      let list = freeLists.popLast() ?? UInt32(lists.count)
      if list == lists.count { lists.append([]) }
      lists[Int(list)] = [listener, entry.number]
      interests[id.index].listener = list | Self.isList
    }
  }

  mutating func remove(_ entry: EntrySlot, from id: InterestSlot, by order: EntryOrder, in texts: inout TextPool) {
    var place = position(of: order(entry), in: id, by: order)
    let count = count(of: id)
    while place < count, self.entry(place, of: id) != entry { place += 1 }
    precondition(place < count, "the list of an interest key lacks an entry")
    if count == 1 { return remove(id, in: &texts) }
    let list = Int(interests[id.index].listener & ~Self.isList)
    lists[list].remove(at: place)
    if count == 2 {
      interests[id.index].listener = lists[list][0]
      lists[list] = []
      freeLists.append(UInt32(list))
    }
  }

  /// Removes the keys that nothing listens to, after a restore.
  mutating func removeUnused(in texts: inout TextPool) {
    let unused = Set(free)
    for number in 0..<UInt32(interests.count) {
      let id = InterestSlot(number)
      if interests[id.index].listener == Self.nobody, !unused.contains(id) { remove(id, in: &texts) }
    }
  }

  private mutating func remove(_ id: InterestSlot, in texts: inout TextPool) {
    let handle = interests[id.index].key
    index.remove(id.number, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    interests[id.index].key = .absent
    interests[id.index].listener = Self.nobody
    free.append(id)
  }

  /// Returns the first place of a list whose order is at least `key`.
  func position(of key: UInt64, in id: InterestSlot, by order: EntryOrder) -> Int {
    var low = 0
    var high = count(of: id)
    while low < high {
      let middle = (low + high) / 2
      if order(entry(middle, of: id)) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The bytes of the tables, without the texts.
  var bytes: Int {
    index.bytes + interests.heldBytes
      // A list has a header of 32 bytes, and a reference to it.
      + lists.reduce(0) { $0 + 8 + ($1.isEmpty ? 0 : 32 + $1.heldBytes) }
  }
}

/// The sort key of an interest entry: its device, then its instance.
struct EntryOrder {
  let entries: SlotPool<EntryTag, InterestEntry>
  let instances: SlotPool<InstanceTag, InstanceState>

  @inline(__always)
  func callAsFunction(_ entry: EntrySlot) -> UInt64 { instances[entries[entry].instance].order }
}
