import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

struct PricingTests {
  /// Returns the prices of one instance at its events, which arrive at the given minutes.
  private func prices(atMinutes minutes: [Int64], base: Double = 50) -> [Double] {
    var h = H(.flights { $0.price.base = base })
    h.register(.phone())
    return minutes.enumerated().compactMap { place, minute in
      h.event(.delay(Double(place) * 30, id: "e\(place)", at: H.noon + minute * H.minute)).first?.price
    }
  }

  @Test("while more events arrive than usual a token costs more, at most twice as much")
  func swelling() throws {
    let steady = (0..<12).map { Int64($0) * 10 }
    let usual = try #require(prices(atMinutes: steady).last)
    let swollen = prices(atMinutes: steady + (1...8).map { 110 + Int64($0) })
    let peak = try #require(swollen.last)
    #expect(swollen.count == 20)
    #expect(peak > usual * 1.1)
    #expect(peak < usual * 2)
  }

  @Test("after a lull a token costs less")
  func lull() throws {
    let steady = (0..<30).map { Int64($0) * 2 }
    let usual = try #require(prices(atMinutes: steady).last)
    let afterLull = try #require(prices(atMinutes: steady + [58 + 45]).last)
    // In three quarters of an hour, θ and the ratio of tokens to time have changed by less than a fifth.
    #expect(afterLull < usual * 0.8)
  }

  @Test("when too many causes wait, a repeat is dropped before the cause that it repeats")
  func room() throws {
    var h = H(.flights { $0.price.base = 50 })
    h.register(.phone())
    let max = PlannerBounds().causesPerInstanceMax
    for place in 0...max { h.event(.delay(30, id: "e\(place)", at: H.noon + Int64(place) * H.minute)) }
    let superseded = h.decisions.filter { $0.reason == .superseded }
    #expect(superseded.map(\.event) == ["e1"])
  }

  @Test("the price rises with each token that is spent early")
  func scarcity() {
    var h = H(.flights { $0.price.base = 0.01 })
    h.register(.phone())
    for place in 0..<30 {
      h.event(.delay(Double(place) * 30, id: "e\(place)", at: H.noon + Int64(place) * H.minute))
    }
    let paid = h.decisions.filter { $0.verdict == .emit }.map(\.price)
    #expect(paid.count > 10)
    #expect(zip(paid, paid.dropFirst()).allSatisfy { $1 > $0 })
  }

  @Test("a kind adopts the price level of its first instances, and from then on follows slowly")
  func kinds() {
    var kind = KindCurve()
    kind.configure(Policy.flights { $0.name = "K" }.kinds[0])
    kind.follow(theta: 3)
    #expect(kind.theta == 2)
    for _ in 0..<2000 { kind.follow(theta: 4) }
    #expect(abs(kind.theta - 4) < 0.01)
    kind.follow(theta: 260)
    #expect(abs(kind.theta - 5) < 0.1)
  }
}
