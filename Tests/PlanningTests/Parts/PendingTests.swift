import Domain
import Foundation
import Policies
import Testing

@testable import Planning

/// The events that wait on a few instances, kept in arrays: the reference for `Pending`.
private struct PendingModel {
  struct Waiting {
    var cause: Cause
    var eventID: Identifier
  }

  /// The causes of each instance, oldest first.
  var causes: [[Waiting]]
  /// The instant at which each instance is examined; nil: never.
  var due: [Timestamp?]

  init(instances: Int) {
    causes = Array(repeating: [], count: instances)
    news = Array(repeating: (0, Timestamp(microseconds: 0)), count: instances)
    due = Array(repeating: nil, count: instances)
  }

  /// The distance that the news which waits made on each screen, as of an instant: 1 − ∏(1 − relevance), halved as a whole every
  /// half-life.
  var news: [(value: Double, at: Timestamp)]

  /// Returns how wrong the news that waits on an instance makes its screen.
  func value(_ instance: Int, at now: Timestamp, halfLife: Double) -> Double {
    let age = Double((now - news[instance].at).microseconds)
    return news[instance].value * pow(2, -age / halfLife)
  }

  /// Adds news to an instance.
  mutating func add(_ waiting: Waiting, to instance: Int, at now: Timestamp, halfLife: Double) {
    let right = (1 - value(instance, at: now, halfLife: halfLife)) * (1 - Double(max(0, waiting.cause.signedRelevance)))
    news[instance] = (1 - right, now)
    causes[instance].append(waiting)
  }

  /// Computes anew how wrong the causes that are left make a screen, each with its own age.
  mutating func sum(_ instance: Int, at now: Timestamp, halfLife: Double) {
    let right = causes[instance].reduce(1.0) { right, waiting in
      let age = Double((now - waiting.cause.at).microseconds)
      return right * (1 - Double(max(0, waiting.cause.signedRelevance)) * pow(2, -age / halfLife))
    }
    news[instance] = (1 - right, now)
  }

  /// Returns the number of causes that refer to each event.
  var references: [Identifier: UInt32] {
    causes.joined().reduce(into: [:]) { $0[$1.eventID, default: 0] += 1 }
  }
}

/// A random life of `Pending`, step by step beside its model.
private struct PendingLife {
  static let instances = 6
  static let halfLife = 3_600_000_000.0

  var random: SeededRandom
  var pending = Pending()
  var model = PendingModel(instances: instances)
  var slots = Array(repeating: WaitingSlot.absent, count: instances)
  var now = Timestamp(microseconds: 1_000_000)
  /// The event in hand, to which the planner holds one reference.
  var event: (slot: EventSlot, id: Identifier)?
  var eventsMade = 0
  /// The instances that timers woke, with the times they were set for.
  var woken: [(due: Timestamp, instance: Int)] = []

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func step() {
    now = now + .seconds(Int64(random.below(600)))
    switch random.below(10) {
    case 0: takeEvent()
    case 1...4: append()
    case 5: takeCauses()
    case 6: setDue()
    case 7: clearDue()
    case 8: detach()
    default: fire()
    }
    if pending.hasOutdatedTimers { removeOutdatedTimers() }
  }

  private mutating func takeEvent() {
    if let event { pending.release(event.slot) }
    eventsMade += 1
    let id: Identifier = "e\(eventsMade)"
    event = (pending.insert(event: id, traceparent: nil, time: .distantPast, offset: Int64(eventsMade)), id)
  }

  private mutating func append() {
    guard let event else { return }
    let instance = random.below(Self.instances)
    let cause = Cause(
      event: event.slot, entry: EntrySlot(UInt32(random.below(3))),
      signedRelevance: Float(random.unit() * 2 - 0.7), at: now, expires: now + .hours(Int64(1 + random.below(5))))
    var screen = ScreenDistance(
      right: 1 - pending.value(slots[instance], at: now, inverseHalfLife: 1 / Self.halfLife))
    screen.add(Double(cause.value))
    pending.append(cause, to: &slots[instance], value: screen.value, now: now)
    model.add(PendingModel.Waiting(cause: cause, eventID: event.id), to: instance, at: now, halfLife: Self.halfLife)
  }

