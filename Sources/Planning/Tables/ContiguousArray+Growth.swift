/// The size in bytes from which an array counts as large: nearly all of its unused capacity lies in pages that were
/// never written.
private let largeBytes = 64 << 10

extension ContiguousArray {
  /// Makes room for one more element. A small array grows by an eighth: there may be one array for each interest key, so
  /// unused capacity adds up. A large array doubles, which copies an element once on average instead of eight times. Its
  /// unused capacity costs nothing: the operating system provides no memory for pages that were never written.
  /// - Parameter least: The smallest number of elements to grow by.
  mutating func makeRoom(_ least: Int = 64) {
    if count == capacity { grow(least) }
  }

  private var isLarge: Bool { count * MemoryLayout<Element>.stride >= largeBytes }

  private mutating func grow(_ least: Int) {
    reserveCapacity(count + Swift.max(least, isLarge ? count : count / 8))
  }

  /// The bytes that the array takes in memory: those of its whole capacity if it is small, those of its elements if it is
  /// large.
  var heldBytes: Int { (isLarge ? count : capacity) * MemoryLayout<Element>.stride }
}

extension Array {
  /// The bytes that a small array takes in memory, those of its header included; 0 for an empty one.
  var heldBytes: Int { isEmpty ? 0 : 32 + capacity * MemoryLayout<Element>.stride }
}
