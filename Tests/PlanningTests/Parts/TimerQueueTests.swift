import Domain
import Testing

@testable import Planning

@Suite("The timer queue")
struct TimerQueueTests {
  /// An entry as the tests compare it.
  private struct Key: Hashable, Comparable {
    var due: Int64
    var order: UInt64

    init(_ entry: TimerQueue.Entry) { (due, order) = (entry.due.microseconds, entry.order) }

    static func < (a: Key, b: Key) -> Bool { (a.due, a.order) < (b.due, b.order) }
  }

  /// Returns a random entry; few different times, so that many are equal. The order falls as the instance rises, so that
  /// neither stands for the other.
  private static func entry(_ random: inout SeededRandom) -> TimerQueue.Entry {
    let instance = UInt32(random.below(50))
    return TimerQueue.Entry(
      due: Timestamp(microseconds: Int64(random.below(12))), order: 1000 - UInt64(instance),
      instance: InstanceSlot(instance))
  }

  private static func drain(_ queue: inout TimerQueue) -> [Key] {
    var keys: [Key] = []
    while let entry = queue.removeFirst() { keys.append(Key(entry)) }
    return keys
  }

  @Test("the first entry is always the earliest, and of equal ones that of the first device and instance")
  func model() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var queue = TimerQueue()
      var model: [Key] = []
      for step in 0..<200 {
        if random.chance(3, in: 5) {
          let entry = Self.entry(&random)
          queue.insert(entry)
          model.append(Key(entry))
          model.sort()
        } else {
          #expect(queue.removeFirst().map(Key.init) == model.first, "seed \(seed), step \(step)")
          model = Array(model.dropFirst())
        }
        #expect(queue.count == model.count && queue.first.map(Key.init) == model.first, "seed \(seed), step \(step)")
      }
      #expect(Self.drain(&queue) == model, "seed \(seed)")
    }
  }

  @Test("the order holds over hours and days, and whatever comes earlier than everything before")
  func spans() {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var (queue, model): (TimerQueue, [Key]) = (TimerQueue(), [])
      // Seconds, minutes, hours, and weeks ahead of a clock that stands, creeps or leaps.
      let ranges: [Int] = [5, 300, 7200, 2_000_000]
      var now = Int64(random.below(2_000_000_000)) * 1_000_000
      for step in 0..<1500 {
        let context = "seed \(seed), step \(step)"
        switch random.below(8) {
        case 0..<4:
          let ahead = random.below(ranges[random.below(ranges.count)] * 1_000_000)
          let instance = UInt32(random.below(50))
          let entry = TimerQueue.Entry(
            due: Timestamp(microseconds: now + Int64(ahead)), order: 1000 - UInt64(instance),
            instance: InstanceSlot(instance))
          queue.insert(entry)
          model.insert(Key(entry), at: model.firstIndex { Key(entry) < $0 } ?? model.count)
        case 4: now += Int64(random.below(ranges[random.below(3)])) * 1_000_000
        case 5 where random.below(20) == 0: queue.removeAll { _ in false }
        default:
          #expect(queue.removeFirst().map(Key.init) == model.first, "\(context)")
          model = Array(model.dropFirst())
        }
        #expect(queue.first.map(Key.init) == model.first, "\(context)")
        var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
        let due = queue.due(at: Timestamp(microseconds: now), into: &instances)
        #expect((due > 0) == (model.first.map { $0.due <= now } ?? false), "\(context)")
        #expect(queue.count == model.count && queue.upcomingCount <= queue.count, "\(context)")
      }
      let unique = Set(model).sorted()
      queue.removeAll { _ in false }
      #expect(Self.drain(&queue) == unique, "seed \(seed)")
      #expect(queue.bytes < 2_000_000 && queue.count == 0)
    }
  }

  @Test("a queue that is built at once fires like one that was filled entry by entry")
  func built() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let entries = (0..<random.below(60)).map { _ in Self.entry(&random) }
      var built = TimerQueue(ContiguousArray(entries))
      #expect(Self.drain(&built) == entries.map(Key.init).sorted(), "seed \(seed)")
    }
  }

  @Test("outdated and repeated entries are removed, all others stay in order")
  func removal() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let entries = (0..<60).map { _ in Self.entry(&random) }
      let outdated = Set((0..<20).map { _ in InstanceSlot(UInt32(random.below(50))) })
      var queue = TimerQueue(ContiguousArray(entries))
      queue.removeAll { outdated.contains($0.instance) }
      let expected = Set(entries.filter { !outdated.contains($0.instance) }.map(Key.init)).sorted()
      #expect(queue.count == expected.count, "seed \(seed)")
      #expect(Self.drain(&queue) == expected, "seed \(seed)")
    }
  }

  @Test("an empty queue has no first entry")
  func empty() {
    var queue = TimerQueue()
    #expect(queue.first == nil && queue.removeFirst() == nil && queue.count == 0)
    queue.removeAll { _ in true }
    #expect(queue.count == 0)
  }
}
