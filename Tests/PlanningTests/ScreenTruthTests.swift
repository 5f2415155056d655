import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Properties of what screens show, of how wrong they are, and of the pushes that set them right.
@Suite("Screens and truth")
struct ScreenTruthTests {
  /// A random day of one widget about two subjects, with a model of what its screen shows.
  private struct Life {
    static let subjects: [Identifier] = ["flight/UA1", "flight/UA2"]
    static let displays = [
      DisplayField(path: "data.delay", round: 5, per: .units(60), weight: 0.8, initial: .number(0)),
      DisplayField(path: "data.status", weight: 0.5),
    ]

    var random: SeededRandom
    var harness: PlannerHarness
    var time = PlannerHarness.noon
    let fields = Life.displays.map { FieldDistance($0) }
    /// The fold of all events, and what the screen shows, field by field.
    var truth: [[DisplayedValue]]
    var shown: [[DisplayedValue]]
    /// The log times at which the truths last changed.
    private var changedAt = Life.subjects.map { _ in Int64.min }
    private var events = 0

    init(seed: UInt64, perDay: Int, demand: DemandPrior) {
      random = SeededRandom(seed: seed)
      harness = PlannerHarness(
        .flights {
          $0.displays = Self.displays
          $0.budget = InstanceBudget(perDay: perDay, minInterval: .minutes(5))
          $0.rules = [Rule(event: "flight.*")]
        }, demand: demand)
      truth = Self.subjects.map { _ in [DisplayedValue(.number(0)), .absent] }
      shown = truth
      harness.register(.phone(widgets: [.flight(interests: Self.subjects)]))
    }

    /// Moves time on, and fires what is due on the way.
    mutating func pass(_ span: Int64) {
      time += span
      while let due = harness.planner.nextTimer?.microseconds, due < time {
        harness.tick(at: due)
        note()
      }
    }

    /// Sends an event that carries some of the fields.
    mutating func event() {
      let subject = random.below(Self.subjects.count)
      let before = truth[subject]
      var carried: [EventField] = [EventField(path: "data.gate", value: .string("B\(random.below(9))"))]
      if random.below(3) > 0 {
        let value = FieldValue.number(Double(random.below(20)) * 5)
        carried.append(EventField(path: "data.delay", value: value))
        truth[subject][0] = DisplayedValue(value)
      }
      if random.below(3) == 0 {
        let value: FieldValue = random.below(5) == 0 ? .null : .string("s\(random.below(3))")
        carried.append(EventField(path: "data.status", value: value))
        truth[subject][1] = DisplayedValue(value)
      }
      if truth[subject] != before { changedAt[subject] = time }
      events += 1
      harness.event(
        DomainEvent(
          id: Identifier("e\(events)"), source: "/test", type: "flight.changed", subject: Self.subjects[subject],
          time: Timestamp(microseconds: time), fields: carried))
      note()
    }

    /// Sends a signal about a fetch that happened up to an hour ago.
    mutating func lateFetch() {
      let fetchedAt = time - Int64(random.below(60 * 60)) * 1_000_000
      let signal = Signal(
        device: "d1", id: "fetch", time: Timestamp(microseconds: fetchedAt), kind: .widgetFetched(instance: "w1"))
      harness.apply(.signal(signal), at: time)
      // The state of that time is known of a subject that has not changed since.
      for subject in truth.indices where changedAt[subject] <= fetchedAt { shown[subject] = truth[subject] }
    }

    /// A push shows the truth of its log time; so does one at this very time that was made before.
    private mutating func note() {
      if !harness.lastCommands.isEmpty || harness.last.contains(where: { $0.reason == .emittedCoalesced }) {
        shown = truth
      }
    }

    var instance: InstanceSlot { InstanceSlot(0) }

    /// Compares the planner's rows with the model. Rows are in the order of the subjects.
    func check(_ context: String) {
      let (registry, screens) = (harness.planner.fleet.registry, harness.planner.fleet.screens)
      var walk = registry.entries(of: instance)
      var place = 0
      while let entry = walk.next(registry) {
        defer { place += 1 }
        let row = registry[screen: entry].row
        guard !row.isAbsent else { continue }
        for field in fields.indices { #expect(screens[row, field] == shown[place][field], "\(context)") }
        let expected = ScreenDistance.between(shown: shown[place], truth: truth[place], fields)
        #expect(abs(Double(registry[screen: entry].distance) - expected) < 1e-6, "\(context)")
      }
      #expect(place == Self.subjects.count)
      let facts = harness.planner.facts(of: instance)
      let isWrong = facts.wrong > 0
      #expect(isWrong == (shown != truth && hasDifference), "\(context)")
      // A difference is never dropped while it lasts: something waits, and the time of the next look at it is set.
      #expect(!isWrong || (facts.isWaiting && facts.due != .distantFuture), "\(context)")
    }

    private var hasDifference: Bool {
      zip(shown, truth).contains { ScreenDistance.between(shown: $0, truth: $1, fields) > 0 }
    }
  }

  @Test(
    "a push shows the fold of all events, field by field, and a difference waits until it is shown", arguments: 0..<12)
  func fold(seed: Int) {
    var life = Life(seed: UInt64(seed), perDay: seed % 2 == 0 ? 6 : 30, demand: .standard)
    for step in 0..<400 {
      // Now and then nothing is heard for days, far longer than events are remembered.
      let isQuiet = life.random.below(40) == 0
      life.pass(isQuiet ? 70 * H.hour : Int64(life.random.below(12 * 60)) * 1_000_000)
      life.event()
      life.check("seed \(seed), step \(step)")
    }
    #expect(
      life.harness.decisions.contains { $0.reason == .belowPrice }, "seed \(seed): nothing ever waited for its price")
  }

