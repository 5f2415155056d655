import CPrefetch

extension ContiguousArray {
  /// Asks the processor to load an element into its caches, and does not wait for it. An element longer than what the processor loads at
  /// a time is loaded as a whole.
  /// - Parameter index: The index of the element, less than `count`.
  func prefetch(_ index: Int) {
    // The instruction reads nothing into the program and traps at no address, so nothing unsafe leaves the closure.
    unsafe withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      let bytes = MemoryLayout<Element>.stride
      // A small element does not cross the end of a line, because arrays begin at multiples of 16.
      unsafe prefetchLines(at: UnsafeRawPointer(first + index), bytes: 16.isMultiple(of: bytes) ? 1 : bytes)
    }
  }
}

extension Array {
  /// Asks the processor to load all elements of a short array into its caches. It waits for the number of elements only, which stands
  /// before them.
  func prefetch() {
    unsafe withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      unsafe prefetchLines(at: UnsafeRawPointer(first), bytes: elements.count * MemoryLayout<Element>.stride)
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
