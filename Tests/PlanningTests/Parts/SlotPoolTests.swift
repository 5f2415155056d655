import Domain
import Testing

@testable import Planning

@Suite("Values in numbered slots")
struct SlotPoolTests {
  private enum Tag {}
  private typealias Pool = SlotPool<Tag, Int>
  private static let empty = -1

  @Test("a pool equals a dictionary after random insertions and removals", arguments: [false, true])
  func model(smallestFirst: Bool) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var pool = Pool(smallestFirst: smallestFirst)
      var model: [UInt32: Int] = [:]
      var free: [UInt32] = []
      for step in 0..<150 {
        let context = "seed \(seed), step \(step)"
        if model.isEmpty || random.chance(3, in: 5) {
          let expected = smallestFirst ? free.min() : free.last
          let slot = pool.insert(step)
          #expect(slot.number == expected ?? UInt32(model.count + free.count), "\(context)")
          free.removeAll { $0 == slot.number }
          model[slot.number] = step
        } else {
          let slot = try #require(model.keys.sorted().dropFirst(random.below(model.count)).first)
          pool.remove(Slot(slot), leaving: Self.empty)
          model[slot] = nil
          free.append(slot)
        }
        pool.checkInvariants()
        #expect(pool.liveCount == model.count && pool.capacity == model.count + free.count, "\(context)")
        #expect(pool.slots.map { pool[$0] } == pool.slots.map { model[$0.number] ?? Self.empty }, "\(context)")
      }
    }
  }

  @Test("after a restore the gaps are filled from the smallest on")
  func restore() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var places = Array(0..<40 as Range<UInt32>)
      random.shuffle(&places)
      let used = Set(places.prefix(1 + random.below(39)))
      var pool = Pool(smallestFirst: true)
      for place in places where used.contains(place) { pool.place(Int(place), at: Slot(place), empty: Self.empty) }
      pool.freeUnused { $0 != Self.empty }
      pool.checkInvariants()
      #expect(pool.liveCount == used.count, "seed \(seed)")
      #expect(used.allSatisfy { pool[Slot($0)] == Int($0) }, "seed \(seed)")
      let capacity = UInt32(pool.capacity)
      let gaps = (0..<capacity).filter { !used.contains($0) }
      for expected in gaps + [capacity, capacity + 1] {
        #expect(pool.insert(7).number == expected, "seed \(seed)")
      }
    }
  }

  @Test("a value is changed in place")
  func change() {
    var pool = Pool()
    let slot = pool.insert(1)
    pool[slot] += 4
    #expect(pool[slot] == 5)
  }

  @Test("the absent slot is no slot, and all others are")
  func absent() {
    #expect(Slot<Tag>.absent.isAbsent && Slot<Tag>.absent.ifPresent == nil)
    #expect(Slot<Tag>(0).ifPresent == Slot(0) && !Slot<Tag>(.max - 1).isAbsent)
    #expect(Slot<Tag>(3) < Slot(4))
  }
}
