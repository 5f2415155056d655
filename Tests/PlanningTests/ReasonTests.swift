import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of the reason codes, one for each, in the order of the checks, and of the rules around them.
@Suite struct ReasonTests {
  @Test("a change worth its price is emitted as a widget push that names no kind")
  func emitted() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let decision = try #require(h.only)
    #expect(decision.verdict == .emit)
    #expect(decision.reason == .emitted)
    #expect(decision.final)
    #expect(decision.events == ["e1"])
    #expect(decision.tokensLeft.instance == 47)
    #expect(decision.decision == "d-0-1-1")
    let command = try #require(h.lastCommands.first)
    #expect(decision.command == command.command)
    #expect(command.apns.payload == #"{"aps":{"content-changed":true}}"#)
    #expect(command.apns.headers.contains(Command.Header(name: "apns-push-type", value: "widgets")))
    #expect(
      command.apns.headers.contains(
        Command.Header(name: "apns-topic", value: "com.example.flights.push-type.widgets")))
    #expect(command.charged == [Command.Charge(ledger: .instance, owner: "w1", left: 47)])
  }

  @Test("a repeated event is a duplicate, and the first decision stays final")
  func duplicate() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .duplicate)
    #expect(h.only?.final == false)
  }

  @Test("an event older than the newest of its subject and type is stale")
  func stale() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e2", at: H.noon + H.minute))
    h.event(.delay(10, id: "e1", at: H.noon), at: H.noon + 2 * H.minute)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test("an event older than its rule's maxAge is stale")
  func tooOld() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"), at: H.noon + 31 * H.minute)
    #expect(h.only?.reason == .staleEvent)
  }

  @Test("an event type without a rule does not match")
  func noMatch() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.meal.changed"))
    #expect(h.only?.reason == .noMatch)
  }

  @Test("relevance 0 is cosmetic")
  func cosmetic() {
    var h = H()
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.gate.changed"))
    #expect(h.only?.reason == .cosmetic)
  }

  @Test("a change that rounding hides is not visible")
  func notVisible() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(31, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .notVisible)
    h.event(.delay(33, id: "e3", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted)
  }

  @Test(
    "tokens, systems and push handlers decide the route",
    arguments: [
      (UInt16(26), "w", nil, true, Reason.emitted), (26, nil, "b", true, .emitted), (18, "w", "b", true, .emitted),
      (18, "w", nil, true, .unsupportedOS), (26, nil, nil, true, .noToken), (26, "w", "b", false, .emitted),
      (26, "w", nil, false, .noToken),
    ] as [(UInt16, String?, String?, Bool, Reason)])
  func route(os: UInt16, widgets: String?, background: String?, pushEnabled: Bool, reason: Reason) {
    var h = H()
    h.register(
      .phone(
        widgets: [.flight(pushEnabled: pushEnabled)], os: os,
        tokens: Registration.Tokens(widgets: widgets, background: background)))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == reason)
    if reason == .emitted {
      let byWidget = os >= 26 && widgets != nil && pushEnabled
      #expect(h.lastCommands.first?.surface == (byWidget ? .widget : .background))
    }
  }

  @Test("a background push has priority 5, the bare topic, and names its kinds")
  func backgroundPush() throws {
    var h = H()
    h.register(.phone(os: 18, tokens: Registration.Tokens(widgets: nil, background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    let apns = try #require(h.lastCommands.first?.apns)
    #expect(apns.payload == #"{"aps":{"content-available":1},"rouse":{"kinds":["FlightStatus"]}}"#)
    #expect(apns.headers.contains(Command.Header(name: "apns-priority", value: "5")))
    #expect(apns.headers.contains(Command.Header(name: "apns-topic", value: "com.example.flights")))
    #expect(apns.address == .token("bb22"))
  }

  @Test("a rejected token is dead until another one is registered")
  func tokenDead() {
    var h = H()
    h.register(.phone())
    h.signal(.tokenRejected(token: "aa11"), at: H.noon)
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .tokenDead)
    h.register(.phone(tokens: Registration.Tokens(widgets: "cc33"), at: H.noon + 2), at: H.noon + 2 * H.minute)
    h.event(.delay(40, id: "e2", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .emitted)
  }

  @Test("a disabled kind is never pushed")
  func kindDisabled() {
    var h = H(.flights { $0.enabled = false })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .kindDisabled)
  }

  @Test("a foreground app reloads for free, and a lost backgrounded signal does not silence it for ever")
  func foreground() {
    var h = H()
    h.register(.phone())
    h.signal(.appForegrounded, at: H.noon)
    h.event(.delay(30, id: "e1", at: H.noon + H.minute))
    #expect(h.only?.reason == .appForeground)
    h.event(.delay(40, id: "e2", at: H.noon + 3 * H.hour))
    #expect(h.only?.reason == .emitted)
  }

  @Test("a change that a scheduled timeline reload will show is not pushed")
  func reloadImminent() {
    var h = H()
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 4 * H.minute)]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .reloadImminent)
  }

  @Test("quiet hours hold back all but the most relevant changes until they end")
  func quietHours() throws {
    let quiet = Policy.flights(also: {
      $0.quietHours = QuietHours(fromMinute: 11 * 60, toMinute: 12 * 60 + 30, exceptRelevance: 0.9)
    })
    var h = H(quiet)
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .quietHours)
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 30 * H.minute))
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
    #expect(h.decisions.last?.at == Timestamp(microseconds: H.noon + 30 * H.minute))
    h.event(.delay(30, id: "e2", at: H.noon + 24 * H.hour, type: "flight.cancelled", status: "cancelled"))
    #expect(h.only?.reason == .emitted)
  }

  @Test("two reloads keep the minimum interval, and the second delivers every waiting change")
  func minInterval() {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .minInterval)
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 15 * H.minute))
    h.event(.delay(30, id: "e3", at: H.noon + 4 * H.minute))
    h.drain(until: H.noon + H.hour)
    let closing = h.decisions.suffix(2)
    #expect(closing.map(\.reason) == [.emittedAfterDefer, .emittedCoalesced])
    #expect(closing.first?.events == ["e2", "e3"])
    #expect(closing.map(\.event) == ["e3", "e2"])
    #expect(h.commands.count == 2)
  }

  @Test("the daily limit is counted exactly and starts again with the device's budget day")
  func budgetInstance() {
    var h = H(.flights { $0.budget.perDay = 3 })
    h.register(.phone())
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)) }
    #expect(h.commands.count == 3)
    #expect(h.only?.reason == .budgetInstance)
    #expect(h.only?.tokensLeft.instance == 0)
    h.drain()
    // The waiting change expires before 04:00 of the next day.
    #expect(h.decisions.suffix(2).map(\.reason) == [.expired, .expired])
    h.event(.delay(99, id: "next", at: H.noon + 16 * H.hour))
    #expect(h.only?.reason == .emitted)
    #expect(h.only?.tokensLeft.instance == 2)
  }

  @Test("a device is pushed to at its rate, with a burst")
  func budgetDevice() {
    var h = H(
      .flights(also: {
        $0.profile.devicePushes.limit = 5
        $0.profile.devicePushes.burst = 3
      }))
    h.register(.phone())
    for i in 0..<4 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * 1000)) }
    #expect(h.commands.count == 3)
    #expect(h.only?.reason == .budgetDevice)
    #expect(h.only?.tokensLeft.device == 0)
    // T = 12 min, and three tokens were taken at noon, so the next is available at noon + T.
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 12 * H.minute))
  }

  @Test("the partitions' shares add up to an app's daily limit")
  func budgetApp() {
    var emitted = 0
    for partition in 0..<4 {
      var h = H(
        .flights(also: { $0.apps = [AppBudget(app: "com.example.flights", perDay: 6)] }), partition: Int32(partition),
        partitionCount: 4)
      h.register(.phone())
      for i in 0..<4 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
      emitted += h.commands.count
      #expect(h.only?.reason == .budgetApp)
    }
    #expect(emitted == 6)
  }

  @Test("the reserve is for changes that are relevant enough, and is released before the day ends")
  func reserve() {
    var h = H(
      .flights {
        $0.budget.perDay = 4
        $0.budget.reserve = InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.8)
        $0.halfLife = .hours(24)
      })
    h.register(.phone())
    for i in 0..<3 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i) * H.minute)) }
    #expect(h.commands.count == 2)
    #expect(h.only?.reason == .reserveHeld)
    h.event(.delay(0, id: "boarding", at: H.noon + 5 * H.minute, type: "flight.boarding"))
    #expect(h.only == nil, "the reserve delivers what waited, too")
    #expect(h.last.map(\.reason) == [.emitted, .emittedCoalesced])
    h.event(.delay(77, id: "late", at: H.noon + 6 * H.minute))
    #expect(h.only?.reason == .reserveHeld)
    h.drain(until: H.noon + 16 * H.hour - 1)
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
  }

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

  @Test("a device that is forgotten and registered again has no more tokens than before")
  func noRefillByReregistration() {
    var h = H(.flights { $0.budget.perDay = 1 })
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .emitted)
    h.apply(.forget(device: "d1"), at: H.noon + H.minute)
    h.register(.phone(at: H.noon + 2), at: H.noon + 2 * H.minute)
    h.event(.delay(60, id: "e2", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .budgetInstance)
  }

  @Test("a forgotten device is removed once its ledgers are full again")
  func forgotten() {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.apply(.forget(device: "d1"), at: H.noon + H.minute)
    h.drain()
    #expect(h.planner.deviceCount == 0)
    #expect(h.planner.registry.devices.liveCount == 0)
    #expect(h.planner.registry.instances.liveCount == 0)
    #expect(h.planner.registry.entries.liveCount == 0)
  }

  @Test("a push that APNs permanently refused is refunded once")
  func refund() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    for _ in 0..<2 { h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.minute) }
    h.event(.delay(60, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.tokensLeft.instance == 47)
  }

  @Test("developer mode is free and without limits")
  func developerMode() {
    var h = H(
      .flights {
        $0.budget.perDay = 1
        $0.price.base = 50
      })
    h.register(.phone(developerMode: true))
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
    #expect(h.commands.count == 5)
    #expect(h.commands.allSatisfy { $0.charged.isEmpty })
  }

  @Test("an event reaches widgets by its second key, and an instance with both keys once")
  func secondKey() {
    var h = H()
    h.register(
      .phone(widgets: [
        .flight("both", interests: ["flight/UA1", "airport/EWR"]), .flight("one", interests: ["airport/EWR"]),
      ]))
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.cancelled", status: "cancelled"))
    #expect(h.last.map(\.instance) == ["both", "one"])
    h.event(.delay(20, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.instance) == ["both"])
  }

  @Test("a publisher's clock that runs ahead makes no later event stale")
  func clocksAhead() {
    var h = H()
    let year9999 = Timestamp(microseconds: 253_402_300_799_000_000)
    var early = Registration.phone()
    early.updatedAt = year9999
    h.register(early)
    h.register(.phone(widgets: [.flight(), .flight("w2")], at: H.noon + 1), at: H.noon + 1)
    var ahead = DomainEvent.delay(10, id: "e1", at: H.noon)
    ahead.time = year9999
    h.event(ahead, at: H.noon + 2)
    h.event(.delay(30, id: "e2", at: H.noon + H.minute))
    #expect(h.last.map(\.reason) == [.emitted, .emittedShared])
    h.apply(.tick, at: .max)
    h.drain()
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

  @Test("widgets of one device with different routes are examined separately")
  func twoRoutes() {
    let both = Registration.Tokens(widgets: "aa11", background: "bb22")
    for base in [0.0, 5.0] {
      var h = H(.flights { $0.price.base = base })
      h.register(.phone(widgets: [.flight("w1"), .flight("w2", pushEnabled: false)], tokens: both))
      h.event(.delay(30, id: "e1", at: H.noon))
      #expect(h.last.map(\.instance) == ["w1", "w2"])
      #expect(h.lastCommands.map(\.surface) == (base == 0 ? [.widget, .background] : []))
      h.drain()
      #expect(h.decisions.filter(\.final).count == 2)
      #expect(h.planner.pending.causes.liveCount == 0)
    }
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

  @Test("a device that keeps registering new widgets stays within bounds")
  func manyWidgets() {
    var h = H()
    for round in 0..<40 {
      h.register(.phone(widgets: (0..<64).map { .flight("w\(round)-\($0)", kind: "K\(round)-\($0)") }))
    }
    h.tick(at: H.noon)
    #expect(h.planner.registry.instances.liveCount == 64)
  }

  @Test("a rolling window with a reserve waits until the oldest charge leaves the window")
  func rollingReserve() {
    var h = H(
      .flights {
        $0.budget = InstanceBudget(
          perDay: 2, minInterval: .zero, window: .rolling,
          reserve: InstanceBudget.Reserve(share: 0.5, aboveRelevance: 0.95))
        $0.halfLife = .hours(24)
      })
    h.register(.phone())
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + H.hour))
    #expect(h.only?.reason == .reserveHeld)
    #expect(h.only?.until == Timestamp(microseconds: H.noon + 24 * H.hour))
    let before = h.offset
    h.drain(until: H.noon + 25 * H.hour)
    #expect(h.offset - before < 5, "no storm of ticks")
    #expect(h.decisions.last?.reason == .emittedAfterDefer)
  }

  @Test("a bound of 0.9 admits relevance 0.9")
  func bound() {
    var h = H(
      .flights(also: { $0.quietHours = QuietHours(fromMinute: 0, toMinute: 1439, exceptRelevance: 0.9) }))
    h.register(.phone())
    h.event(.delay(0, id: "e1", at: H.noon, type: "flight.boarding"))
    #expect(h.only?.reason == .emitted)
  }

  @Test("an app limit that begins at noon counts the whole day")
  func lateAppLimit() {
    var h = H()
    h.register(.phone())
    for i in 0..<5 { h.event(.delay(Double(i) * 10, id: "e\(i)", at: H.noon + Int64(i))) }
    h.planner.activate(.flights(also: { $0.apps = [AppBudget(app: "com.example.flights", perDay: 5)] }))
    h.event(.delay(99, id: "late", at: H.noon + H.minute))
    #expect(h.only?.reason == .budgetApp)
  }

  @Test("a kind of surface background takes the background route even when a widget push is possible")
  func backgroundKind() {
    var h = H(.flights { $0.surface = .background })
    h.register(.phone(tokens: Registration.Tokens(widgets: "aa11", background: "bb22")))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.lastCommands.map(\.surface) == [.background])
  }

  @Test("kind names that do not fit in a background push are refused")
  func backgroundTooLarge() {
    let widgets = (0..<40).map {
      Registration.Widget.flight("w\($0)", kind: "\(String(repeating: "k", count: 200))\($0)")
    }
    var h = H(
      .flights(also: { policy in
        for widget in widgets {
          var kind = policy.kinds[0]
          kind.name = widget.kind
          policy.kinds.append(kind)
        }
        policy.kinds.sort { $0.name < $1.name }
      }))
    h.register(.phone(widgets: widgets, tokens: Registration.Tokens(widgets: nil, background: "bb")))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.last.contains { $0.reason == .payloadTooLarge })
    #expect(h.lastCommands.allSatisfy { $0.apns.payload.utf8.count <= 4096 })
    h.drain()
    #expect(h.decisions.filter(\.final).count == 40)
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
