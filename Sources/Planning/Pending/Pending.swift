import Domain
import Policies

/// The pending events of one instance, and the time at which the instance is examined again.
struct Waiting {
  /// The earliest time at which a cause expires; the distant future if there is none.
  fileprivate(set) var earliestExpiry = Timestamp.distantFuture
  /// The oldest cause, absent if there is none; causes are chained, oldest first.
  fileprivate(set) var firstCause = CauseSlot.absent
  /// The newest cause.
  fileprivate(set) var lastCause = CauseSlot.absent
  /// The number of causes.
  fileprivate(set) var causes: UInt16 = 0
  /// The degree to which the waiting news makes the screen wrong, as of `valueAt`: 0…1. It fades with the kind's
  /// half-life.
  fileprivate(set) var value: Float = 0
  /// The log time for which `value` is given.
  fileprivate(set) var valueAt = Timestamp(microseconds: 0)
  /// The log time at which the instance must be examined again; the distant future if never.
  fileprivate(set) var due = Timestamp.distantFuture
  /// The due time of the entry in the timer queue that stands for the instance; the distant future if there is none. It may
  /// be earlier than `due`: then the entry is moved when it fires.
  fileprivate(set) var armedAt = Timestamp.distantFuture

  /// Whether no event waits.
  var isEmpty: Bool { firstCause.isAbsent }

  /// Whether the slot can be given back: nothing waits and no timer stands for the instance.
  fileprivate var isOver: Bool { isEmpty && due == .distantFuture && armedAt == .distantFuture }
}

/// One event that waits to be shown by one instance.
struct Cause {
  /// The slot of the event in `Pending.events`.
  var event = EventSlot.absent
  /// The next younger cause of the instance; absent for the newest.
  fileprivate(set) var next = CauseSlot.absent
  /// The interest entry (the instance's subscription to one key) by which the event came; absent once the instance no
  /// longer listens to that key.
  fileprivate(set) var entry = EntrySlot.absent
  /// The relevance of the event, 0…1, with two more facts in bits that such a number leaves unused. The sign says that
  /// the event would show nothing but what other pending events show already: then it adds no value. The highest bit of
  /// the exponent says that the rule states no relevance.
  fileprivate(set) var relevanceBits: UInt32 = 0
  /// The log time at which the event arrived.
  var at = Timestamp(microseconds: 0)
  /// The log time at which the event expires.
  var expires = Timestamp(microseconds: 0)

  /// Creates the value of a free slot.
  init() {}

  /// Creates a cause that is in no chain yet.
  /// - Parameters:
  ///   - event: The event.
  ///   - entry: The interest entry by which the event came.
  ///   - signedRelevance: The relevance, −1…1; negative if the event adds no value.
  ///   - isRelevanceStated: Whether the rule states the relevance. If not, it is how wrong the event makes the screen of its
  ///     subject.
  ///   - at: The log time at which the event arrived.
  ///   - expires: The log time at which the event expires.
  init(
    event: EventSlot, entry: EntrySlot, signedRelevance: Float, isRelevanceStated: Bool = true, at: Timestamp,
    expires: Timestamp
  ) {
    self.init(
      event: event, entry: entry,
      relevanceBits: signedRelevance.bitPattern | (isRelevanceStated ? 0 : Self.isNotStated), at: at, expires: expires)
  }

  /// Creates a cause that is in no chain yet, for a restore.
  init(event: EventSlot, entry: EntrySlot, relevanceBits: UInt32, at: Timestamp, expires: Timestamp) {
    self.event = event
    self.entry = entry
    self.relevanceBits = relevanceBits
    self.at = at
    self.expires = expires
  }

  private static let isNotStated: UInt32 = 0x4000_0000

  /// The relevance of the event; negative if the event adds no value.
  var signedRelevance: Float { Float(bitPattern: relevanceBits & ~Self.isNotStated) }
  /// Whether the rule states the relevance of the event.
  var isRelevanceStated: Bool { relevanceBits & Self.isNotStated == 0 }
  /// The relevance of the event without its sign, 0…1.
  var relevance: Float { signedRelevance.magnitude }
  /// The relevance of the event, 0…1, if showing it would add value to showing the other pending events; otherwise 0.
  var value: Float { max(0, signedRelevance) }

