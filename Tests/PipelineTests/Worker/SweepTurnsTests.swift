import Planning
import Testing

@testable import Pipeline

@Suite("Turns of sweeps") struct SweepTurnsTests {
  @Test("the thread rests two hundred times as long as a slice took, and at least 5 ms")
  func rest() {
    var turns = SweepTurns()
    #expect(turns.isDue(at: .zero))
    turns.rest(from: .seconds(1), to: .seconds(1) + .milliseconds(2))
    #expect(!turns.isDue(at: .seconds(1) + .milliseconds(401)))
    #expect(turns.isDue(at: .seconds(1) + .milliseconds(402)))
    turns.rest(from: .seconds(2), to: .seconds(2))
    #expect(!turns.isDue(at: .seconds(2) + .milliseconds(4)))
    #expect(turns.isDue(at: .seconds(2) + .milliseconds(5)))
  }

  @Test("partitions take turns, and one that is not due is passed over")
  func order() {
    var turns = SweepTurns()
    #expect(turns.choose(among: []) == nil)
    #expect(turns.choose(among: [2, 5, 9]) == 2)
    #expect(turns.choose(among: [2, 5, 9]) == 5)
    #expect(turns.choose(among: [2, 5]) == 2)
    #expect(turns.choose(among: [2]) == 2)
  }

  @Test("a sweep begins an interval after the one before it began, or when that is complete if it took longer")
  func interval() {
    var sweep = PartitionSweep()
    sweep.goesOn(at: .seconds(1), interval: .seconds(10))
    sweep.goesOn(at: .seconds(3), interval: .seconds(10))
    #expect(sweep.due == .zero && sweep.figures == nil)
    sweep.ended(.init(stride: 1), at: 77)
    #expect(sweep.due == .seconds(11) && sweep.completedAt == 77 && sweep.figures != nil)
    sweep.goesOn(at: .seconds(30), interval: .seconds(10))
    sweep.ended(.init(stride: 1), at: nil)
    #expect(sweep.due == .seconds(40) && sweep.completedAt == nil)
  }
}
