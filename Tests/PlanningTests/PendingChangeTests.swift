import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the changes that wait, and of the ways in which they end.
@Suite("Pending changes")
struct PendingChangeTests {
  @Test("a change below its price waits, and is pushed together with a change that is worth more")
  func belowPrice() {
    var h = H(.flights { $0.price.base = 1.5 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice)
    #expect(h.last[0].value < h.last[0].price)
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.reason) == [.emitted, .emittedCoalesced])
    #expect(h.last[0].value >= h.last[0].price)
  }

  @Test("a change below the floor does not wait")
  func belowFloor() {
    var h = H(
      .flights {
        $0.price.base = 0.8
        $0.price.floor = 0.6
      })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowFloor)
    #expect(h.only?.final == true)
  }

  @Test("one push serves all push-enabled widgets and is charged to each")
  func shared() throws {
    var h = H(.flights { $0.price.base = 0.9 })
    h.register(.phone(widgets: [.flight("w1"), .flight("w2", interests: ["flight/UA2"])]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice, "0.5 against two tokens of about 0.45 each")
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

  @Test("a change that is not pushed in time expires")
  func expired() {
    var h = H(.flights { $0.price.base = 5 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.drain()
    #expect(h.decisions.last?.reason == .expired)
    // Six half-lives of 20 min.
    #expect(h.decisions.last?.at == Timestamp(microseconds: H.noon + 2 * H.hour))
  }

  @Test("a widget that fetched by itself needs no push")
  func freshened() {
    var h = H(.flights { $0.price.base = 5 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.signal(.widgetFetched(instance: "w1"), at: H.noon + H.minute)
    #expect(h.only?.reason == .freshened)
    h.event(.delay(30, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("the changes that wait on a removed widget end")
  func instanceRemoved() {
    var h = H(.flights { $0.price.base = 5 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.register(.phone(widgets: [], at: H.noon + 1), at: H.noon + H.minute)
    #expect(h.only?.reason == .instanceRemoved)
    h.event(.delay(60, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.last.isEmpty)
  }

  @Test("waiting changes end when a new policy disables their kind")
  func switchedOff() {
    var h = H(.flights { $0.price.base = 5 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .belowPrice)
    h.planner.activate(.flights { $0.enabled = false })
    h.drain()
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
