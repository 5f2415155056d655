/// A set of 64-bit hashes, for hashes that are spread evenly already. A look-up reads one line of memory as a rule.
///
/// The table is at most half full, and doubles before it would be fuller. The hash 0 counts as 1.
struct HashedIDs {
  /// The hashes; 0 marks an empty slot. A hash lies in the slot of its lowest bits, or in one of the next.
  private var slots = [UInt64](repeating: 0, count: smallest)
  /// The number of hashes.
  private(set) var count = 0

  /// The number of slots of an empty set: a power of two.
  private static let smallest = 16

  /// Whether the set has no hash.
  var isEmpty: Bool { count == 0 }

  /// Whether the set has a hash.
  func contains(_ hash: UInt64) -> Bool { slots[slot(of: max(1, hash))] != 0 }

  /// Adds a hash, unless the set has it.
  mutating func insert(_ hash: UInt64) {
    let hash = max(1, hash)
    let place = slot(of: hash)
    guard slots[place] == 0 else { return }
    slots[place] = hash
    count += 1
    if count * 2 > slots.count { grow() }
  }

  /// Returns the slot that has a hash, or the empty one in which it would be.
  private func slot(of hash: UInt64) -> Int {
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0, slots[place] != hash { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 2)
    for hash in old where hash != 0 { slots[slot(of: hash)] = hash }
  }
}