  /// Ends the causes of one entry, one after the other as the planner does.
  private mutating func takeCauses() {
    let instance = random.below(Self.instances)
    let entry = EntrySlot(UInt32(random.below(3)))
    guard let first = model.causes[instance].first(where: { $0.cause.entry == entry }) else { return }
    #expect(pending.takeCause(from: slots[instance]) { $0.entry == entry }?.at == first.cause.at)
    pending.release(first.cause.event)
    while let cause = pending.takeCause(from: slots[instance], where: { $0.entry == entry }) {
      pending.release(cause.event)
    }
    model.causes[instance].removeAll { $0.cause.entry == entry }
    pending.resum(&slots[instance], inverseHalfLife: 1 / Self.halfLife, now: now)
    model.sum(instance, at: now, halfLife: Self.halfLife)
  }

  private mutating func setDue() {
    let instance = random.below(Self.instances)
    let due = now + .minutes(Int64(random.below(120)))
    setDue(instance, due)
    model.due[instance] = due
  }

  private mutating func setDue(_ instance: Int, _ due: Timestamp) {
    pending.setDue(&slots[instance], due, instance: InstanceSlot(UInt32(instance)), order: UInt64(instance))
  }

  private mutating func clearDue() {
    let instance = random.below(Self.instances)
    pending.clearDue(&slots[instance])
    model.due[instance] = nil
  }

  private mutating func detach() {
    let instance = random.below(Self.instances)
    let entry = EntrySlot(UInt32(random.below(3)))
    pending.detach(slots[instance], from: entry)
    for place in model.causes[instance].indices where model.causes[instance][place].cause.entry == entry {
      let cause = model.causes[instance][place].cause
      model.causes[instance][place].cause = Cause(
        event: cause.event, entry: .absent, signedRelevance: cause.signedRelevance, at: cause.at,
        expires: cause.expires)
    }
  }

  /// Fires what is due by now, as the planner does.
  private mutating func fire() {
    let now = now
    woken = []
    while let timer = pending.takeTimer(now: now) {
      let instance = Int(timer.instance.number)
      guard pending[slots[instance]].armedAt == timer.due else { continue }
      if pending.fire(slots[instance], timer) {
        woken.append((timer.due, instance))
        pending.settle(&slots[instance])
      } else {
        setDue(instance, pending[slots[instance]].due)
      }
    }
    let expected = model.due.enumerated().compactMap { place, due in due.map { (due: $0, instance: place) } }
      .filter { $0.due <= now }.sorted { ($0.due, $0.instance) < ($1.due, $1.instance) }
    #expect(woken.map(\.due) == expected.map(\.due) && woken.map(\.instance) == expected.map(\.instance))
    for (_, instance) in expected { model.due[instance] = nil }
  }

  private mutating func removeOutdatedTimers() {
    let slots = slots
    pending.removeOutdatedTimers { (slots[Int($0.number)], UInt64($0.number)) }
    #expect(!pending.hasOutdatedTimers)
  }

  /// Compares everything that can be asked with the model.
  func check(_ context: String) {
    pending.checkInvariants(waiting: slots.filter { !$0.isAbsent })
    for instance in 0..<Self.instances {
      let (slot, expected) = (slots[instance], model.causes[instance].map(\.cause))
      #expect(causes(of: slot).map(\.at) == expected.map(\.at), "\(context)")
      #expect(causes(of: slot).map(\.entry) == expected.map(\.entry), "\(context)")
      #expect(pending[slot].isEmpty == expected.isEmpty, "\(context)")
      #expect(pending.earliestExpiry(slot) == expected.map(\.expires).min() ?? .distantFuture, "\(context)")
      let cheapest = expected.first { $0.value == 0 } ?? expected.first
      #expect(pending.cheapestCause(slot)?.at == cheapest?.at, "\(context)")
      for entry in (0..<3).map({ EntrySlot($0) }) {
        #expect(
          pending.hasValue(slot, by: entry) == expected.contains { $0.entry == entry && $0.value > 0 }, "\(context)")
      }
      let value = pending.value(slot, at: now, inverseHalfLife: 1 / Self.halfLife)
      #expect(abs(value - model.value(instance, at: now, halfLife: Self.halfLife)) < 1e-4, "\(context)")
    }
    checkEvents(context)
  }

  private func checkEvents(_ context: String) {
    var references = model.references
    if let event { references[event.id, default: 0] += 1 }
    #expect(pending.events.liveCount == references.count, "\(context)")
    for slot in pending.events.slots where !pending.events[slot].id.isEmpty {
      #expect(pending.events[slot].references == references[pending.events[slot].id], "\(context)")
    }
  }

  func causes(of slot: WaitingSlot) -> [Cause] {
    var causes: [Cause] = []
    var walk = pending.causes(of: slot)
    while let place = walk.next(pending) { causes.append(pending.causes[place]) }
    return causes
  }

  /// Returns what waits, built anew as a restore builds it.
  func restored() -> (pending: Pending, slots: [WaitingSlot]) {
    var copy = Pending()
    var slots = Array(repeating: WaitingSlot.absent, count: Self.instances)
    var events: [Identifier: EventSlot] = [:]
    for instance in 0..<Self.instances {
      for waiting in model.causes[instance] {
        let event = events[waiting.eventID] ?? copy.restore(event: waiting.eventID, traceparent: nil, offset: 0)
        events[waiting.eventID] = event
        var cause = waiting.cause
        cause.event = event
        copy.restore(cause, to: &slots[instance])
      }
      let state = pending[self.slots[instance]]
      copy.restore(&slots[instance], due: state.due, value: state.value, valueAt: state.valueAt)
    }
    let waiting = slots.indices.filter { !slots[$0].isAbsent }
    copy.restoreTimers(
      waiting.reversed().map { (slots[$0], InstanceSlot(UInt32($0)), UInt64($0)) }, now: .distantPast)
    return (copy, slots)
  }
}

