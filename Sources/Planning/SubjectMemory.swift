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

  private(set) var current: [UInt64: Newest] = [:]
  private(set) var previous: [UInt64: Newest] = [:]
  /// Counts the rotations; stands in the records so that a restore knows which are over.
  private(set) var generation: Int64 = 0

  var count: Int { current.count + previous.count }

  /// Of both generations, rising.
  var keys: [UInt64] { (Array(current.keys) + previous.keys.filter { current[$0] == nil }).sorted() }

  func newest(_ key: UInt64) -> Newest? { current[key] ?? previous[key] }

  /// With the generation it is in.
  func remembered(_ key: UInt64) -> (Newest, Int64)? {
    if let newest = current[key] { return (newest, generation) }
    return previous[key].map { ($0, generation - 1) }
  }

  /// Notes an event and says how it stands to what came before.
  mutating func note(_ key: UInt64, id: UInt64, time: Int64) -> Standing {
    if current[key] == nil { current[key] = previous[key] ?? Newest(time: .min, ids: []) }
    return Self.note(&current[key, default: Newest(time: .min, ids: [])], id: id, time: time)
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
    let gone = previous.keys.filter { current[$0] == nil }.sorted()
    previous = current
    current = [:]
    generation += 1
    return gone
  }

  /// Restore: puts back one record of generation `generation`.
  mutating func restore(_ key: UInt64, _ newest: Newest, generation recordGeneration: Int64) {
    if recordGeneration == generation { current[key] = newest } else { previous[key] = newest }
  }

  /// Restore: sets the generation first.
  mutating func restore(generation: Int64) { self.generation = generation }
}
