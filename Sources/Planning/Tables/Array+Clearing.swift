// `removeAll(keepingCapacity:)` takes about as long as removing ten elements one by one. The arrays that are filled anew for each
// event or device mostly hold one to three elements.

extension Array {
  /// Removes all elements and keeps the storage; faster than `removeAll(keepingCapacity:)` if there are few elements.
  mutating func clear() {
    if count > 8 { return removeAll(keepingCapacity: true) }
    while popLast() != nil {}
  }
}

extension ContiguousArray {
  /// Removes all elements and keeps the storage; faster than `removeAll(keepingCapacity:)` if there are few elements.
  mutating func clear() {
    if count > 8 { return removeAll(keepingCapacity: true) }
    while popLast() != nil {}
  }
}
