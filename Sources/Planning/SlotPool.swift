/// Values in numbered slots; those of removed values are used again.
struct SlotPool<Value> {
  private(set) var values: ContiguousArray<Value> = []
  private var free: FreeSlots

  /// - Parameter smallestFirst: the smallest free slot is used next, so which slot a newcomer gets depends only on which
  ///   slots are in use: a planner restored from its state hands out the same numbers as the one that was lost. Else the
  ///   one that was freed last, which costs less.
  init(smallestFirst: Bool = false) { free = FreeSlots(smallestFirst: smallestFirst) }

  /// Slots ever used; some may be free.
  var capacity: Int { values.count }
  var liveCount: Int { values.count - free.count }

  /// Makes room for this many values.
  mutating func reserve(_ count: Int) { values.reserveCapacity(count) }

  mutating func insert(_ value: Value) -> UInt32 {
    if let slot = free.take() {
      values[Int(slot)] = value
      return slot
    }
    values.makeRoom()
    values.append(value)
    return UInt32(values.count - 1)
  }

  /// Puts a value into a given slot (restore); slots in between, filled with `empty`, become free by `freeUnused`.
  mutating func place(_ value: Value, at slot: UInt32, empty: @autoclosure () -> Value) {
    while values.count <= Int(slot) {
      values.makeRoom()
      values.append(empty())
    }
    values[Int(slot)] = value
  }

  /// Bytes of the table.
  var bytes: Int { values.heldBytes }

  /// After placing: every slot for which `isUsed` says no becomes free.
  mutating func freeUnused(_ isUsed: (Value) -> Bool) {
    free = FreeSlots(smallestFirst: true)
    for slot in values.indices where !isUsed(values[slot]) { free.add(UInt32(slot)) }
  }

  mutating func remove(_ slot: UInt32, leaving empty: Value) {
    values[Int(slot)] = empty
    free.add(slot)
  }

  @inline(__always)
  subscript(slot: UInt32) -> Value {
    @inline(__always) _read { yield values[Int(slot)] }
    @inline(__always) _modify { yield &values[Int(slot)] }
  }
}

/// Slot numbers: a min-heap, or a stack.
private struct FreeSlots {
  private var heap: ContiguousArray<UInt32> = []
  private let smallestFirst: Bool

  init(smallestFirst: Bool) { self.smallestFirst = smallestFirst }

  var count: Int { heap.count }

  mutating func add(_ slot: UInt32) {
    heap.append(slot)
    if !smallestFirst { return }
    var child = heap.count - 1
    while child > 0, heap[(child - 1) / 2] > heap[child] {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func take() -> UInt32? {
    if !smallestFirst { return heap.popLast() }
    guard let smallest = heap.first, let last = heap.popLast() else { return nil }
    if heap.isEmpty { return smallest }
    heap[0] = last
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var child = 2 * parent + 1
      if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
      if heap[parent] <= heap[child] { break }
      heap.swapAt(parent, child)
      parent = child
    }
    return smallest
  }
}

/// From here on unused capacity is whole pages.
private let largeBytes = 64 << 10

extension ContiguousArray {
  /// A small array grows by an eighth: there may be one for each interest key. A large one doubles, which copies an element
  /// once on average instead of eight times: what was never written lies in pages of its own and takes no memory.
  @inline(__always)
  mutating func makeRoom(_ least: Int = 64) {
    if count == capacity { grow(least) }
  }

  private var isLarge: Bool { count * MemoryLayout<Element>.stride >= largeBytes }

  private mutating func grow(_ least: Int) {
    reserveCapacity(count + Swift.max(least, isLarge ? count : count / 8))
  }

  /// Bytes that it takes in memory: of the capacity, but for a large one of the elements.
  var heldBytes: Int { (isLarge ? count : capacity) * MemoryLayout<Element>.stride }
}