  /// Returns whether both causes name the same event with the same time of arrival.
  func isSame(as other: Cause) -> Bool { event == other.event && at == other.at }
}

/// An event that decisions refer to. It is kept as long as a cause, or the log record that is being processed, refers
/// to it.
struct EventEntry {
  /// The id of the event.
  fileprivate(set) var id: Identifier = ""
  /// The trace context that the event carried; nil if it carried none.
  fileprivate(set) var traceparent: String?
  /// The event's own time; nil after a restore, which does not know it.
  fileprivate(set) var time: Timestamp?
  /// The offset of the event's record in the log partition, by which a restore tells events apart. Ids do not: events of two
  /// sources may have the same one.
  fileprivate(set) var offset: Int64 = 0
  /// The number of causes that name the event, plus 1 while its log record is being processed.
  fileprivate(set) var references: UInt32 = 0
}

/// The events that wait on instances, with their values and timers.
struct Pending {
  private var waitings = SlotPool<WaitingTag, Waiting>()
  /// The causes of all instances.
  private(set) var causes = SlotPool<CauseTag, Cause>()
  /// The events that decisions refer to.
  private(set) var events = SlotPool<EventTag, EventEntry>()
  private var timers = TimerQueue()

  /// The number of instances that have pending events or a timer.
  var waitingCount: Int { waitings.liveCount }
  /// The number of entries of the timer queue, outdated ones included.
  var timerCount: Int { timers.count }
  /// The number of timers of the earliest span of the timer queue.
  var upcomingTimerCount: Int { timers.upcomingCount }
  /// Returns a timer at a place, 0..<`upcomingTimerCount`. The first one fires next, and the next ones are among those that follow.
  func timer(_ place: Int) -> TimerQueue.Entry { timers[place] }
  /// Finds timers that are due (`TimerQueue.due`).
  func dueTimers(now: Timestamp, into instances: inout InlineArray<16, InstanceSlot>) -> Int {
    timers.due(at: now, into: &instances)
  }
  /// The largest number of causes that wait on one instance.
  var causesPerInstance: Int { waitings.values.reduce(0) { max($0, Int($1.causes)) } }
  /// The bytes that the tables take in memory.
  var bytes: Int { waitings.bytes + causes.bytes + events.bytes + timers.bytes }

  /// Asks the processor to load the pending causes and the timer of an instance.
  /// - Parameter slot: A slot that is not absent.
  func prefetch(_ slot: WaitingSlot) { waitings.prefetch(slot) }

  /// The pending causes and the timer of an instance; an empty `Waiting` for the absent slot.
  @inline(__always)
  subscript(slot: WaitingSlot) -> Waiting { slot.isAbsent ? Waiting() : waitings[slot] }

  /// Returns whether no event waits on an instance.
  func isEmpty(_ slot: WaitingSlot) -> Bool { slot.isAbsent || waitings[slot].isEmpty }

  // MARK: Events

  /// Adds an event with one reference, that of the log record that is being processed.
  /// - Parameters:
  ///   - id: The id of the event.
  ///   - traceparent: The trace context that the event carried.
  ///   - time: The event's own time.
  ///   - offset: The offset of the event's record.
  mutating func insert(event id: Identifier, traceparent: String?, time: Timestamp, offset: Int64) -> EventSlot {
    events.insert(EventEntry(id: id, traceparent: traceparent, time: time, offset: offset, references: 1))
  }

  /// Adds an event that no waiting cause names yet, for a restore. The parameters are among those of `insert`.
  mutating func restore(event id: Identifier, traceparent: String?, offset: Int64) -> EventSlot {
    events.insert(EventEntry(id: id, traceparent: traceparent, offset: offset, references: 0))
  }

  /// Removes a reference to an event, and the event with the last reference.
  mutating func release(_ event: EventSlot) {
    events[event].references -= 1
    if events[event].references == 0 { events.remove(event, leaving: EventEntry()) }
  }

  /// Returns the own time of the oldest event that waits on an instance, or the time of its arrival if the former is not known; nil if
  /// no event waits.
  func oldestTime(of slot: WaitingSlot) -> Timestamp? {
    var (oldest, walk) = (nil as Timestamp?, causes(of: slot))
    while let cause = walk.next(self) {
      let time = events[causes[cause].event].time ?? causes[cause].at
      oldest = oldest.map { min($0, time) } ?? time
    }
    return oldest
  }

