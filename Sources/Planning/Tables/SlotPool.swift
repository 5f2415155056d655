/// A table of values in numbered slots. The slots of removed values are used again.
struct SlotPool<Owner, Value> {
  /// The values of all slots; those of free slots mean nothing.
  private(set) var values: ContiguousArray<Value> = []
  private var free: FreeSlots

  /// Creates an empty table.
  /// - Parameter smallestFirst: Whether a new value gets the smallest free slot. Its slot then depends only on which
  ///   slots are in use, so a planner that was restored from its state gives new values the same slots as the planner
  ///   that wrote the state would have given. Otherwise a new value gets the slot that was freed last, which costs
  ///   less.
  init(smallestFirst: Bool = false) { free = FreeSlots(smallestFirst: smallestFirst) }

  /// The number of slots ever used; some may be free.
  var capacity: Int { values.count }
  /// The number of slots in use.
  var liveCount: Int { values.count - free.count }
  /// Every slot ever used, by rising number; some may be free.
  var slots: LazyMapSequence<Range<UInt32>, Slot<Owner>> { (0..<UInt32(values.count)).lazy.map { Slot($0) } }

  /// Makes room for this many values.
  mutating func reserve(_ count: Int) { values.reserveCapacity(count) }

  /// Adds a value.
  /// - Returns: The slot that the value got.
  mutating func insert(_ value: consuming Value) -> Slot<Owner> {
    if let slot = free.take() {
      values[Int(slot)] = value
      return Slot(slot)
    }
    values.makeRoom()
    values.append(value)
    return Slot(UInt32(values.count - 1))
  }

  /// Puts a value into a given slot, for a restore. When all values are placed, call `freeUnused`.
  /// - Parameters:
  ///   - value: The value to store.
  ///   - slot: The slot to store it in.
  ///   - empty: The value of slots before it that were never used.
  mutating func place(_ value: Value, at slot: Slot<Owner>, empty: @autoclosure () -> Value) {
    while values.count <= slot.index {
      values.makeRoom()
      values.append(empty())
    }
    values[slot.index] = value
  }

  /// The bytes that the table takes in memory.
  var bytes: Int { values.heldBytes }

  /// Frees the slots into which a restore has placed no value. From then on the smallest free slot is used first.
  /// - Parameter isUsed: Returns whether a value was placed, rather than filled in as `empty`.
  mutating func freeUnused(_ isUsed: (Value) -> Bool) {
    free = FreeSlots(smallestFirst: true)
    for slot in values.indices where !isUsed(values[slot]) { free.add(UInt32(slot)) }
  }

  /// Removes a value and frees its slot.
  /// - Parameters:
  ///   - slot: A slot in use.
  ///   - empty: The value that takes its place, so that the removed one keeps no memory.
  mutating func remove(_ slot: Slot<Owner>, leaving empty: Value) {
    values[slot.index] = empty
    free.add(slot.number)
  }

  /// The value in a slot.
  subscript(slot: Slot<Owner>) -> Value {
    _read { yield values[slot.index] }
    _modify { yield &values[slot.index] }
  }

  /// Asks the processor to load the value in a slot, and does not wait for it.
  func prefetch(_ slot: Slot<Owner>) { values.prefetch(slot.index) }

  /// Traps if a slot is free twice or a free slot does not exist. For tests.
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
