import Domain

/// What waits on one instance, and when the instance is examined again.
struct Waiting {
  /// The causes that wait, oldest first.
  fileprivate(set) var firstCause = CauseSlot.absent
  fileprivate(set) var lastCause = CauseSlot.absent
  fileprivate(set) var causes: UInt16 = 0
  /// The worth of all causes as of `valueAt`, without the chance that somebody looks.
  fileprivate(set) var value: Float = 0
  fileprivate(set) var valueAt = Timestamp(microseconds: 0)
  /// The instant at which the instance must be examined again; the distant future: never.
  fileprivate(set) var due = Timestamp.distantFuture
  /// The due time of the entry in the timer queue that stands for the instance; the distant future where there is none.
  fileprivate(set) var armedAt = Timestamp.distantFuture

  /// Whether no event waits.
  @inline(__always)
  var isEmpty: Bool { firstCause.isAbsent }

  /// Whether the slot can be given back: nothing waits and no timer stands for the instance.
  fileprivate var isOver: Bool { isEmpty && due == .distantFuture && armedAt == .distantFuture }
}

/// One event that waits on one instance.
struct Cause {
  /// The event in the event table.
  var event = EventSlot.absent
  fileprivate(set) var next = CauseSlot.absent
  /// The interest entry by which the event came; absent once the instance no longer listens to that key.
  fileprivate(set) var entry = EntrySlot.absent
  /// The relevance; negative where the event shows what waits already, so that it adds no value.
  var signedRelevance: Float = 0
  /// The log time of arrival.
  var at = Timestamp(microseconds: 0)
  var expires = Timestamp(microseconds: 0)

  init() {}

  init(event: EventSlot, entry: EntrySlot, signedRelevance: Float, at: Timestamp, expires: Timestamp) {
    self.event = event
    self.entry = entry
    self.signedRelevance = signedRelevance
    self.at = at
    self.expires = expires
  }

  var relevance: Float { signedRelevance.magnitude }
  /// The value that showing it would add to what the others show.
  var value: Float { max(0, signedRelevance) }
}

/// An event that decisions refer to. It lives as long as something refers to it.
struct EventEntry {
  fileprivate(set) var id = ""
  fileprivate(set) var traceparent: String?
  fileprivate(set) var references: UInt32 = 0
}

/// The events that wait on instances, with their values and timers.
struct Pending {
  private var waitings = SlotPool<WaitingTag, Waiting>()
  private(set) var causes = SlotPool<CauseTag, Cause>()
  private(set) var events = SlotPool<EventTag, EventEntry>()
  private var timers = TimerQueue()

  /// The number of instances that wait for something.
  var waitingCount: Int { waitings.liveCount }
  /// The number of entries of the timer queue, outdated ones included.
  var timerCount: Int { timers.count }
  /// The largest number of causes that wait on one instance.
  var causesPerInstance: Int { waitings.values.reduce(0) { max($0, Int($1.causes)) } }
  /// The bytes of the tables.
  var bytes: Int { waitings.bytes + causes.bytes + events.bytes + timers.bytes }

  /// What waits on an instance.
  @inline(__always)
  subscript(slot: WaitingSlot) -> Waiting { slot.isAbsent ? Waiting() : waitings[slot] }

  /// Returns whether no event waits.
  @inline(__always)
  func isEmpty(_ slot: WaitingSlot) -> Bool { slot.isAbsent || waitings[slot].isEmpty }

  // MARK: Events

  /// Adds an event with one reference.
  mutating func insert(event id: String, traceparent: String?) -> EventSlot {
    events.insert(EventEntry(id: id, traceparent: traceparent, references: 1))
  }

  /// Adds an event that nothing refers to yet, for a restore.
  mutating func restore(event id: String, traceparent: String?) -> EventSlot {
    events.insert(EventEntry(id: id, traceparent: traceparent, references: 0))
  }

