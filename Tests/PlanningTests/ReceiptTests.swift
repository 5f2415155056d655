import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of how long pushes take until a widget fetches, as its receipts say.
@Suite("Receipts")
struct ReceiptTests {
  /// Returns the counts of the kind; empty ones if there are none.
  private static func receipts(_ planner: inout Planner) -> OutcomeCounts {
    var all = OutcomeCounts()
    planner.takeOutcomes { kind, counts in
      #expect(kind == "FlightStatus")
      all = counts
    }
    return all
  }

  /// Expects one time, in the bucket that ends at `bound`, with a sum that is within 1 %.
  private static func expect(_ times: OutcomeCounts.Times, upTo bound: Double, near sum: Double) throws {
    let place = try #require(OutcomeCounts.fetchBounds.firstIndex(of: bound))
    #expect(times.buckets.indices.filter { times.buckets[$0] > 0 } == [place] && times.buckets[place] == 1)
    #expect(abs(times.sum / sum - 1) < 0.01)
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
    let counts = Self.receipts(&h.planner)
    try Self.expect(counts.fetches, upTo: 30, near: 20)
    try Self.expect(counts.shownEvents, upTo: 30, near: 20)
    #expect(Self.receipts(&h.planner) == OutcomeCounts())
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
    #expect(Self.receipts(&h.planner).fetches.isEmpty)
  }

  @Test("a device in developer mode does not count")
  func developer() {
    var h = H(.flights())
    h.register(.phone(developerMode: true))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.verdict == .emit)
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute)
    #expect(Self.receipts(&h.planner).fetches.isEmpty)
  }

  @Test("the age of an event at the fetch counts from its own time, of the oldest one if the push shows several")
  func waited() throws {
    var h = H(.slowDelays())
    h.register(.phone())
    h.event(.delay(30, id: "e0", at: H.noon))
    #expect(h.only?.reason == .emitted)
    // Published 40 s after it happened, and held back by the minimum interval together with a later one.
    h.event(.delay(40, id: "e1", at: H.noon + H.minute), at: H.noon + H.minute + 40_000_000)
    h.event(.delay(55, id: "e2", at: H.noon + 3 * H.minute))
    h.drain(until: H.noon + 20 * H.minute)
    #expect(h.last.contains { $0.reason == .emittedAfterDefer })
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + 16 * H.minute)
    let counts = Self.receipts(&h.planner)
    try Self.expect(counts.fetches, upTo: 60, near: 60)
    try Self.expect(counts.shownEvents, upTo: 900, near: 900)
  }

  @Test("a registration that is older than the known one is counted as outdated, an equally old one is applied again")
  func outdated() {
    var h = H(.flights())
    h.register(.phone(at: H.noon))
    h.register(.phone(at: H.noon))
    #expect(h.planner.takeOutdatedRegistrations() == 0)
    h.register(.phone(at: H.noon - 1), at: H.noon + 1)
    #expect(h.planner.takeOutdatedRegistrations() == 1)
    #expect(h.planner.takeOutdatedRegistrations() == 0)
  }
}