  // MARK: Causes

  /// Adds a cause behind the others of its instance. The event gets one more reference.
  /// - Parameters:
  ///   - cause: The cause.
  ///   - slot: The slot of the instance, which gets one if it has none.
  ///   - value: The new `Waiting.value` at `now`, which includes this cause.
  ///   - now: Log time.
  mutating func append(_ cause: Cause, to slot: inout WaitingSlot, value: Double, now: Timestamp) {
    link(cause, to: &slot)
    waitings[slot].value = Float(value)
    waitings[slot].valueAt = now
  }

  private mutating func link(_ cause: Cause, to slot: inout WaitingSlot) {
    events[cause.event].references += 1
    let inserted = causes.insert(cause)
    make(&slot)
    if waitings[slot].lastCause.isAbsent {
      waitings[slot].firstCause = inserted
    } else {
      causes[waitings[slot].lastCause].next = inserted
    }
    waitings[slot].lastCause = inserted
    waitings[slot].causes += 1
    waitings[slot].earliestExpiry = min(waitings[slot].earliestExpiry, cause.expires)
  }

  /// Puts a cause behind the others of its instance, for a restore. The event gets one more reference.
  mutating func restore(_ cause: Cause, to slot: inout WaitingSlot) { link(cause, to: &slot) }

  /// Sets the due time and the value of an instance as the state records hold them, for a restore.
  mutating func restore(_ slot: inout WaitingSlot, due: Timestamp, value: Float, valueAt: Timestamp) {
    make(&slot)
    waitings[slot].due = due
    waitings[slot].value = value
    waitings[slot].valueAt = valueAt
    settle(&slot)
  }

