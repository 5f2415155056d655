/// Which interest entries listen to which key. Each list is sorted by device and instance, so the order of a fan-out
/// depends on who is registered and not on when they came.
struct InterestIndex {
  private var index = HashIndex()
  /// Of the texts of the keys, by id.
  private var keys: ContiguousArray<UInt32> = []
  /// Who listens, by id: the only entry, or `isList` and a place in `lists`; `none`: nobody. Most keys of a large fleet
  /// have one listener.
  private var listeners: ContiguousArray<UInt32> = []
  private var lists: ContiguousArray<ContiguousArray<UInt32>> = []
  private var freeLists: [UInt32] = []
  private var free: [UInt32] = []

  private static let isList: UInt32 = 0x8000_0000

  var keyCount: Int { index.count }

  func id(of key: String, in texts: TextPool) -> UInt32? {
    let utf8 = key.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(keys[Int($0)], utf8) }
  }

  /// Handle of the key's text.
  func key(of id: UInt32) -> UInt32 { keys[Int(id)] }

  @inline(__always)
  func count(of id: UInt32) -> Int {
    let listener = listeners[Int(id)]
    if listener == none { return 0 }
    return listener & Self.isList == 0 ? 1 : lists[Int(listener & ~Self.isList)].count
  }

  /// The entry at a place of a key's list.
  @inline(__always)
  func entry(_ place: Int, of id: UInt32) -> UInt32 {
    let listener = listeners[Int(id)]
    return listener & Self.isList == 0 ? listener : lists[Int(listener & ~Self.isList)][place]
  }

  mutating func intern(_ key: String, in texts: inout TextPool) -> UInt32 {
    if let id = id(of: key, in: texts) { return id }
    let handle = texts.insert(key.utf8)
    let id: UInt32
    if let unused = free.popLast() {
      id = unused
      keys[Int(id)] = handle
    } else {
      id = UInt32(keys.count)
      keys.makeRoom()
      listeners.makeRoom()
      keys.append(handle)
      listeners.append(none)
    }
    index.insert(id, hash: HashIndex.hash(key.utf8.span))
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
    let list = Int(listeners[Int(id)] & ~Self.isList)
    lists[list].removeLast()
    lists[list].insert(entry, at: place)
  }

  /// Appends an entry that comes after all others of the list.
  mutating func append(_ entry: UInt32, into id: UInt32) {
    precondition(entry < Self.isList, "at most two billion interests")
    let listener = listeners[Int(id)]
    if listener == none {
      listeners[Int(id)] = entry
    } else if listener & Self.isList != 0 {
      lists[Int(listener & ~Self.isList)].makeRoom(4)
      lists[Int(listener & ~Self.isList)].append(entry)
    } else {
      let list = freeLists.popLast() ?? UInt32(lists.count)
      if list == lists.count { lists.append([]) }
      lists[Int(list)] = [listener, entry]
      listeners[Int(id)] = list | Self.isList
    }
  }

  mutating func remove(_ entry: UInt32, from id: UInt32, by order: EntryOrder, in texts: inout TextPool) {
    var place = position(of: order(entry), in: id, by: order)
    let count = count(of: id)
    while place < count, self.entry(place, of: id) != entry { place += 1 }
    precondition(place < count, "an interest entry is in the list of its key")
    if count == 1 { return remove(id, in: &texts) }
    let list = Int(listeners[Int(id)] & ~Self.isList)
    lists[list].remove(at: place)
    if count == 2 {
      listeners[Int(id)] = lists[list][0]
      lists[list] = []
      freeLists.append(UInt32(list))
    }
  }

  /// Restore: lets go of the keys that nothing listens to.
  mutating func removeUnused(in texts: inout TextPool) {
    let unused = Set(free)
    for id in 0..<UInt32(keys.count) where listeners[Int(id)] == none && !unused.contains(id) {
      remove(id, in: &texts)
    }
  }

  private mutating func remove(_ id: UInt32, in texts: inout TextPool) {
    let handle = keys[Int(id)]
    index.remove(id, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    keys[Int(id)] = TextPool.noText
    listeners[Int(id)] = none
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
    index.bytes + (keys.capacity + listeners.capacity) * MemoryLayout<UInt32>.stride
      // A list has a header of 32 bytes, and a reference to it.
      + lists.reduce(0) { $0 + 8 + ($1.isEmpty ? 0 : 32 + $1.capacity * MemoryLayout<UInt32>.stride) }
  }
}

/// The sort key of an interest entry: its device, then its instance.
struct EntryOrder {
  let entries: SlotPool<InterestEntry>
  let instances: SlotPool<InstanceState>

  @inline(__always)
  func callAsFunction(_ entry: UInt32) -> UInt64 { instances[entries[entry].instance].order }
}
