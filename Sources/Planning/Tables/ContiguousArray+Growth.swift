/// The size in bytes from which unused capacity lies in whole pages.
private let largeBytes = 64 << 10

extension ContiguousArray {
  /// Makes room for one more element. A small array grows by an eighth, because there may be one for each interest key. A
  /// large one doubles, which copies an element once on average instead of eight times; capacity that was never written
  /// lies in pages of its own and takes no memory.
  /// - Parameter least: The smallest number of elements to grow by.
  @inline(__always)
  mutating func makeRoom(_ least: Int = 64) {
    if count == capacity { grow(least) }
  }

  private var isLarge: Bool { count * MemoryLayout<Element>.stride >= largeBytes }

  private mutating func grow(_ least: Int) {
    reserveCapacity(count + Swift.max(least, isLarge ? count : count / 8))
  }

  /// The bytes that the array takes in memory: those of its capacity, or of its elements where it is large.
  var heldBytes: Int { (isLarge ? count : capacity) * MemoryLayout<Element>.stride }
}
