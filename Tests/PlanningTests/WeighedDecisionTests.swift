import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the numbers in looks that decisions carry.
@Suite("Decisions in looks")
struct WeighedDecisionTests {
  /// A policy whose people look at every hour alike: 50 looks a day.
  private static let alike = Policy.flights { $0.views = [Double](repeating: 1, count: 24) }

  @Test("a push tells how wrong the screen was before it, the looks ahead, and what both are worth")
  func parts() throws {
    var h = H(Self.alike)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let decision = try #require(h.only)
    #expect(decision.reason == .emitted)
    #expect(decision.wrong > 0 && decision.wrong <= 1)
    #expect(abs(decision.looks - 50.0 / 24 / 3) < 1e-6)
    #expect(decision.value > 0 && abs(decision.value - decision.worth) < 1e-6)
  }

  @Test("a decision that was made before anything was weighed has no such numbers")
  func notWeighed() {
    var h = H(Self.alike)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .duplicate)
    #expect(h.only?.isWeighed == false)
  }

  /// A push also reloads instances that no waiting event is about, such as one whose event has expired while its screen stayed
  /// wrong. No decision tells their worth.
  @Test("the value of a push is the sum over the instances that it reloads", arguments: 1...8 as ClosedRange<UInt64>)
  func sums(seed: UInt64) throws {
    var life = RandomLife(seed: seed)
    for _ in 0..<1000 { life.step() }
    let sent = life.harness.decisions.filter { $0.isWeighed }
    let byCommand = Dictionary(grouping: sent) { $0.command ?? "" }
    var together = 0
    for command in life.harness.commands {
      guard let decisions = byCommand[command.command] else { continue }
      let worths = Dictionary(decisions.map { ($0.instance, $0.worth) }) { $1 }
      let sum = worths.values.reduce(0, +)
      let reloaded = Set(command.charged.filter { $0.ledger == .instance }.map(\.owner))
      for decision in decisions {
        #expect((0...1).contains(decision.wrong) && decision.looks >= 0, "seed \(seed): \(decision)")
        #expect(decision.value > sum - 1e-4, "seed \(seed): \(decision)")
        if reloaded.isSubset(of: worths.keys) {
          #expect(abs(decision.value - sum) < 1e-4, "seed \(seed): \(decision)")
          if worths.count > 1 { together += 1 }
        }
      }
    }
    #expect(together > 0, "seed \(seed): no push reloaded two instances")
  }
}