  @Test("a fetch shows what was true when it happened, however late it is reported", arguments: 0..<8)
  func lateFetches(seed: Int) {
    var life = Life(seed: UInt64(seed), perDay: seed % 2 == 0 ? 6 : 30, demand: .standard)
    for step in 0..<400 {
      life.pass(Int64(life.random.below(12 * 60)) * 1_000_000)
      if life.random.below(4) == 0 { life.lateFetch() } else { life.event() }
      life.check("seed \(seed), step \(step)")
    }
    #expect(life.harness.decisions.contains { $0.reason == .freshened }, "seed \(seed): no fetch showed what waited")
  }

  @Test("with tokens for everything, every change is pushed as soon as the minimum interval allows", arguments: 0..<4)
  func noScarcity(seed: Int) {
    var life = Life(seed: UInt64(seed), perDay: 1000, demand: .standard)
    for _ in 0..<300 {
      life.pass(Int64(life.random.below(12 * 60)) * 1_000_000)
      life.event()
    }
    #expect(!life.harness.decisions.contains { $0.reason == .belowPrice }, "seed \(seed)")
    let reasons: Set<Reason> = [
      .emitted, .emittedAfterDefer, .emittedCoalesced, .minInterval, .notVisible, .superseded,
    ]
    #expect(Set(life.harness.decisions.map(\.reason)).isSubset(of: reasons), "seed \(seed)")
    #expect(life.harness.decisions.allSatisfy { $0.price == 0 }, "seed \(seed)")
  }

  @Test("a widget with one change a week gets it at once, from the first on", arguments: [20, 48])
  func cold(perDay: Int) {
    var h = H(.flights { $0.budget = InstanceBudget(perDay: perDay, minInterval: .minutes(5)) }, demand: .standard)
    h.register(.phone())
    for week in Int64(0)..<8 {
      let time = H.noon + week * 7 * 24 * H.hour + Int64(week) * H.hour
      h.drain(until: time)
      h.event(.delay(Double(week) * 10, id: Identifier("e\(week)"), at: time))
      #expect(h.only?.reason == .emitted, "week \(week)")
    }
  }

  @Test("no difference is left at the end of a day on which tokens are left", arguments: 0..<8)
  func daysEnd(seed: Int) {
    var life = Life(seed: UInt64(seed), perDay: 12, demand: .standard)
    for day in Int64(0)..<4 {
      let end = H.noon + 16 * H.hour + day * 24 * H.hour
      while life.time < end - H.hour {
        life.pass(Int64(life.random.below(90 * 60)) * 1_000_000)
        if life.time < end - 30 * H.minute { life.event() }
      }
      life.pass(end - 1 - life.time)
      if life.harness.planner.tokensLeft(life.instance) > 2 {
        #expect(life.harness.planner.facts(of: life.instance).wrong == 0, "seed \(seed), day \(day)")
      }
    }
  }

  @Test("when quiet hours end, the devices of a time zone are pushed to over ten minutes")
  func spread() {
    let quiet = QuietHours(fromMinute: 11 * 60, toMinute: 12 * 60 + 30, exceptRelevance: 2)
    var h = H(.flights(also: { $0.quietHours = quiet }))
    for device in 0..<400 { h.register(.phone(Identifier("d\(device)"))) }
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.last.count == 400 && h.last.allSatisfy { $0.reason == .quietHours })
    h.drain(until: H.noon + H.hour)
    let minutes = h.commands.map { ($0.at.microseconds - H.noon) / H.minute }
    #expect(minutes.count == 400 && minutes.allSatisfy { (30..<40).contains($0) })
    for minute in Int64(30)..<40 {
      let count = minutes.filter { $0 == minute }.count
      #expect((20..<60).contains(count), "minute \(minute): \(count)")
    }
  }

  @Test("when the hour begins in which people look again, the devices of a time zone are pushed to over ten minutes")
  func spreadOfHours() {
    var views = [Double](repeating: 0, count: 24)
    for hour in 13..<24 { views[hour] = 1 }
    var h = H(
      .flights {
        $0.views = views
        $0.budget = InstanceBudget(perDay: 1, minInterval: .minutes(5))
      }, demand: .standard)
    for device in 0..<400 { h.register(.phone(Identifier("d\(device)"))) }
    // Nobody looks from midnight to one o'clock in the afternoon.
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.last.count == 400 && h.last.allSatisfy { $0.reason == .belowPrice })
    h.drain(until: H.noon + 2 * H.hour)
    let minutes = h.commands.map { ($0.at.microseconds - H.noon) / H.minute }
    #expect(minutes.count == 400 && minutes.allSatisfy { (60..<70).contains($0) })
    for minute in Int64(60)..<70 {
      let count = minutes.filter { $0 == minute }.count
      #expect((20..<60).contains(count), "minute \(minute): \(count)")
    }
  }

  @Test(
    "the content of a screen whose push failed is not known, so the next change is pushed even if nothing else differs")
  func refunded() throws {
    var h = H()
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    let command = try #require(h.lastCommands.first?.command)
    h.signal(.deliveryCompleted(command: command, outcome: .refused), at: H.noon + H.minute)
    h.event(.delay(30, id: "e2", at: H.noon + 2 * H.minute))
    #expect(h.only?.reason == .emitted)
    h.event(.delay(30, id: "e3", at: H.noon + 3 * H.minute))
    #expect(h.only?.reason == .notVisible)
  }

  @Test("a reload of the widget's own shows what was true then, not the event by which the planner learns of it")
  func ownReload() {
    var h = H()
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 10 * H.minute)]))
    h.event(.delay(10, id: "e1", at: H.noon))
    h.event(.delay(20, id: "e2", at: H.noon + 20 * H.minute))
    #expect(h.last.map(\.reason) == [.emitted])
  }
}
