/// Which interest entries listen to which key. Each list is sorted by device and instance, so the order of a fan-out
/// depends on who is registered and not on when they came.
struct InterestIndex {
  private struct Interest {
    /// Of the text of the key.
    var key: UInt32
    /// Who listens: the only entry, or `isList` and a place in `lists`; `none`: nobody. Most keys of a large fleet have one
    /// listener.
    var listener: UInt32
  }

  private var index = HashIndex()
  private var interests: ContiguousArray<Interest> = []
  private var lists: ContiguousArray<ContiguousArray<UInt32>> = []
  private var freeLists: [UInt32] = []
  private var free: [UInt32] = []

  private static let isList: UInt32 = 0x8000_0000

  var keyCount: Int { index.count }

  /// Makes room for this many keys.
  mutating func reserve(_ count: Int) {
    index.reserve(count)
    interests.reserveCapacity(count)
  }

  func id(of key: String, in texts: TextPool) -> UInt32? {
    let utf8 = key.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(interests[Int($0)].key, utf8) }
  }

  /// The key that is looked at first for this hash; it may be another one.
  @inline(__always)
  func candidate(_ hash: UInt32) -> UInt32? { index.candidate(hash) }

  /// Handle of the key's text.
  func key(of id: UInt32) -> UInt32 { interests[Int(id)].key }

  @inline(__always)
  func count(of id: UInt32) -> Int {
    let listener = interests[Int(id)].listener
    if listener == none { return 0 }
    return listener & Self.isList == 0 ? 1 : lists[Int(listener & ~Self.isList)].count
  }

  /// The entry at a place of a key's list.
  @inline(__always)
  func entry(_ place: Int, of id: UInt32) -> UInt32 {
    let listener = interests[Int(id)].listener
    return listener & Self.isList == 0 ? listener : lists[Int(listener & ~Self.isList)][place]
  }

  mutating func intern(_ key: Span<UInt8>, in texts: inout TextPool) -> UInt32 {
    let hash = HashIndex.hash(key)
    if let id = index.find(hash, where: { texts.isEqual(interests[Int($0)].key, key) }) { return id }
    let handle = texts.insert(key)
    let id: UInt32
    if let unused = free.popLast() {
      id = unused
      interests[Int(id)].key = handle
    } else {
      id = UInt32(interests.count)
      interests.makeRoom()
      interests.append(Interest(key: handle, listener: none))
    }
    index.insert(id, hash: hash)
    return id
  }

  mutating func insert(_ entry: UInt32, into id: UInt32, by order: EntryOrder) {
    let count = count(of: id)
    guard count > 0, order(self.entry(count - 1, of: id)) > order(entry) else {
      append(entry, into: id)
      return
    }
    let place = position(of: order(entry), in: id, by: order)
    append(entry, into: id)
    let list = Int(interests[Int(id)].listener & ~Self.isList)
    lists[list].removeLast()
    lists[list].insert(entry, at: place)
  }

  /// Appends an entry that comes after all others of the list.
  mutating func append(_ entry: UInt32, into id: UInt32) {
    precondition(entry < Self.isList, "at most two billion interests")
    let listener = interests[Int(id)].listener
    if listener == none {
      interests[Int(id)].listener = entry
    } else if listener & Self.isList != 0 {
      lists[Int(listener & ~Self.isList)].makeRoom(4)
      lists[Int(listener & ~Self.isList)].append(entry)
    } else {
      let list = freeLists.popLast() ?? UInt32(lists.count)
      if list == lists.count { lists.append([]) }
      lists[Int(list)] = [listener, entry]
      interests[Int(id)].listener = list | Self.isList
    }
  }

  mutating func remove(_ entry: UInt32, from id: UInt32, by order: EntryOrder, in texts: inout TextPool) {
    var place = position(of: order(entry), in: id, by: order)
    let count = count(of: id)
    while place < count, self.entry(place, of: id) != entry { place += 1 }
    precondition(place < count, "an interest entry is in the list of its key")
    if count == 1 { return remove(id, in: &texts) }
    let list = Int(interests[Int(id)].listener & ~Self.isList)
    lists[list].remove(at: place)
    if count == 2 {
      interests[Int(id)].listener = lists[list][0]
      lists[list] = []
      freeLists.append(UInt32(list))
    }
  }

  /// Restore: lets go of the keys that nothing listens to.
  mutating func removeUnused(in texts: inout TextPool) {
    let unused = Set(free)
    for id in 0..<UInt32(interests.count) where interests[Int(id)].listener == none && !unused.contains(id) {
      remove(id, in: &texts)
    }
  }

  private mutating func remove(_ id: UInt32, in texts: inout TextPool) {
    let handle = interests[Int(id)].key
    index.remove(id, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    interests[Int(id)].key = TextPool.noText
    interests[Int(id)].listener = none
    free.append(id)
  }

  /// First place whose order is at least `key`.
  func position(of key: UInt64, in id: UInt32, by order: EntryOrder) -> Int {
    var low = 0
    var high = count(of: id)
    while low < high {
      let middle = (low + high) / 2
      if order(entry(middle, of: id)) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Bytes of the tables, without the texts.
  var bytes: Int {
    index.bytes + interests.heldBytes
      // A list has a header of 32 bytes, and a reference to it.
      + lists.reduce(0) { $0 + 8 + ($1.isEmpty ? 0 : 32 + $1.heldBytes) }
  }
}

/// The sort key of an interest entry: its device, then its instance.
struct EntryOrder {
  let entries: SlotPool<InterestEntry>
  let instances: SlotPool<InstanceState>

  @inline(__always)
  func callAsFunction(_ entry: UInt32) -> UInt64 { instances[entries[entry].instance].order }
}
