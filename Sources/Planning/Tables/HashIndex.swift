/// An open-addressing table that finds numbers by the hash of the texts that they stand for, half to four fifths full. It
/// keeps the hashes, so it grows without reading the texts.
///
/// The hash is seeded anew in each process, so a publisher cannot make places collide. The place of a number decides
/// nothing.
struct HashIndex {
  /// The hash in the upper half, the number in the lower half; `empty` where there is no entry. Sorted by hash, except for
  /// entries that linear probing has moved on.
  private var places: ContiguousArray<UInt64> = []
  private(set) var count = 0

  private static let empty = UInt64.max
  private static let capacityMin = 16

  static func hash(_ text: Span<UInt8>) -> UInt32 {
    var hasher = Hasher()
    // The span keeps the bytes alive for the whole call.
    unsafe text.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  @inline(__always)
  private func home(_ hash: UInt32) -> Int { Int((UInt64(hash) &* UInt64(places.count)) >> 32) }

  /// Returns the number with this hash for which `matches` returns true.
  @inline(__always)
  func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
    if places.isEmpty { return nil }
    var place = home(hash)
    while true {
      let entry = places[place]
      if entry == Self.empty { return nil }
      if UInt32(truncatingIfNeeded: entry >> 32) == hash, matches(UInt32(truncatingIfNeeded: entry)) {
        return UInt32(truncatingIfNeeded: entry)
      }
      place += 1
      if place == places.count { place = 0 }
    }
  }

  /// Returns the number that `find` compares first; it may stand for another text. Nil where there is none.
  @inline(__always)
  func candidate(_ hash: UInt32) -> UInt32? {
    if places.isEmpty { return nil }
    let entry = places[home(hash)]
    return entry == Self.empty ? nil : UInt32(truncatingIfNeeded: entry)
  }

  /// Adds a number below `UInt32.max` that the table does not hold yet.
  mutating func insert(_ number: UInt32, hash: UInt32) {
    if (count + 1) * 5 > places.count * 4 { grow() }
    put(UInt64(hash) << 32 | UInt64(number))
    count += 1
  }

  private mutating func put(_ entry: UInt64) {
    var place = home(UInt32(truncatingIfNeeded: entry >> 32))
    while places[place] != Self.empty {
      place += 1
      if place == places.count { place = 0 }
    }
    places[place] = entry
  }

  private mutating func grow() { resize(to: max(Self.capacityMin, places.count + places.count / 2)) }

  /// Makes room for this many numbers.
  mutating func reserve(_ count: Int) {
    if count * 5 > places.count * 4 { resize(to: count * 5 / 4 + 1) }
  }

  private mutating func resize(to capacity: Int) {
    let old = places
    places = ContiguousArray(repeating: Self.empty, count: capacity)
    for entry in old where entry != Self.empty { put(entry) }
  }

  /// Removes a number that the table holds.
  mutating func remove(_ number: UInt32, hash: UInt32) {
    let wanted = UInt64(hash) << 32 | UInt64(number)
    var hole = home(hash)
    while places[hole] != wanted {
      precondition(places[hole] != Self.empty, "the index does not hold the number to be removed")
      hole += 1
      if hole == places.count { hole = 0 }
    }
    // Moves back the entries that probing had moved past the hole.
    var place = hole
    while true {
      place += 1
      if place == places.count { place = 0 }
      let entry = places[place]
      if entry == Self.empty { break }
      let home = home(UInt32(truncatingIfNeeded: entry >> 32))
      let stays = hole <= place ? home > hole && home <= place : home > hole || home <= place
      if !stays {
        places[hole] = entry
        hole = place
      }
    }
    places[hole] = Self.empty
    count -= 1
  }

  /// The bytes of the table.
  var bytes: Int { places.heldBytes }
}
