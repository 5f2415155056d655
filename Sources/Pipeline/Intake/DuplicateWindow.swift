/// The ids of the newest events, to drop what a publisher sends twice. Two generations bound it: it knows at least the
/// last `size` ids and at most twice as many.
struct DuplicateWindow {
  private let size: Int
  private var current: Set<UInt64> = []
  private var previous: Set<UInt64> = []

  init(size: Int) { self.size = max(1, size) }

  /// Whether the event is known.
  func contains(source: String, id: String) -> Bool {
    let key = Self.key(source, id)
    return current.contains(key) || previous.contains(key)
  }

  mutating func insert(source: String, id: String) {
    if current.count >= size {
      previous = current
      current = []
    }
    current.insert(Self.key(source, id))
  }

  /// 64 bits of the process's own hash: two of a million ids collide once in 37 million windows.
  private static func key(_ source: String, _ id: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(source)
    hasher.combine(id)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
