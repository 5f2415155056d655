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
