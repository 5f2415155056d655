import Domain

/// The timers of instances, the earliest first, in a heap whose nodes have four children each. Siblings stand side by side in
/// memory, so a heap that is larger than the processor's caches waits for memory half as often as one with two children each.
///
/// Timers of the same time fire in the order of devices and their instances. So the order does not depend on when a
/// timer was set, and a restored planner fires its timers in the same order as the one that it replaces.
struct TimerQueue {
  /// A timer of one instance.
  struct Entry {
    /// The log time at which it fires.
    var due: Timestamp
    /// The sort key of the instance (`InstanceState.order`): its device, then its index.
    var order: UInt64
    /// The instance to examine.
    var instance: InstanceSlot

    /// The time, then the order, as one number. Comparing it takes no branch, which the processor would often predict wrongly.
    @inline(__always)
    private var rank: Int128 { Int128(due.microseconds) << 64 | Int128(order) }

    /// Returns whether the first entry fires before the second.
    @inline(__always)
    static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.rank < b.rank }
  }

  private var heap: ContiguousArray<Entry> = []
  private static let children = 4

  /// Creates an empty queue.
  init() {}

  /// Builds a queue of entries in any order.
  init(_ entries: consuming ContiguousArray<Entry>) {
    heap = entries
    for parent in stride(from: (heap.count + 2) / Self.children - 1, through: 0, by: -1) {
      sink(heap[parent], from: parent)
    }
  }

  /// Returns the number of entries beyond which outdated ones are removed. At least half of the entries are outdated then, so
  /// that this happens seldom and costs little.
  /// - Parameter waiting: The number of instances that wait.
  static func entriesMax(waiting: Int) -> Int { 2 * waiting + 64 }

  /// Removes outdated and repeated entries.
  /// - Parameter isOutdated: Returns whether an entry no longer stands for its instance.
  mutating func removeAll(where isOutdated: (Entry) -> Bool) {
    heap.removeAll(where: isOutdated)
    heap.sort { ($0.instance, $0.due) < ($1.instance, $1.due) }
    var kept = 0
    for entry in heap {
      if kept > 0, heap[kept - 1].instance == entry.instance, heap[kept - 1].due == entry.due { continue }
      heap[kept] = entry
      kept += 1
    }
    heap.removeLast(heap.count - kept)
    self = TimerQueue(heap)
  }

  /// The entry that fires next; nil if the queue is empty.
  var first: Entry? { heap.first }
  /// Returns the entry at a place of the heap, 0..<`count`. An entry fires after its parent, so the next ones are in the first places.
  subscript(place: Int) -> Entry { heap[place] }
  /// The number of entries.
  var count: Int { heap.count }
  /// The bytes that the queue takes in memory.
  var bytes: Int { heap.heldBytes }

  /// Adds an entry.
  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / Self.children
      guard Entry.precedes(entry, heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = entry
  }

  /// Returns the place of the earliest of the siblings that begin at a place.
  @inline(__always)
  private func earliest(_ first: Int, _ count: Int) -> Int {
    guard first + Self.children <= count else {
      return (first..<count).reduce(first) { Entry.precedes(heap[$1], heap[$0]) ? $1 : $0 }
    }
    let left = Entry.precedes(heap[first + 1], heap[first]) ? first + 1 : first
    let right = Entry.precedes(heap[first + 3], heap[first + 2]) ? first + 3 : first + 2
    return Entry.precedes(heap[right], heap[left]) ? right : left
  }

  /// Finds timers that are due, nearly those that fire next.
  /// - Parameters:
  ///   - now: Log time.
  ///   - instances: Receives the instances of these timers, from its first place on.
  /// - Returns: The number of timers found, at most 16.
  func due(at now: Timestamp, into instances: inout InlineArray<16, InstanceSlot>) -> Int {
    guard let first, first.due <= now else { return 0 }
    // An entry is due only if its parent is.
    var places = InlineArray<16, Int>(repeating: 0)
    var (filled, parent) = (1, 0)
    instances[0] = first.instance
    while parent < filled {
      let child = Self.children * places[parent] + 1
      parent += 1
      for place in child..<max(child, min(child + Self.children, heap.count)) where heap[place].due <= now {
        if filled == instances.count { return filled }
        (places[filled], instances[filled]) = (place, heap[place].instance)
        filled += 1
      }
    }
    return filled
  }

  /// Removes the entry that fires next, and returns it; nil if the queue is empty.
  mutating func removeFirst() -> Entry? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if !heap.isEmpty { sink(last, from: 0) }
    return first
  }

  /// Puts an entry into the heap at the place `start`, or below it if earlier entries must rise.
  private mutating func sink(_ entry: Entry, from start: Int) {
    var parent = start
    let count = heap.count
    while true {
      let first = Self.children * parent + 1
      guard first < count else { break }
      let child = earliest(first, count)
      guard Entry.precedes(heap[child], entry) else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = entry
  }
}
