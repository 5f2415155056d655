import Domain

/// The interest keys, and the list of entries that listen to each of them. Each list is sorted by device and instance. So the
/// order of a fan-out depends on which devices are registered, and not on when they registered.
struct InterestIndex {
  private struct Interest {
    /// The text of the key.
    var key: TextHandle
    /// The slot of the only entry that listens; or `isList` plus an index in `lists`; or `nobody`. Most keys of a large fleet
    /// have one listener, for which a list would take much more memory.
    var listener: UInt32
  }

  private var index = HashIndex()
  private var interests: ContiguousArray<Interest> = []
  private var lists: ContiguousArray<ContiguousArray<UInt32>> = []
  private var freeLists: [UInt32] = []
  private var free: [InterestSlot] = []

  private static let nobody: UInt32 = .max
  private static let isList: UInt32 = 0x8000_0000

  /// The number of keys.
  var keyCount: Int { index.count }

  /// The slots of all keys that something listens to.
  var slots: [InterestSlot] {
    interests.indices.filter { interests[$0].listener != Self.nobody }.map { InterestSlot(UInt32($0)) }
  }

  /// Makes room for this many keys.
  mutating func reserve(_ count: Int) {
    index.reserve(count)
    interests.reserveCapacity(count)
  }

  /// Returns the slot of a key; nil if nothing listens to it.
  /// - Parameters:
  ///   - key: The key.
  ///   - texts: The pool that holds the texts of the keys.
  func id(of key: Identifier, in texts: TextPool) -> InterestSlot? {
    id(of: key, hash: HashIndex.hash(key), in: texts)
  }

  /// Returns the slot of a key whose hash is known; nil if nothing listens to it.
  func id(of key: Identifier, hash: UInt32, in texts: TextPool) -> InterestSlot? {
    let utf8 = key.utf8.span
    return index.find(hash) { texts.isEqual(interests[Int($0)].key, utf8) }.map { InterestSlot($0) }
  }

  /// Returns whether a slot, which may be free or belong to another key by now, is that of a key.
  /// - Parameters:
  ///   - id: A slot that was a key's at some time.
  ///   - key: The key.
  ///   - texts: The pool that holds the texts of the keys.
  @inline(__always)
  func isSlot(_ id: InterestSlot, of key: Identifier, in texts: TextPool) -> Bool {
    let handle = interests[id.index].key
    return !handle.isAbsent && texts.isEqual(handle, key)
  }

  /// Returns the first slot with a hash, which rarely belongs to another key.
  func candidate(_ hash: UInt32) -> InterestSlot? { index.candidate(hash).map { InterestSlot($0) } }

  /// Asks the processor to load what `candidate` reads.
  func prefetch(hash: UInt32) { index.prefetch(hash) }

  /// Asks the processor to load a key's entry of the table.
  func prefetch(_ id: InterestSlot) { interests.prefetch(id.index) }

  /// Returns the text of a key.
  func key(of id: InterestSlot) -> TextHandle { interests[id.index].key }

  /// Returns the number of entries that listen to a key.
  func count(of id: InterestSlot) -> Int {
    let listener = interests[id.index].listener
    if listener == Self.nobody { return 0 }
    return listener & Self.isList == 0 ? 1 : lists[Int(listener & ~Self.isList)].count
  }

  /// Returns the entry at a place of a key's list, 0..<`count(of:)`.
  @inline(__always)
  func entry(_ place: Int, of id: InterestSlot) -> EntrySlot {
    let listener = interests[id.index].listener
    return EntrySlot(listener & Self.isList == 0 ? listener : lists[Int(listener & ~Self.isList)][place])
  }

  /// Returns the slot of a key, which is added if it is not known. Some entry must listen to it soon, or it is never removed.
  /// - Parameters:
  ///   - key: The key as UTF-8.
  ///   - texts: The pool that holds the texts of the keys.
  mutating func intern(_ key: Span<UInt8>, in texts: inout TextPool) -> InterestSlot {
    intern(key, hash: HashIndex.hash(key), in: &texts)
  }

  /// Returns the slot of a key whose hash is known, which is added if it is not known.
  mutating func intern(_ key: Span<UInt8>, hash: UInt32, in texts: inout TextPool) -> InterestSlot {
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

  /// Adds an entry to the list of a key, at its place in the order.
  /// - Parameters:
  ///   - entry: The entry, which the table of entries holds already.
  ///   - id: The key.
  ///   - order: The sort keys of entries.
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

  /// Adds an entry to the end of a key's list. It must come after all others in the order.
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

  /// Removes an entry from the list of a key, and the key with its last entry.
  /// - Parameters:
  ///   - entry: The entry, which is in the list.
  ///   - id: The key.
  ///   - order: The sort keys of entries.
  ///   - texts: The pool that holds the texts of the keys.
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

  /// Returns the first place in the list of `id` whose entry has a sort key of at least `key`; the length of the list if none
  /// has.
  func position(of key: UInt64, in id: InterestSlot, by order: EntryOrder) -> Int {
    var low = 0
    var high = count(of: id)
    while low < high {
      let middle = (low + high) / 2
      if order(entry(middle, of: id)) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The bytes that the tables take in memory, without the texts.
  var bytes: Int {
    index.bytes + interests.heldBytes
      // A list has a header of 32 bytes, and a reference to it.
      + lists.reduce(0) { $0 + 8 + ($1.isEmpty ? 0 : 32 + $1.heldBytes) }
  }
}

/// The sort key of an interest entry: its device, then its instance.
struct EntryOrder {
  // The tables themselves: an order must be gone before they change, or the change copies them.
  let entries: SlotPool<EntryTag, InterestEntry>
  let instances: SlotPool<InstanceTag, InstanceState>

  @inline(__always)
  func callAsFunction(_ entry: EntrySlot) -> UInt64 { instances[entries[entry].instance].order }
}
