import Domain

/// The timers of instances, the earliest first.
///
///      next − 1    next                        next + 1,022
///     ┌──────────┬───────┬───────┬─── … ───┬───────┐
///     │   heap   │ span  │ span  │         │ span  │   spans of 4 s, each a heap
///     └──────────┴───────┴───────┴─── … ───┴───────┘
///           others: a heap of the timers that have no place in these spans, such as those of tomorrow
///
/// Most timers are due within an hour. They are in heaps of four seconds each, which are small enough for the processor's caches,
/// whatever the number of timers; a heap of all of them waits for memory on each level. Timers fire from the earliest heap. When it is
/// empty the next span that has entries takes its place, and when an entry of an earlier span comes, it goes back to the
/// others. No step moves entries from one heap to another. The earliest timer of all is the first of one of two heaps.
///
/// A heap's nodes have four children each, because siblings stand side by side in memory.
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
    private var rank: Int128 { Int128(due.microseconds) << 64 | Int128(order) }

    /// Returns whether the first entry fires before the second.
    static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.rank < b.rank }
  }

  /// Entries in the order of a heap.
  fileprivate struct EntryHeap {
    var entries: ContiguousArray<Entry> = []
  }

  /// The entries of the span before `next`. Empty only if all spans are.
  private var heap = EntryHeap()
  /// The spans, each at its number modulo `spansMax`; none as long as no entry needs them.
  private var spans: ContiguousArray<EntryHeap> = []
  /// The entries that have no place in the spans.
  private var others = EntryHeap()
  /// The number of entries in the spans, those of `heap` included.
  private var near = 0
  /// The number of the span after that of `heap`. No span before it has entries.
  private var next = 0
  /// The largest number of a span that may have entries.
  private var last = 0
  /// The number of the span of the entry that was removed last, or of the log time at which the queue was built; nil before.
  private var passed: Int?

  private static let spansMax = 1024

  /// Creates an empty queue.
  init() {}

  /// Builds a queue of entries in any order.
  /// - Parameters:
  ///   - entries: The entries.
  ///   - now: Log time.
  init(_ entries: consuming ContiguousArray<Entry>, now: Timestamp? = nil) {
    passed = now.map { Int($0.microseconds >> 22) }
    fill(entries)
  }

  /// Returns the number of the span of an entry. A span takes 2^22 µs, 4.2 s.
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
  var first: Entry? {
    guard let first = heap.entries.first else { return others.entries.first }
    guard let other = others.entries.first, Entry.precedes(other, first) else { return first }
    return other
  }
  /// Returns an entry of the earliest span by its place in the heap, 0..<`upcomingCount`. An entry fires after its parent, so the
  /// next ones are in the first places.
  subscript(place: Int) -> Entry { heap.entries[place] }
  /// The number of entries of the earliest span.
  var upcomingCount: Int { heap.entries.count }
  /// The number of entries.
  var count: Int { near + others.entries.count }
  /// The bytes that the queue takes in memory.
  var bytes: Int {
    heap.entries.heldBytes + others.entries.heldBytes
      + spans.reduce(spans.heldBytes) { $0 + $1.entries.heldBytes }
  }

  /// Adds an entry.
  mutating func insert(_ entry: Entry) {
    let span = Self.span(of: entry)
    guard let place = place(of: span) else { return others.insert(entry) }
    near += 1
    switch place {
    case .heap: heap.insert(entry)
    case .span:
      makeSpans()
      last = max(last, span)
      spans[span & (Self.spansMax - 1)].insert(entry)
    case .before:
      // The span is empty, because it is before that of the heap.
      makeSpans()
      swap(&spans[(next - 1) & (Self.spansMax - 1)], &heap)
      next = span + 1
      heap.insert(entry)
    }
  }

  private enum TimerPlace { case heap, span, before }

  /// Returns the place of an entry of a span; nil if it has none in the spans.
  private mutating func place(of span: Int) -> TimerPlace? {
    if near == 0 {
      // A timer of tomorrow must not become the earliest span, which those of today would have to precede.
      if let passed, span >= passed + Self.spansMax { return nil }
      (next, last) = (span + 1, span)
      return .heap
    }
    if span == next - 1 { return .heap }
    if span >= next { return span < next - 1 + Self.spansMax ? .span : nil }
    return last - span < Self.spansMax ? .before : nil
  }

  private mutating func makeSpans() {
    if spans.isEmpty { spans = ContiguousArray(repeating: EntryHeap(), count: Self.spansMax) }
  }

  /// Makes the next span with entries that of the heap, which is empty. There is one.
  private mutating func moveOn() {
    while true {
      let place = next & (Self.spansMax - 1)
      next += 1
      if spans[place].entries.isEmpty { continue }
      // The memory of the old heap goes with it.
      heap = EntryHeap()
      return swap(&spans[place], &heap)
    }
  }

  /// Removes all entries and returns them, in no order.
  private mutating func takeAll() -> ContiguousArray<Entry> {
    var all: ContiguousArray<Entry> = []
    all.reserveCapacity(count)
    all += heap.entries
    for place in spans.indices where !spans[place].entries.isEmpty { all += spans[place].entries }
    all += others.entries
    let passed = passed
    self = TimerQueue()
    self.passed = passed
    return all
  }

  /// Fills the queue, which is empty.
  private mutating func fill(_ entries: consuming ContiguousArray<Entry>) {
    guard let earliest = entries.lazy.map({ Self.span(of: $0) }).min() else { return }
    // As for `place(of:)`: where all timers are those of tomorrow, those of today will come first.
    let begin = passed.map { earliest >= $0 + Self.spansMax ? $0 : max(earliest, $0) } ?? earliest
    (next, last) = (begin + 1, begin)
    for entry in entries {
      let span = Self.span(of: entry)
      guard (begin..<begin + Self.spansMax).contains(span) else {
        others.insert(entry)
        continue
      }
      near += 1
      last = max(last, span)
      if span == begin {
        heap.insert(entry)
      } else {
        makeSpans()
        spans[span & (Self.spansMax - 1)].insert(entry)
      }
    }
    if heap.entries.isEmpty, near > 0 { moveOn() }
  }

  /// Finds timers that are due, nearly those that fire next.
  /// - Parameters:
  ///   - now: Log time.
  ///   - instances: Receives the instances of these timers, from its first place on.
  /// - Returns: The number of timers found, at most 16.
  func due(at now: Timestamp, into instances: inout InlineArray<16, InstanceSlot>) -> Int {
    let filled = heap.due(at: now, into: &instances)
    if filled > 0 { return filled }
    guard let first, first.due <= now else { return 0 }
    instances[0] = first.instance
    return 1
  }

  /// Removes the entry that fires next, and returns it; nil if the queue is empty.
  mutating func removeFirst() -> Entry? {
    guard let first else { return nil }
    passed = max(passed ?? .min, Self.span(of: first))
    if let entry = heap.entries.first, !Entry.precedes(first, entry) {
      heap.removeFirst()
      near -= 1
      if heap.entries.isEmpty, near > 0 { moveOn() }
    } else {
      others.removeFirst()
    }
    return first
  }
}

