import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of how long pushes take until a widget fetches, as its receipts say.
@Suite("Receipts")
struct ReceiptTests {
  /// Returns the number of receipts by the place of their bucket, and the sum of their times in seconds.
  private static func receipts(_ planner: inout Planner) -> (buckets: [Int: UInt64], sum: Double) {
    var (buckets, sum): ([Int: UInt64], Double) = ([:], 0)
    planner.takeOutcomes { kind, counts in
      #expect(kind == "FlightStatus")
      for (place, count) in counts.fetches.enumerated() where count > 0 { buckets[place] = count }
      sum += counts.fetchSum
    }
    return (buckets, sum)
  }

  @Test("the first fetch after a push is its receipt; a second one, and one without a push, is none")
  func first() throws {
    var h = H(.flights())
    h.register(.phone())
    h.signal(.widgetFetched(instance: "w1"), at: H.noon)
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .emitted)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute + 20_000_000)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 2 * H.minute)
    let (buckets, sum) = Self.receipts(&h.planner)
    #expect(buckets == [try #require(OutcomeCounts.fetchBounds.firstIndex(of: 30)): 1])
    #expect(sum == 20)
    #expect(Self.receipts(&h.planner).buckets.isEmpty)
  }

  @Test("after a scheduled reload, a fetch may be that of the reload, so it is no receipt")
  func scheduled() {
    var h = H(.flights())
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 30 * H.minute)]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .emitted)
    h.event(.delay(30, id: "e2", at: H.noon + 31 * H.minute))
    #expect(h.only?.reason == .notVisible)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 32 * H.minute)
    #expect(Self.receipts(&h.planner).buckets.isEmpty)
  }

  @Test("a device in developer mode does not count")
  func developer() {
    var h = H(.flights())
    h.register(.phone(developerMode: true))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.verdict == .emit)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute)
    #expect(Self.receipts(&h.planner).buckets.isEmpty)
  }
}
