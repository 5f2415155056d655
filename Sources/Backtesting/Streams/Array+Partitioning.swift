extension Array {
  /// Returns the place of the first element for which a condition holds, by binary search; `count` if it holds for none.
  /// - Parameter holds: Must be false for every element before the place and true from there on.
  func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
