import Domain

/// The timers of instances, the earliest first.
///
///      origin            next                            origin + 1,024
///     ┌───────┬─── … ───┬───────┬───────┬─── … ───┬───────┐
///     │ empty │         │ span  │ span  │         │ span  │   spans of 4 s each, in no order
///     └───────┴─── … ───┴───────┴───────┴─── … ───┴───────┘
///           heap: the span before `next`                      beyond: what is due later
///
/// Only the entries of the earliest span are in order, in a heap. It is small enough for the processor's caches, whatever the
/// number of timers; a heap of all of them would wait for memory on each level. A heap's nodes have four children each, because
/// siblings stand side by side in memory.
///
/// When the heap is empty the next span that has entries becomes the heap. When an earlier entry comes, the heap becomes an ordinary
/// span again, and keeps its order until it is needed. When all spans are empty, or an entry is earlier than all of them, they begin
/// anew at the earliest entry.
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

  /// The entries of one span.
  private struct QueueSpan {
    var entries: ContiguousArray<Entry> = []
    /// Whether the entries are a heap.
    var isHeap = false
  }

  /// The entries of the span before `next`. Empty only if the queue is.
  private var heap: ContiguousArray<Entry> = []
  /// The spans, each at its number modulo `spansMax`; empty as long as no entry needs them.
  private var spans: ContiguousArray<QueueSpan> = []
  /// The entries that are due behind the last span.
  private var beyond: ContiguousArray<Entry> = []
  /// The number of the first span.
  private var origin = 0
  /// The number of the span after that of the heap. No span before it has entries.
  private var next = 0
  /// The number of entries.
  private(set) var count = 0

  private static let children = 4
  private static let spansMax = 1024
  /// The number of spans before the earliest entry, for entries that come later and are due earlier.
  private static let spansBefore = 64

  /// Creates an empty queue.
  init() {}

  /// Builds a queue of entries in any order.
  init(_ entries: consuming ContiguousArray<Entry>) { fill(entries) }

  /// Returns the number of the span of an entry. A span takes 2^22 µs, 4.2 s.
  @inline(__always)
  private static func span(of entry: Entry) -> Int { Int(entry.due.microseconds >> 22) }

  /// Returns the number of entries beyond which outdated ones are removed. At least half of the entries are outdated then, so
  /// that this happens seldom and costs little.
  /// - Parameter waiting: The number of instances that wait.
  static func entriesMax(waiting: Int) -> Int { 2 * waiting + 64 }

  /// Removes outdated and repeated entries.
  /// - Parameter isOutdated: Returns whether an entry no longer stands for its instance.
  mutating func removeAll(where isOutdated: (Entry) -> Bool) {
    var entries = takeAll()
    entries.removeAll(where: isOutdated)
    entries.sort { ($0.instance, $0.due) < ($1.instance, $1.due) }
    var kept = 0
    for entry in entries {
      if kept > 0, entries[kept - 1].instance == entry.instance, entries[kept - 1].due == entry.due { continue }
      entries[kept] = entry
      kept += 1
    }
    entries.removeLast(entries.count - kept)
    fill(entries)
  }

  /// The entry that fires next; nil if the queue is empty.
  var first: Entry? { heap.first }
  /// Returns an entry of the earliest span by its place in the heap, 0..<`upcomingCount`. An entry fires after its parent, so the
  /// next ones are in the first places.
  subscript(place: Int) -> Entry { heap[place] }
  /// The number of entries of the earliest span.
  var upcomingCount: Int { heap.count }
  /// The bytes that the queue takes in memory.
  var bytes: Int { heap.heldBytes + beyond.heldBytes + spans.reduce(spans.heldBytes) { $0 + $1.entries.heldBytes } }

  /// Adds an entry.
  mutating func insert(_ entry: Entry) {
    let span = Self.span(of: entry)
    if count == 0 {
      begin(at: span)
    } else if span < origin {
      var entries = takeAll()
      entries.append(entry)
      return fill(entries)
    }
    count += 1
    if span == next - 1 { return Self.rise(entry, in: &heap) }
    if span < next { retreat(to: span) } else { return put(entry, span) }
    heap.append(entry)
  }

  /// Begins with empty spans.
  /// - Parameter span: The number of the span of the earliest entry, which becomes that of the heap.
  private mutating func begin(at span: Int) { (origin, next) = (span - Self.spansBefore, span + 1) }

  /// Adds an entry to a span that is not that of the heap.
  private mutating func put(_ entry: Entry, _ span: Int) {
    if span >= origin + Self.spansMax { return beyond.append(entry) }
    if spans.isEmpty { spans = ContiguousArray(repeating: QueueSpan(), count: Self.spansMax) }
    let place = span & (Self.spansMax - 1)
    if spans[place].isHeap {
      Self.rise(entry, in: &spans[place].entries)
    } else {
      spans[place].entries.append(entry)
    }
  }

  /// Makes an earlier span, which is empty, that of the heap.
  private mutating func retreat(to span: Int) {
    if spans.isEmpty { spans = ContiguousArray(repeating: QueueSpan(), count: Self.spansMax) }
    let place = (next - 1) & (Self.spansMax - 1)
    swap(&spans[place].entries, &heap)
    spans[place].isHeap = true
    next = span + 1
  }

  /// Makes the next span with entries that of the heap, which is empty. The queue is not.
  private mutating func moveOn() {
    while next < origin + Self.spansMax, !spans.isEmpty {
      let place = next & (Self.spansMax - 1)
      next += 1
      if spans[place].entries.isEmpty { continue }
      let isHeap = spans[place].isHeap
      // The memory of the old heap goes with it.
      heap = []
      swap(&spans[place].entries, &heap)
      spans[place].isHeap = false
      if !isHeap { makeHeap() }
      return
    }
    fill(takeAll())
  }

  /// Removes all entries and returns them, in no order.
  private mutating func takeAll() -> ContiguousArray<Entry> {
    var all: ContiguousArray<Entry> = []
    all.reserveCapacity(count)
    all += heap
    for place in spans.indices where !spans[place].entries.isEmpty { all += spans[place].entries }
    all += beyond
    self = TimerQueue()
    return all
  }

  /// Fills the queue, which is empty.
  private mutating func fill(_ entries: consuming ContiguousArray<Entry>) {
    guard let earliest = entries.lazy.map({ Self.span(of: $0) }).min() else { return }
    count = entries.count
    begin(at: earliest)
    for entry in entries {
      let span = Self.span(of: entry)
      if span == earliest { heap.append(entry) } else { put(entry, span) }
    }
    makeHeap()
  }

  private mutating func makeHeap() {
    for parent in stride(from: (heap.count + 2) / Self.children - 1, through: 0, by: -1) {
      sink(heap[parent], from: parent)
    }
  }

  private static func rise(_ entry: Entry, in heap: inout ContiguousArray<Entry>) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / children
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
    count -= 1
    if !heap.isEmpty {
      sink(last, from: 0)
    } else if count > 0 {
      moveOn()
    }
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