extension TimerQueue.EntryHeap {
  private static let children = 4

  /// Adds an entry.
  mutating func insert(_ entry: TimerQueue.Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / Self.children
      guard TimerQueue.Entry.precedes(entry, entries[parent]) else { break }
      entries[child] = entries[parent]
      child = parent
    }
    entries[child] = entry
  }

  /// Removes the first entry. There must be one.
  mutating func removeFirst() {
    guard let last = entries.popLast(), !entries.isEmpty else { return }
    sink(last, from: 0)
  }

  /// Finds entries that are due (`TimerQueue.due`).
  func due(at now: Timestamp, into instances: inout InlineArray<16, InstanceSlot>) -> Int {
    guard let first = entries.first, first.due <= now else { return 0 }
    // An entry is due only if its parent is.
    var places = InlineArray<16, Int>(repeating: 0)
    var (filled, parent) = (1, 0)
    instances[0] = first.instance
    while parent < filled {
      let child = Self.children * places[parent] + 1
      parent += 1
      for place in child..<max(child, min(child + Self.children, entries.count)) where entries[place].due <= now {
        if filled == instances.count { return filled }
        (places[filled], instances[filled]) = (place, entries[place].instance)
        filled += 1
      }
    }
    return filled
  }

  /// Returns the place of the earliest of the siblings that begin at a place.
  @inline(__always)
  private func earliest(_ first: Int, _ count: Int) -> Int {
    guard first + Self.children <= count else {
      return (first..<count).reduce(first) { TimerQueue.Entry.precedes(entries[$1], entries[$0]) ? $1 : $0 }
    }
    let left = TimerQueue.Entry.precedes(entries[first + 1], entries[first]) ? first + 1 : first
    let right = TimerQueue.Entry.precedes(entries[first + 3], entries[first + 2]) ? first + 3 : first + 2
    return TimerQueue.Entry.precedes(entries[right], entries[left]) ? right : left
  }

  /// Puts an entry into the heap at the place `start`, or below it if earlier entries must rise.
  private mutating func sink(_ entry: TimerQueue.Entry, from start: Int) {
    var parent = start
    let count = entries.count
    while true {
      let first = Self.children * parent + 1
      guard first < count else { break }
      let child = earliest(first, count)
      guard TimerQueue.Entry.precedes(entries[child], entry) else { break }
      entries[parent] = entries[child]
      parent = child
    }
    entries[parent] = entry
  }
}