  /// Removes the oldest cause of an instance for which `ends` returns true. The cause's reference to its event passes
  /// to the caller, who must `release` it. Call `resum` after the last of a series of removals.
  /// - Parameters:
  ///   - slot: The slot of the instance.
  ///   - ends: Returns whether a cause is to be removed.
  /// - Returns: The cause; nil if none was removed.
  mutating func takeCause(from slot: WaitingSlot, where ends: (Cause) -> Bool) -> Cause? {
    if slot.isAbsent { return nil }
    var previous = CauseSlot.absent
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      let cause = causes[place]
      guard ends(cause) else {
        previous = place
        continue
      }
      if previous.isAbsent {
        waitings[slot].firstCause = cause.next
      } else {
        causes[previous].next = cause.next
      }
      if waitings[slot].lastCause == place { waitings[slot].lastCause = previous }
      waitings[slot].causes -= 1
      causes.remove(place, leaving: Cause())
      if cause.expires <= waitings[slot].earliestExpiry { waitings[slot].earliestExpiry = earliest(slot) }
      return cause
    }
    return nil
  }

  /// Recomputes how wrong the waiting news makes the screen, after causes were removed.
  /// - Parameters:
  ///   - slot: The slot of the instance, which must not be absent. It becomes absent when nothing waits and no timer is
  ///     left.
  ///   - inverseHalfLife: The inverse of the kind's half-life, in 1 / µs.
  ///   - now: Log time.
  mutating func resum(_ slot: inout WaitingSlot, inverseHalfLife: Double, now: Timestamp) {
    var screen = ScreenDistance()
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      let cause = causes[place]
      screen.add(Double(cause.value) * Decay.factor(age: now - cause.at, inverseHalfLife: inverseHalfLife))
    }
    waitings[slot].value = Float(screen.value)
    waitings[slot].valueAt = now
    settle(&slot)
  }

  /// Returns how wrong the waiting news makes an instance's screen, faded to an instant: 0…1.
  /// - Parameters:
  ///   - slot: The slot of the instance.
  ///   - instant: The instant, not before the slot's `valueAt`.
  ///   - inverseHalfLife: The inverse of the kind's half-life, in 1 / µs.
  @inline(__always)
  func value(_ slot: WaitingSlot, at instant: Timestamp, inverseHalfLife: Double) -> Double {
    if slot.isAbsent { return 0 }
    let value = waitings[slot].value
    if value == 0 { return 0 }
    return Double(value) * Decay.factor(age: instant - waitings[slot].valueAt, inverseHalfLife: inverseHalfLife)
  }

  /// Returns whether any waiting event that came to an instance by a given interest entry adds value.
  @inline(__always)
  func hasValue(_ slot: WaitingSlot, by entry: EntrySlot) -> Bool {
    if isEmpty(slot) { return false }
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].entry == entry, causes[place].value > 0 { return true }
    }
    return false
  }

  /// Returns the cause to end when there are too many: the oldest of those that add no value, or else the oldest. Nil if the
  /// instance has none.
  func cheapestCause(_ slot: WaitingSlot) -> Cause? {
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].value == 0 { return causes[place] }
    }
    return self[slot].firstCause.ifPresent.map { causes[$0] }
  }

  /// Detaches the causes of an instance from an interest entry that is being removed. They stay pending, but no later event
  /// can supersede them by that key.
  mutating func detach(_ slot: WaitingSlot, from entry: EntrySlot) {
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].entry == entry { causes[place].entry = .absent }
    }
  }

  /// Returns the earliest time at which a cause of an instance expires; the distant future if it has none.
  func earliestExpiry(_ slot: WaitingSlot) -> Timestamp { self[slot].earliestExpiry }

  /// Returns the earliest time after an instant at which a cause expires; the distant future if there is none. A cause
  /// may still wait after it has expired, so the earliest time of all may be past.
  func nextExpiry(_ slot: WaitingSlot, after instant: Timestamp) -> Timestamp {
    let earliest = earliestExpiry(slot)
    return earliest > instant ? earliest : self.earliest(slot, after: instant)
  }

  private func earliest(_ slot: WaitingSlot, after instant: Timestamp = .distantPast) -> Timestamp {
    var earliest = Timestamp.distantFuture
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      let expires = causes[place].expires
      if expires > instant { earliest = min(earliest, expires) }
    }
    return earliest
  }

  // MARK: Timers

  private mutating func make(_ slot: inout WaitingSlot) {
    if slot.isAbsent { slot = waitings.insert(Waiting()) }
  }

  /// Sets the time at which an instance is examined again. If the queue holds an earlier entry for it, that entry is moved
  /// when it fires.
  /// - Parameters:
  ///   - slot: The slot of the instance, which gets one if it has none.
  ///   - due: The log time; the distant future if never.
  ///   - instance: The instance.
  ///   - order: The instance's sort key. Timers of the same time fire in its order.
  @inline(__always)
  mutating func setDue(_ slot: inout WaitingSlot, _ due: Timestamp, instance: InstanceSlot, order: UInt64) {
    if due == .distantFuture { return clearDue(&slot) }
    make(&slot)
    waitings[slot].due = due
    if due < waitings[slot].armedAt {
      waitings[slot].armedAt = due
      timers.insert(TimerQueue.Entry(due: due, order: order, instance: instance))
    }
  }

  /// Whether so many entries of the timer queue are outdated that `removeOutdatedTimers` should be called.
  var hasOutdatedTimers: Bool { timers.count > TimerQueue.entriesMax(waiting: waitings.liveCount) }

  /// Removes the entries of the timer queue that no longer stand for an instance. When an instance gets an earlier timer, the
  /// entry for the later time stays behind. Without this, events that wake an instance again and again would leave any number
  /// of entries.
  /// - Parameter state: Returns the slot and the sort key of an instance.
  mutating func removeOutdatedTimers(_ state: (InstanceSlot) -> (waiting: WaitingSlot, order: UInt64)) {
    timers.removeAll { entry in
      let (waiting, order) = state(entry.instance)
      return waiting.isAbsent || order != entry.order || waitings[waiting].armedAt != entry.due
    }
  }

  /// Clears the time at which an instance is examined again.
  @inline(__always)
  mutating func clearDue(_ slot: inout WaitingSlot) {
    if slot.isAbsent { return }
    waitings[slot].due = .distantFuture
    settle(&slot)
  }

  /// Frees the slot of an instance if it has no causes and no entry in the timer queue.
  mutating func settle(_ slot: inout WaitingSlot) {
    if !slot.isAbsent, waitings[slot].isOver { drop(&slot) }
  }

  /// Frees the slot of an instance, whatever it holds. Its causes must have been removed.
  mutating func drop(_ slot: inout WaitingSlot) {
    if slot.isAbsent { return }
    waitings.remove(slot, leaving: Waiting())
    slot = .absent
  }

  /// The due time of the first entry of the timer queue, which may be outdated; nil if there is none.
  var nextTimer: Timestamp? { timers.first?.due }

  /// Removes the first entry of the timer queue if it is due.
  /// - Parameter now: Log time.
  /// - Returns: The entry; nil if none is due.
  mutating func takeTimer(now: Timestamp) -> TimerQueue.Entry? {
    guard let first = timers.first, first.due <= now else { return nil }
    return timers.removeFirst()
  }

  /// Notes that the queue's entry for an instance has fired.
  /// - Parameters:
  ///   - slot: The slot of the instance.
  ///   - entry: The entry, whose time is the slot's `armedAt`.
  /// - Returns: Whether the instance is due. If not, the caller must set its due time again.
  mutating func fire(_ slot: WaitingSlot, _ entry: TimerQueue.Entry) -> Bool {
    waitings[slot].armedAt = .distantFuture
    if waitings[slot].due > entry.due { return false }
    waitings[slot].due = .distantFuture
    return true
  }

  /// Builds the timer queue after a restore.
  /// - Parameters:
  ///   - entries: Every instance that waits, in any order.
  ///   - now: Log time.
  mutating func restoreTimers(
    _ entries: [(waiting: WaitingSlot, instance: InstanceSlot, order: UInt64)], now: Timestamp
  ) {
    var due: ContiguousArray<TimerQueue.Entry> = []
    for (waiting, instance, order) in entries where waitings[waiting].due != .distantFuture {
      waitings[waiting].armedAt = waitings[waiting].due
      due.append(TimerQueue.Entry(due: waitings[waiting].due, order: order, instance: instance))
    }
    timers = TimerQueue(due, now: now == .distantPast ? nil : now)
  }

  /// Removes an event that no waiting cause names any more, for a restore that removes a device it had added.
  mutating func forget(_ event: EventSlot) { events.remove(event, leaving: EventEntry()) }

  /// Removes all causes of an instance, for a restore that removes a device it had added.
  /// - Parameter slot: The slot of the instance, which stays in use.
  /// - Returns: The events that no waiting cause names any more. They are kept until `forget` removes them.
  mutating func unplace(_ slot: WaitingSlot) -> [EventSlot] {
    var unused: [EventSlot] = []
    while let cause = takeCause(from: slot, where: { _ in true }) {
      events[cause.event].references -= 1
      if events[cause.event].references == 0 { unused.append(cause.event) }
    }
    return unused
  }

  // MARK: Walks

  /// Returns a walk along the causes of an instance, oldest first.
  func causes(of slot: WaitingSlot) -> CauseWalk {
    CauseWalk(upcoming: slot.isAbsent ? .absent : waitings[slot].firstCause)
  }

  /// A walk along the causes of one instance, oldest first. See `InstanceWalk`.
  struct CauseWalk {
    fileprivate var upcoming: CauseSlot

    /// Returns the next cause, which may then be removed; nil at the end.
    @inline(__always)
    mutating func next(_ pending: Pending) -> CauseSlot? {
      if upcoming.isAbsent { return nil }
      let cause = upcoming
      upcoming = pending.causes[cause].next
      return cause
    }
  }

  /// Traps if an invariant is broken that must hold whenever no log record is being processed. Reads everything; for
  /// tests.
  /// - Parameter waiting: The slots of all instances that have one.
  func checkInvariants(waiting: [WaitingSlot]) {
    waitings.checkInvariants()
    causes.checkInvariants()
    events.checkInvariants()
    precondition(waiting.count == waitings.liveCount, "a waiting slot that no instance has")
    var references: [EventSlot: UInt32] = [:]
    var count = 0
    for slot in waiting {
      var (own, last) = (0, CauseSlot.absent)
      var walk = causes(of: slot)
      while let place = walk.next(self) {
        references[causes[place].event, default: 0] += 1
        (own, last) = (own + 1, place)
      }
      precondition(own == Int(self[slot].causes) && last == self[slot].lastCause, "a chain of causes is broken")
      precondition(self[slot].earliestExpiry == earliest(slot), "an earliest expiry that no cause has")
      precondition(self[slot].armedAt <= self[slot].due, "an instance is examined later than it is due")
      count += own
    }
    precondition(count == causes.liveCount, "a cause that waits on no instance")
    for (event, least) in references { precondition(events[event].references >= least, "an event lacks references") }
  }
}
