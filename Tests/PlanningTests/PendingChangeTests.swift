import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the changes that wait, and of the ways in which they end.
@Suite("Pending changes")
struct PendingChangeTests {
  /// So much demand that a token costs 0.3 looks at noon, when all 48 are left and two thirds of the day are to come.
  /// The looks of 20 minutes are 50 / 72 = 0.69.
  private static let threeTenths = DemandPrior(need: 1e6, worth: 17.28, worthPerToken: .infinity)

  @Test("a change below its price waits, and is pushed together with changes that make the screen more wrong")
  func belowPrice() {
    var h = H(
      .flights { $0.displays = [DisplayField(path: "data.delay", round: 5, weight: 0.3)] }, demand: Self.threeTenths)
    h.register(.phone(widgets: [.flight(interests: ["flight/UA1", "flight/UA2", "flight/UA3"])]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice)
    #expect(h.last[0].value < h.last[0].price)
    h.event(.delay(30, id: "e2", subject: "flight/UA2", at: H.noon + 1))
    #expect(h.only?.reason == .belowPrice)
    h.event(.delay(30, id: "e3", subject: "flight/UA3", at: H.noon + 2))
    #expect(h.last.map(\.reason) == [.emitted, .emittedCoalesced, .emittedCoalesced])
    #expect(h.last[0].value >= h.last[0].price)
  }

  @Test("one push serves all push-enabled widgets and is charged to each")
  func shared() throws {
    var h = H(
      .flights { $0.displays = [DisplayField(path: "data.delay", round: 5, weight: 0.7)] }, demand: Self.threeTenths)
    h.register(.phone(widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA2"])]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice, "0.7^1.5 · 0.69 = 0.41 against two tokens of 0.3 each")
    h.event(.delay(30, id: "e2", subject: "flight/UA2", at: H.noon + H.minute))
    #expect(h.last.map(\.reason) == [.emitted, .emittedShared])
    let command = try #require(h.lastCommands.first)
    #expect(command.charged.map(\.owner) == ["w2", "w1"].sorted())
    #expect(command.serves.map(\.instance).sorted() == ["w1", "w2"])
  }

  @Test("an undone change supersedes the waiting changes")
  func superseded() {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    h.event(.delay(10, id: "e3", at: H.noon + 4 * H.minute))
    #expect(h.last.map(\.reason) == [.superseded, .notVisible])
    #expect(h.last.map(\.event) == ["e2", "e3"])
  }

  @Test("news that is not pushed in time expires")
  func expired() {
    var h = H(
      .flights(
        { $0.displays = [] },
        also: { $0.quietHours = QuietHours(fromMinute: 12 * 60, toMinute: 18 * 60, exceptRelevance: 1) }))
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.drain()
    #expect(h.decisions.last?.reason == .expired)
    // Six half-lives of 20 min.
    #expect(h.decisions.last?.at == Timestamp(microseconds: H.noon + 2 * H.hour))
  }

  @Test("a widget that fetched by itself needs no push")
  func freshened() {
    var h = H(demand: .high)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute)
    #expect(h.only?.reason == .freshened)
    h.event(.delay(30, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("the changes that wait on a removed widget end")
  func instanceRemoved() {
    var h = H(demand: .high)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.register(.phone(widgets: [], at: H.noon + 1), at: H.noon + H.minute)
    #expect(h.only?.reason == .instanceRemoved)
    h.event(.delay(60, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.last.isEmpty)
  }

  @Test("waiting changes end when a new policy disables their kind")
  func switchedOff() {
    var h = H(demand: .high)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice)
    h.activate(.flights { $0.enabled = false })
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.filter(\.final).count == 1)
  }

  @Test("the decisions of timers come before the changes of the record that fired them")
  func timersFirst() throws {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    h.apply(.forget(device: "d1"), at: H.noon + H.hour)
    #expect(h.lastCommands.map(\.apns.address) == [.token("aa11")])
    #expect(h.last.first?.reason == .emittedAfterDefer)
    #expect(h.last.first?.policy.version == "test")
  }

  @Test("a timeline reload shows the changes that waited before it")
  func ownReload() {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 10 * H.minute)]))
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.map(\.reason) == [.emitted, .minInterval, .freshened])
    #expect(h.commands.count == 1)
  }
}