@Suite("Events that wait, and timers")
struct PendingTests {
  @Test("pending events equal those of plain arrays after random steps")
  func model() {
    for seed in 1...12 as ClosedRange<UInt64> {
      var life = PendingLife(seed: seed)
      for step in 0..<150 {
        life.step()
        life.check("seed \(seed), step \(step)")
      }
    }
  }

  @Test("after a restore the same waits, is worth the same and wakes at the same time")
  func restore() {
    for seed in 1...12 as ClosedRange<UInt64> {
      var life = PendingLife(seed: seed)
      for step in 0..<120 {
        life.step()
        guard step % 20 == 19 else { continue }
        if let event = life.event { life.pending.release(event.slot) }
        life.event = nil
        (life.pending, life.slots) = life.restored()
        life.check("seed \(seed), step \(step), restored")
      }
    }
  }

  @Test("an instance that is taken out of a restore leaves the events that only it waited for")
  func unplace() {
    var pending = Pending()
    let (own, shared) = (
      pending.restore(event: "own", traceparent: nil, offset: 1),
      pending.restore(event: "shared", traceparent: "00-1", offset: 2)
    )
    var (first, second) = (WaitingSlot.absent, WaitingSlot.absent)
    for event in [own, shared] { pending.restore(Self.cause(event), to: &first) }
    pending.restore(Self.cause(shared), to: &second)
    #expect(pending.unplace(first) == [own])
    pending.forget(own)
    pending.drop(&first)
    #expect(first.isAbsent)
    pending.checkInvariants(waiting: [second])
    #expect(pending.events.liveCount == 1 && pending.events[shared].traceparent == "00-1")
  }

  @Test("an instance for which nothing waits takes no slot")
  func slots() {
    var pending = Pending()
    var slot = WaitingSlot.absent
    #expect(pending[slot].isEmpty && pending.value(slot, at: .distantPast, inverseHalfLife: 1) == 0)
    #expect(pending.cheapestCause(slot) == nil && pending.earliestExpiry(slot) == .distantFuture)
    pending.setDue(&slot, .distantFuture, instance: InstanceSlot(0), order: 0)
    pending.clearDue(&slot)
    pending.settle(&slot)
    #expect(slot.isAbsent && pending.waitingCount == 0 && pending.timerCount == 0)
    // A cleared timer keeps the slot until its entry in the queue has fired.
    pending.setDue(&slot, Timestamp(microseconds: 5), instance: InstanceSlot(0), order: 0)
    pending.clearDue(&slot)
    #expect(!slot.isAbsent && pending.waitingCount == 1)
  }

  @Test("an instance that is woken early again and again leaves a bounded number of entries behind")
  func bounded() {
    var pending = Pending()
    var slot = WaitingSlot.absent
    let instance = InstanceSlot(0)
    for round in 0..<1000 as Range<Int64> {
      let now = Timestamp(microseconds: round * 10)
      pending.setDue(&slot, now + .hours(1), instance: instance, order: 0)
      pending.setDue(&slot, now, instance: instance, order: 0)
      if let timer = pending.takeTimer(now: now) { _ = pending.fire(slot, timer) }
      if pending.hasOutdatedTimers { pending.removeOutdatedTimers { _ in (slot, 0) } }
    }
    #expect(pending.timerCount <= TimerQueue.entriesMax(waiting: 1))
  }

  private static func cause(_ event: EventSlot) -> Cause {
    Cause(
      event: event, entry: EntrySlot(0), signedRelevance: 1, at: Timestamp(microseconds: 1),
      expires: Timestamp(microseconds: 2))
  }
}
