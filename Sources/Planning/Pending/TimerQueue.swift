import Domain

/// A binary heap of (due time, instance). Equal times fire in the order of devices and their instances, so the order does
/// not depend on when a timer was set, and a restored planner fires exactly like the one that was lost.
struct TimerQueue {
  struct Entry {
    var due: Timestamp
    /// The tie-break: device slot and index in the device (`InstanceState.order`).
    var order: UInt64
    var instance: InstanceSlot

    @inline(__always)
    static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.due != b.due ? a.due < b.due : a.order < b.order }
  }

  private var heap: ContiguousArray<Entry> = []

  init() {}

  /// Builds a queue of entries in any order.
  init(_ entries: consuming ContiguousArray<Entry>) {
    heap = entries
    for parent in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(heap[parent], from: parent) }
  }

  /// Returns the number of entries beyond which outdated ones are removed, given how many instances wait. That is seldom
  /// enough to cost nothing, since at least half of the entries go each time.
  static func entriesMax(waiting: Int) -> Int { 2 * waiting + 64 }

  /// Removes the entries for which `isOutdated` returns true, and repeated ones.
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

  var first: Entry? { heap.first }
  var count: Int { heap.count }
  /// The bytes of the table.
  var bytes: Int { heap.heldBytes }

  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) >> 1
      guard Entry.precedes(entry, heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = entry
  }

  mutating func removeFirst() -> Entry? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if !heap.isEmpty { sink(last, from: 0) }
    return first
  }

  /// Puts an entry at `start` or below it.
  private mutating func sink(_ entry: Entry, from start: Int) {
    var parent = start
    let count = heap.count
    while true {
      var child = 2 * parent + 1
      guard child < count else { break }
      if child + 1 < count, Entry.precedes(heap[child + 1], heap[child]) { child += 1 }
      guard Entry.precedes(heap[child], entry) else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = entry
  }
}
