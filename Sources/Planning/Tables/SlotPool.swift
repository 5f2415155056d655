/// Values in numbered slots. The slots of removed values are used again.
struct SlotPool<Owner, Value> {
  private(set) var values: ContiguousArray<Value> = []
  private var free: FreeSlots

  /// - Parameter smallestFirst: Whether the smallest free slot is used next. Which slot a new value gets then depends only
  ///   on which slots are in use, so a planner restored from its state hands out the same numbers as the one that was
  ///   lost. Otherwise the slot that was freed last is used next, which costs less.
  init(smallestFirst: Bool = false) { free = FreeSlots(smallestFirst: smallestFirst) }

  /// The number of slots ever used; some may be free.
  var capacity: Int { values.count }
  /// The number of slots in use.
  var liveCount: Int { values.count - free.count }
  /// Every slot ever used, rising; some may be free.
  var slots: LazyMapSequence<Range<UInt32>, Slot<Owner>> { (0..<UInt32(values.count)).lazy.map { Slot($0) } }

  /// Makes room for this many values.
  mutating func reserve(_ count: Int) { values.reserveCapacity(count) }

  mutating func insert(_ value: Value) -> Slot<Owner> {
    if let slot = free.take() {
      values[Int(slot)] = value
      return Slot(slot)
    }
    values.makeRoom()
    values.append(value)
    return Slot(UInt32(values.count - 1))
  }

  /// Puts a value into a given slot, for a restore. The slots in between are filled with `empty` until `freeUnused`.
  mutating func place(_ value: Value, at slot: Slot<Owner>, empty: @autoclosure () -> Value) {
    while values.count <= slot.index {
      values.makeRoom()
      values.append(empty())
    }
    values[slot.index] = value
  }

  /// The bytes of the table.
  var bytes: Int { values.heldBytes }

  /// Frees, after `place`, every slot for which `isUsed` returns false.
  mutating func freeUnused(_ isUsed: (Value) -> Bool) {
    free = FreeSlots(smallestFirst: true)
    for slot in values.indices where !isUsed(values[slot]) { free.add(UInt32(slot)) }
  }

  mutating func remove(_ slot: Slot<Owner>, leaving empty: Value) {
    values[slot.index] = empty
    free.add(slot.number)
  }

  @inline(__always)
  subscript(slot: Slot<Owner>) -> Value {
    @inline(__always) _read { yield values[slot.index] }
    @inline(__always) _modify { yield &values[slot.index] }
  }

  /// Checks that no slot is free twice and that every free slot exists.
  func checkInvariants() {
    let numbers = free.numbers
    precondition(Set(numbers).count == numbers.count, "a slot is free twice")
    precondition(numbers.allSatisfy { $0 < values.count }, "a free slot does not exist")
  }
}

/// Free slot numbers: a min-heap, or a stack.
private struct FreeSlots {
  private var heap: ContiguousArray<UInt32> = []
  private let smallestFirst: Bool

  init(smallestFirst: Bool) { self.smallestFirst = smallestFirst }

  var count: Int { heap.count }
  var numbers: ContiguousArray<UInt32> { heap }

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
