import CPrefetch

extension ContiguousArray {
  /// Asks the processor to load an element into its caches, and does not wait for it. An element longer than what the processor loads at
  /// a time is loaded as a whole.
  /// - Parameter index: The index of the element, less than `count`.
  @inline(__always)
  func prefetch(_ index: Int) {
    // The instruction reads nothing into the program and traps at no address, so nothing unsafe leaves the closure.
    unsafe withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      unsafe prefetchLines(at: UnsafeRawPointer(first + index), bytes: MemoryLayout<Element>.stride)
    }
  }
}

extension Array {
  /// Asks the processor to load the first elements into its caches, and does not wait for them.
  /// - Parameter bytesMax: The number of bytes to load at most.
  @inline(__always)
  func prefetch(bytesMax: Int) {
    unsafe withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      unsafe prefetchLines(
        at: UnsafeRawPointer(first), bytes: Swift.min(bytesMax, elements.count * MemoryLayout<Element>.stride))
    }
  }
}

/// The number of bytes that the usual processors load at a time.
private let lineBytes = 64

/// Asks the processor to load the memory from an address on.
/// - Parameters:
///   - address: The first byte.
///   - bytes: The number of bytes.
@inline(__always)
private func prefetchLines(at address: UnsafeRawPointer, bytes: Int) {
  for offset in stride(from: 0, to: bytes, by: lineBytes) { unsafe rouse_prefetch(address + offset) }
  unsafe rouse_prefetch(address + max(0, bytes - 1))
}
