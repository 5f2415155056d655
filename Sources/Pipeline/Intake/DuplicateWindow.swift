import Domain
import Planning

/// The ids of the newest events or signals, to drop repeated ones. The ids are kept in two sets, of which the older is discarded
/// when the newer is full. So the window knows at least the last `size` ids and at most twice as many.
struct DuplicateWindow {
  private let size: Int
  private var current = HashedIDs()
  private var previous = HashedIDs()

  /// Makes an empty window.
  ///
  /// - Parameter size: The number of ids in one of the two sets; values below 1 count as 1.
  init(size: Int) { self.size = max(1, size) }

  /// Adds an event, unless the window knows it. If the newer set is full, the older one is discarded first.
  ///
  /// - Parameters:
  ///   - source: The event's source.
  ///   - id: The event's id, unique within its source.
  /// - Returns: Whether the event is new to the window.
  @discardableResult mutating func insert(source: Identifier, id: Identifier) -> Bool {
    var hasher = Hasher()
    hasher.combine(source)
    hasher.combine(id)
    return insert(hasher)
  }

  /// Adds a signal, unless the window knows it. A repeat is equal in all parts, because apps and senders number their signals on their own.
  ///
  /// - Parameter signal: The signal.
  /// - Returns: Whether the signal is new to the window.
  mutating func insert(_ signal: Signal) -> Bool {
    var hasher = Hasher()
    hasher.combine(signal)
    return insert(hasher)
  }

  /// Adds what was hashed. The hasher's key is the process's own (SipHash), and its second half makes 128 bits, so no publisher can find
  /// two events that count as one.
  private mutating func insert(_ hasher: Hasher) -> Bool {
    var other = hasher
    other.combine(true)
    let low = UInt64(bitPattern: Int64(hasher.finalize()))
    let key = KeyedHash(low: low, high: UInt64(bitPattern: Int64(other.finalize())) | 1)
    guard !current.contains(key), !previous.contains(key) else { return false }
    if current.count >= size {
      previous = current
      current = HashedIDs()
    }
    current.insert(key)
    return true
  }

  /// Checks the bounds of the window.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    if current.count > size || previous.count > size {
      violations.append("a window of \(size) ids holds \(current.count) and \(previous.count)")
    }
    if !previous.isEmpty, previous.count < size { violations.append("a generation was closed before it was full") }
    return violations
  }
}

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