  /// Removes a reference to an event, and the event with the last one.
  mutating func release(_ event: EventSlot) {
    events[event].references -= 1
    if events[event].references == 0 { events.remove(event, leaving: EventEntry()) }
  }

  // MARK: Causes

  /// Adds a cause behind the others of its instance; the event gets one more reference.
  /// - Parameter value: The worth of all causes now, this one included.
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
  }

  /// Puts a cause behind the others of its instance, for a restore.
  mutating func restore(_ cause: Cause, to slot: inout WaitingSlot) { link(cause, to: &slot) }

  /// Sets what the records hold of an instance that waits, for a restore.
  mutating func restore(_ slot: inout WaitingSlot, due: Timestamp, value: Float, valueAt: Timestamp) {
    make(&slot)
    waitings[slot].due = due
    waitings[slot].value = value
    waitings[slot].valueAt = valueAt
    settle(&slot)
  }

  /// Takes the first cause for which `ends` returns true out of what waits. The caller keeps the cause's reference to the
  /// event. `resum` afterwards.
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
      return cause
    }
    return nil
  }

  /// Sums the worth of what is left after causes have gone.
  mutating func resum(_ slot: inout WaitingSlot, inverseHalfLife: Double, now: Timestamp) {
    var sum = 0.0
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      let cause = causes[place]
      sum += Double(cause.value) * Decay.factor(age: now - cause.at, inverseHalfLife: inverseHalfLife)
    }
    waitings[slot].value = Float(sum)
    waitings[slot].valueAt = now
    settle(&slot)
  }

  /// Returns the worth of everything that waits, decayed to an instant, without the chance that somebody looks.
  @inline(__always)
  func value(_ slot: WaitingSlot, at instant: Timestamp, inverseHalfLife: Double) -> Double {
    if slot.isAbsent { return 0 }
    let value = waitings[slot].value
    if value == 0 { return 0 }
    return Double(value) * Decay.factor(age: instant - waitings[slot].valueAt, inverseHalfLife: inverseHalfLife)
  }

  /// Returns whether something of value waits that came by an interest entry.
  @inline(__always)
  func hasValue(_ slot: WaitingSlot, by entry: EntrySlot) -> Bool {
    if isEmpty(slot) { return false }
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].entry == entry, causes[place].value > 0 { return true }
    }
    return false
  }

  /// Returns the cause to end when one more than the bound arrives: the oldest of those that add nothing, or the oldest.
  func cheapestCause(_ slot: WaitingSlot) -> Cause? {
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].value == 0 { return causes[place] }
    }
    return self[slot].firstCause.ifPresent.map { causes[$0] }
  }

  /// Detaches the causes that came by an entry which the instance no longer has: they stay pending, but no later event can
  /// supersede them by that key.
  mutating func detach(_ slot: WaitingSlot, from entry: EntrySlot) {
    var walk = causes(of: slot)
    while let place = walk.next(self) {
      if causes[place].entry == entry { causes[place].entry = .absent }
    }
  }

  /// Returns the earliest expiry of what waits; the distant future where nothing does.
  func earliestExpiry(_ slot: WaitingSlot) -> Timestamp {
    var earliest = Timestamp.distantFuture
    var walk = causes(of: slot)
    while let place = walk.next(self) { earliest = min(earliest, causes[place].expires) }
    return earliest
  }

  // MARK: Timers

  private mutating func make(_ slot: inout WaitingSlot) {
    if slot.isAbsent { slot = waitings.insert(Waiting()) }
  }

  /// Sets when an instance is examined again. An entry of the queue that is too early is moved when it fires.
  /// - Parameter order: The instance's sort key, the tie-break of timers of one instant.
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

  /// Removes the entries of the timer queue that no longer stand for an instance. An instance that is woken early leaves the
  /// entry for later behind, and makes another one when it has been examined: as many as events wake it.
  mutating func removeOutdatedTimers(_ state: (InstanceSlot) -> (waiting: WaitingSlot, order: UInt64)) {
    timers.removeAll { entry in
      let (waiting, order) = state(entry.instance)
      return waiting.isAbsent || order != entry.order || waitings[waiting].armedAt != entry.due
    }
  }

  /// Makes the instance one that need not be examined again.
  @inline(__always)
  mutating func clearDue(_ slot: inout WaitingSlot) {
    if slot.isAbsent { return }
    waitings[slot].due = .distantFuture
    settle(&slot)
  }

  /// Gives the slot back when nothing waits and no timer stands for the instance.
  @inline(__always)
  mutating func settle(_ slot: inout WaitingSlot) {
    if !slot.isAbsent, waitings[slot].isOver { drop(&slot) }
  }

  /// Gives the slot back, whatever it holds.
  mutating func drop(_ slot: inout WaitingSlot) {
    if slot.isAbsent { return }
    waitings.remove(slot, leaving: Waiting())
    slot = .absent
  }

  /// The due time of the first timer; nil when nothing waits.
  var nextTimer: Timestamp? { timers.first?.due }

  /// Takes the next entry of the timer queue that is due.
  mutating func takeTimer(now: Timestamp) -> TimerQueue.Entry? {
    guard let first = timers.first, first.due <= now else { return nil }
    return timers.removeFirst()
  }

  /// Notes that the queue's entry for an instance has fired.
  /// - Returns: Whether the instance is due. If it is not yet, the entry for its later due time is to be set.
  mutating func fire(_ slot: WaitingSlot, _ entry: TimerQueue.Entry) -> Bool {
    waitings[slot].armedAt = .distantFuture
    if waitings[slot].due > entry.due { return false }
    waitings[slot].due = .distantFuture
    return true
  }

  /// Builds the timer queue after a restore.
  /// - Parameter entries: Every instance that waits, in any order.
  mutating func restoreTimers(_ entries: [(waiting: WaitingSlot, instance: InstanceSlot, order: UInt64)]) {
    var due: ContiguousArray<TimerQueue.Entry> = []
    for (waiting, instance, order) in entries where waitings[waiting].due != .distantFuture {
      waitings[waiting].armedAt = waitings[waiting].due
      due.append(TimerQueue.Entry(due: waitings[waiting].due, order: order, instance: instance))
    }
    timers = TimerQueue(due)
  }

  /// Removes an event that nothing refers to, for a restore that takes a device out again.
  mutating func forget(_ event: EventSlot) { events.remove(event, leaving: EventEntry()) }

  /// Takes all causes of an instance out, for a restore that takes a device out again.
  /// - Returns: The events that nothing refers to any more.
  mutating func unplace(_ slot: WaitingSlot) -> [EventSlot] {
    var unused: [EventSlot] = []
    while let cause = takeCause(from: slot, where: { _ in true }) {
      events[cause.event].references -= 1
      if events[cause.event].references == 0 { unused.append(cause.event) }
    }
    return unused
  }

  // MARK: Walks

  @inline(__always)
  func causes(of slot: WaitingSlot) -> CauseWalk {
    CauseWalk(upcoming: slot.isAbsent ? .absent : waitings[slot].firstCause)
  }

  /// A walk along the causes of one instance, oldest first. See `InstanceWalk`.
  struct CauseWalk {
    fileprivate var upcoming: CauseSlot

    @inline(__always)
    mutating func next(_ pending: borrowing Pending) -> CauseSlot? {
      if upcoming.isAbsent { return nil }
      let cause = upcoming
      upcoming = pending.causes[cause].next
      return cause
    }
  }

  /// Checks what holds between any two records.
  /// - Parameter waiting: The slot of every instance that has one.
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
      precondition(self[slot].armedAt <= self[slot].due, "an instance is examined later than it is due")
      count += own
    }
    precondition(count == causes.liveCount, "a cause that waits on no instance")
    for (event, least) in references { precondition(events[event].references >= least, "an event lacks references") }
  }
}
