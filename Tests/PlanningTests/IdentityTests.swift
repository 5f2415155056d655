import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

@Suite("Events of other publishers")
struct IdentityTests {
  /// With its type, the subject of the first event had the hash of the second one's subject and type, as long as that hash had 64 bits
  /// and no key. It was found in less than a second.
  @Test("an event is not stale because of a newer one with another subject and type")
  func otherSubject() {
    var h = H()
    h.register(.phone(widgets: [.flight(interests: ["flight/UA1545"])]))
    h.event(.delay(0, id: "x-1", subject: "lounge/5267.....;1UsK$&S", at: H.noon + 1_000_000, type: "lounge.opened"))
    h.event(.delay(60, id: "e-1", subject: "flight/UA1545", at: H.noon, type: "flight.cancelled"))
    #expect(h.only?.event == "e-1" && h.only?.reason != .staleEvent)
  }

  /// The source and the id of the first event had the hash of the second one's, likewise.
  @Test("an event is not a duplicate of one with another source and id")
  func otherSource() {
    var h = H()
    h.register(.phone())
    var (first, second) = (
      DomainEvent.delay(30, id: "i(ZG%=x<", at: H.noon), DomainEvent.delay(60, id: "e-1", at: H.noon + H.minute)
    )
    first.source = "/lounge/940"
    second.source = "/flights/nyc"
    h.event(first)
    h.event(second)
    #expect(h.only?.event == "e-1" && h.only?.reason != .duplicate)
  }

  /// Each pair has the same 51 bits with the standard key, by which texts of displayed fields were once known. They were found in a minute.
  @Test(
    "a screen is not right because the true text has a hash like that of the shown one",
    arguments: [("hceljol", "pdnpldk"), ("dhdooaa", "pojdnlf"), ("hmginll", "nolapaa")])
  func otherText(shown: String, truth: String) {
    let (a, b) = (DisplayedValue(.string(shown)), DisplayedValue(.string(truth)))
    #expect(a != b && (a.low ^ b.low) & 0x7_ffff_ffff_ffff == 0)
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon, status: shown))
    h.event(.delay(30, id: "e2", at: H.noon + H.minute, status: shown))
    #expect(h.only?.reason == .notVisible)
    h.event(.delay(30, id: "e3", at: H.noon + 2 * H.minute, status: truth))
    #expect(h.only?.reason.outcome == .sent)
  }

  @Test("a restored planner has the hash key of its state")
  func keptKey() {
    let key = HashKey(low: 1, high: 2)
    var h = H(hashKey: key)
    h.losesPlanner = { true }
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .duplicate && h.planner.fleet.hashKey == key && h.restarts > 0)
    h.event(.delay(30, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .notVisible)
    h.event(.delay(30, id: "e3", at: H.noon + 3 * H.minute, status: "boarding"))
    #expect(h.only?.reason.outcome == .sent)
  }

  @Test("no decision and no command depends on the hash key", arguments: 0..<6 as Range<UInt64>)
  func anyKey(seed: UInt64) {
    var planners = [H(), H(hashKey: HashKey(low: seed, high: ~seed))]
    for place in planners.indices {
      var random = SeededRandom(seed: seed)
      for phone in 0..<4 {
        let interests: [Identifier] = ["flight/UA\(phone)", "airport/EWR"]
        planners[place].register(.phone("d\(phone)", widgets: [.flight(interests: interests)]))
      }
      var time = H.noon
      for i in 0..<300 {
        time += Int64.random(in: 0...(5 * H.minute), using: &random)
        let event = DomainEvent.delay(
          Double(i % 5) * 10, id: "e\(random.below(200))", subject: "flight/UA\(random.below(5))",
          at: time - Int64.random(in: 0...H.minute, using: &random),
          status: "status \(random.below(3))")
        planners[place].event(event, at: time)
      }
      planners[place].drain(until: time + 30 * H.hour)
    }
    #expect(planners[0].decisions == planners[1].decisions && planners[0].commands == planners[1].commands)
    #expect(planners[0].decisions.count > 200)
  }
}
