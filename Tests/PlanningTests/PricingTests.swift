import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

struct PricingTests {
  @Test("when too many causes wait, a repeat is dropped before the cause that it repeats")
  func room() throws {
    // On a board of many subjects, what waits is news: here the same cancelled flight again and again.
    let night = QuietHours(fromMinute: 12 * 60, toMinute: 18 * 60, exceptRelevance: 2)
    var h = H(.flights(also: { $0.quietHours = night }))
    h.register(.phone(widgets: [.flight(interests: ["airport/EWR"])]))
    let max = PlannerBounds().causesPerInstanceMax
    for place in 0...max {
      h.event(.delay(30, id: "e\(place)", at: H.noon + Int64(place) * H.minute, type: "flight.cancelled"))
    }
    let superseded = h.decisions.filter { $0.reason == .superseded }
    #expect(superseded.map(\.event) == ["e1"])
  }
}
