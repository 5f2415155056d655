/// A binary heap of runs by the key of their next record. Among equal keys, the key of the older run comes first.
struct RunHeap {
  /// One run and the key of its next record.
  struct Head: Equatable {
    var key: SortedSpill.Key
    /// The run's place among all runs.
    var run: Int
  }
  private var heads: [Head] = []

  /// - Parameter keys: the first key of each run.
  init(_ keys: [SortedSpill.Key]) {
    // A sorted list is a heap.
    heads = keys.enumerated().map { Head(key: $0.element, run: $0.offset) }.sorted(by: Self.inOrder)
  }

  /// The run with the smallest key; nil when all runs have ended.
  var first: Head? { heads.first }

  /// Moves the first run to its next record.
  /// - Parameter key: the run's next key, or nil where the run has ended.
  mutating func replaceFirst(with key: SortedSpill.Key?) {
    if let key {
      heads[0].key = key
    } else {
      heads[0] = heads[heads.count - 1]
      heads.removeLast()
    }
    var parent = 0
    while 2 * parent + 1 < heads.count {
      var child = 2 * parent + 1
      if child + 1 < heads.count, Self.inOrder(heads[child + 1], heads[child]) { child += 1 }
      guard Self.inOrder(heads[child], heads[parent]) else { return }
      heads.swapAt(child, parent)
      parent = child
    }
  }

  private static func inOrder(_ a: Head, _ b: Head) -> Bool { a.key == b.key ? a.run < b.run : a.key < b.key }

  /// Stops a debug build unless every run is in the heap once and comes no later than its children.
  func checkInvariants() {
    assert(Set(heads.map(\.run)).count == heads.count, "each run is in the heap once")
    for child in heads.indices.dropFirst() {
      assert(!Self.inOrder(heads[child], heads[(child - 1) / 2]), "no run comes before its parent")
    }
  }
}
