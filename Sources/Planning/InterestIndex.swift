/// Which interest entries listen to which key. Each list is sorted by device and instance, so the order of a fan-out
/// depends on who is registered and not on when they came.
struct InterestIndex {
  private var idByKey: [String: UInt32] = [:]
  private var keys: ContiguousArray<String> = []
  private(set) var lists: ContiguousArray<ContiguousArray<UInt32>> = []
  private var free: [UInt32] = []

  var keyCount: Int { idByKey.count }

  func id(of key: String) -> UInt32? { idByKey[key] }
  func key(of id: UInt32) -> String { keys[Int(id)] }

  mutating func intern(_ key: String) -> UInt32 {
    if let id = idByKey[key] { return id }
    let id: UInt32
    if let slot = free.popLast() {
      id = slot
      keys[Int(id)] = key
    } else {
      id = UInt32(keys.count)
      keys.append(key)
      lists.append([])
    }
    idByKey[key] = id
    return id
  }

  mutating func insert(_ entry: UInt32, into id: UInt32, by order: EntryOrder) {
    let key = order(entry)
    guard let last = lists[Int(id)].last, order(last) > key else {
      lists[Int(id)].append(entry)
      return
    }
    lists[Int(id)].insert(entry, at: Self.position(of: key, in: lists[Int(id)], by: order))
  }

  mutating func remove(_ entry: UInt32, from id: UInt32, by order: EntryOrder) {
    var place = Self.position(of: order(entry), in: lists[Int(id)], by: order)
    while place < lists[Int(id)].count, lists[Int(id)][place] != entry { place += 1 }
    precondition(place < lists[Int(id)].count, "an interest entry is in the list of its key")
    lists[Int(id)].remove(at: place)
    if lists[Int(id)].isEmpty { remove(id) }
  }

  /// Restore: appends an entry that comes after all others of the list.
  mutating func append(_ entry: UInt32, into id: UInt32) { lists[Int(id)].append(entry) }

  /// Restore: lets go of the keys that nothing listens to.
  mutating func removeUnused() {
    for id in lists.indices where lists[id].isEmpty { remove(UInt32(id)) }
  }

  private mutating func remove(_ id: UInt32) {
    idByKey[keys[Int(id)]] = nil
    keys[Int(id)] = ""
    lists[Int(id)] = []
    free.append(id)
  }

  /// First place whose order is at least `key`.
  static func position(of key: UInt64, in list: ContiguousArray<UInt32>, by order: EntryOrder) -> Int {
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if order(list[middle]) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The sort key of an interest entry: its device, then its instance.
struct EntryOrder {
  let entries: SlotPool<InterestEntry>
  let instances: SlotPool<InstanceState>

  func callAsFunction(_ entry: UInt32) -> UInt64 { instances[entries[entry].instance].order }
}
