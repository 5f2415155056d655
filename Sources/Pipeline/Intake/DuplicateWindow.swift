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
