import Planning

/// A set of 128-bit hashes, for hashes that are spread evenly already. A look-up reads one line of memory as a rule.
///
/// The table is at most half full, and doubles before it would be fuller.
struct HashedIDs {
  /// The hashes; `none` marks an empty slot. A hash lies in the slot of its lowest bits, or in one of the next.
  private var slots = [KeyedHash](repeating: .none, count: smallest)
  /// The number of hashes.
  private(set) var count = 0

  /// The number of slots of an empty set: a power of two.
  private static let smallest = 16

  /// Whether the set has no hash.
  var isEmpty: Bool { count == 0 }

  /// Whether the set has a hash, which must not be `none`.
  func contains(_ hash: KeyedHash) -> Bool { !slots[slot(of: hash)].isNone }

  /// Adds a hash, which must not be `none`, unless the set has it.
  mutating func insert(_ hash: KeyedHash) {
    let place = slot(of: hash)
    guard slots[place].isNone else { return }
    slots[place] = hash
    count += 1
    if count * 2 > slots.count { grow() }
  }

  /// Returns the slot that has a hash, or the empty one in which it would be.
  private func slot(of hash: KeyedHash) -> Int {
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash.low) & mask
    while !slots[place].isNone, slots[place] != hash { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = [KeyedHash](repeating: .none, count: old.count * 2)
    for hash in old where !hash.isNone { slots[slot(of: hash)] = hash }
  }
}
