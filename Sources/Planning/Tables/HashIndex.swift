import Domain

/// A hash table from texts to numbers. It holds the numbers and their hashes, not the texts: the caller compares texts, and
/// the table can grow without reading them.
///
/// Collisions go to the next free place (linear probing). The table is between half and four fifths full, unless more
/// room was reserved. The hash has a different seed in each process, so a publisher cannot choose keys that collide. No
/// decision depends on where a number stands in the table.
struct HashIndex {
  /// For each place, the hash in the upper half and the number in the lower half, or `empty`. The entries are sorted by
  /// hash, except for those that linear probing has moved on.
  private var places: ContiguousArray<UInt64> = []
  /// The number of entries.
  private(set) var count = 0

  private static let empty = UInt64.max
  private static let capacityMin = 16

  /// Returns the hash of a text, which is valid in this process only.
  ///
  /// A call that is the last thing a function does takes an identifier, not its span, here as elsewhere: Swift 6.3 lets such a call end the
  /// frame in which a small text stands, and the span then shows other bytes. It happens in debug builds, where nothing of another
  /// file is inlined.
  static func hash(_ text: Identifier) -> UInt32 { hash(text.utf8.span) }

  /// Returns the hash of a text, which is valid in this process only.
  @inline(__always)
  static func hash(_ text: Span<UInt8>) -> UInt32 {
    var hasher = Hasher()
    // The span keeps the bytes alive for the whole call.
    unsafe text.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  /// Returns the hash of a number that is itself a hash, which is valid in this process only. It mixes the bits by one
  /// multiplication, with a number that no publisher knows: nobody can choose keys that all lead to one place.
  @inline(__always)
  static func hash(_ key: UInt64) -> UInt32 {
    let (high, low) = (key ^ secret).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    return UInt32(truncatingIfNeeded: high ^ low)
  }

  /// A number that differs from process to process.
  private static let secret: UInt64 = {
    var hasher = Hasher()
    hasher.combine(0)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }()

  private func home(_ hash: UInt32) -> Int { Int((UInt64(hash) &* UInt64(places.count)) >> 32) }

  /// Returns the number of a text; nil if the table does not hold it.
  /// - Parameters:
  ///   - hash: The hash of the text.
  ///   - matches: Returns whether a number with this hash stands for the text.
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

  /// Returns the first number with a hash, which is nearly always the one that `find` returns; nil if there is none. Reading it
  /// loads the memory that `find` needs.
  func candidate(_ hash: UInt32) -> UInt32? { find(hash) { _ in true } }

  /// Asks the processor to load the place at which the search for a hash begins.
  func prefetch(_ hash: UInt32) { if !places.isEmpty { places.prefetch(home(hash)) } }

  /// Adds a number that the table does not hold yet.
  /// - Parameters:
  ///   - number: Must be below `UInt32.max`.
  ///   - hash: The hash of the text that the number stands for.
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

  /// Removes a number. The table must hold it.
  /// - Parameters:
  ///   - number: The number to remove.
  ///   - hash: The hash of the text that the number stands for.
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

  /// The bytes that the table takes in memory.
  var bytes: Int { places.heldBytes }
}
