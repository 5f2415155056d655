import Domain

extension Fleet {
  /// The number of events that `prefetch` looks up at once. The memory that so many events touch stays in the processor's caches
  /// until they are planned, and so many are enough to overlap the waits for memory.
  static let prefetchMax = 16  // the size of the arrays below

  /// The smallest number of entries ahead of a fan-out for which prefetching costs less than it saves.
  static let prefetchedMin = 4

  /// See `Planner.prefetch(_:)`.
  @inline(never)
  borrowing func prefetch(_ hashes: Span<EventHashes>) {
    // The slots that the step before found for each event.
    var slots = InlineArray<16, SubjectSlot>(repeating: .absent)
    var interests = InlineArray<16, InterestSlot>(repeating: .absent)
    let count = min(hashes.count, Self.prefetchMax)
    for i in 0..<count { subjects.prefetch(hashes[i].entry) }
    for i in 0..<count {
      slots[i] = subjects.candidate(hashes[i].entry) ?? .absent
      if !slots[i].isAbsent { subjects.slots.prefetch(slots[i]) }
    }
    // The first event of its subject and type does not know yet which entry it needs next.
    var keys = InlineArray<16, KeyedHash>(repeating: .none)
    for i in 0..<count {
      let isFirst = slots[i].isAbsent || subjects.slots[slots[i]].related.isAbsent
      if isFirst { keys[i] = truthKey(hashes[i]) }
      if !keys[i].isNone { subjects.prefetch(keys[i]) }
    }
    for i in 0..<count where !keys[i].isNone {
      if let truth = subjects.candidate(keys[i]) { subjects.slots.prefetch(truth) }
    }
    for i in 0..<count where !slots[i].isAbsent {
      interests[i] = subjects.slots[slots[i]].interest
      if !interests[i].isAbsent { registry.interests.prefetch(interests[i]) }
    }
    prefetch(interestsOf: hashes, known: &interests, count: count)
    for i in 0..<count where !slots[i].isAbsent {
      subjects.slots[slots[i]].newest.items.prefetch()
    }
    // Only the first three entries that follow: most event types concern no more kinds.
    for _ in 0..<3 {
      for i in 0..<count where !slots[i].isAbsent {
        slots[i] = subjects.slots[slots[i]].related
        if !slots[i].isAbsent { subjects.slots.prefetch(slots[i]) }
      }
    }
    for i in 0..<count where !interests[i].isAbsent {
      registry.texts.prefetch(registry.interests.key(of: interests[i]))
    }
    prefetch(listenersOf: interests, count: count)
    prefetchTimers()
  }

  /// Returns the key of what is known of an event's subject for the first kind that has a rule for the event and displays fields; none if
  /// no event of its type came lately.
  private borrowing func truthKey(_ hashes: EventHashes) -> KeyedHash {
    guard let type = rules.recentType(hashes.type) else { return .none }
    for place in 0..<rules.ruleCount(ofType: type) {
      let kind = rules.kind(ofRule: place, ofType: type)
      if !rules[kind].display.isEmpty { return rules[kind].display.truthKey(subject: hashes.subject) }
    }
    return .none
  }

  /// Looks up the interest keys that the subject memory does not know, and drops those that nothing listens to.
  /// - Parameters:
  ///   - hashes: The hashes of the next events.
  ///   - interests: The interest keys that the subject memory knows. Receives the others that were found.
  ///   - count: The number of events.
  private borrowing func prefetch(
    interestsOf hashes: Span<EventHashes>, known interests: inout InlineArray<16, InterestSlot>, count: Int
  ) {
    for i in 0..<count where interests[i].isAbsent { registry.interests.prefetch(hash: hashes[i].interest) }
    for i in 0..<count where interests[i].isAbsent {
      interests[i] = registry.interests.candidate(hashes[i].interest) ?? .absent
      if !interests[i].isAbsent { registry.interests.prefetch(interests[i]) }
    }
    for i in 0..<count where !interests[i].isAbsent {
      if registry.interests.count(of: interests[i]) == 0 { interests[i] = .absent }
    }
  }

  /// Loads what decisions about the first devices of several fan-outs read. A longer fan-out prefetches for itself.
  private borrowing func prefetch(listenersOf interests: InlineArray<16, InterestSlot>, count: Int) {
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    var filled = 0
    for i in 0..<count where !interests[i].isAbsent {
      for place in 0..<min(registry.interests.count(of: interests[i]), Self.prefetchedMin) {
        entries[filled] = registry.interests.entry(place, of: interests[i])
        filled += 1
        if filled == Self.prefetchMax {
          prefetch(entries, count: filled, withTexts: true)
          filled = 0
        }
      }
    }
    prefetch(entries, count: filled, withTexts: true)
  }

  /// Loads what decisions read that events by these entries lead to.
  private borrowing func prefetch(_ entries: InlineArray<16, EntrySlot>, count: Int, withTexts: Bool) {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    for i in 0..<count { registry.entries.prefetch(entries[i]) }
    for i in 0..<count { instances[i] = registry.entries[entries[i]].instance }
    prefetch(reached: &instances, count: count, withTexts: withTexts)
  }

  /// The time from now in which a timer must be due for `prefetchTimers` to load what it needs.
  private static let timersAhead = TimeSpan.seconds(1)

  /// Loads what the examinations read to which the next timers lead. They are among the first entries of the queue.
  private borrowing func prefetchTimers() {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    var filled = 0
    for place in 0..<min(pending.upcomingTimerCount, Self.prefetchMax) {
      let timer = pending.timer(place)
      guard timer.due <= now + Self.timersAhead else { continue }
      instances[filled] = timer.instance
      filled += 1
    }
    if filled > 0 { prefetch(reached: &instances, count: filled, withTexts: true) }
  }

  /// Loads the table entries of the next devices that a fan-out reaches into the processor's caches. It changes no state.
  /// - Parameters:
  ///   - place: The place of the next entry in the interest's list.
  ///   - interest: The interest.
  @inline(never)
  borrowing func prefetch(fanOutFrom place: Int, of interest: InterestSlot) {
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    let count = min(registry.interests.count(of: interest) - place, Self.prefetchMax)
    for i in 0..<count { entries[i] = registry.interests.entry(place + i, of: interest) }
    prefetch(entries, count: count, withTexts: false)
  }

  /// Loads the table entries that decisions about these instances read: their devices, and of all instances of the devices the
  /// screens and what waits.
  /// - Parameters:
  ///   - instances: One instance of each device. The call changes them.
  ///   - count: The number of devices.
  ///   - withTexts: Whether ids and push tokens of the devices are loaded, too, for steps of so few decisions that writing them does
  ///     not load several at once.
  @inline(never)
  private borrowing func prefetch(
    reached instances: inout InlineArray<16, InstanceSlot>, count: Int, withTexts: Bool = false
  ) {
    var devices = InlineArray<16, DeviceSlot>(repeating: .absent)
    for i in 0..<count where !instances[i].isAbsent { registry.instances.prefetch(instances[i]) }
    for i in 0..<count where !instances[i].isAbsent {
      devices[i] = registry.instances[instances[i]].device
      if !devices[i].isAbsent { registry.devices.prefetch(devices[i]) }
    }
    for i in 0..<count where !devices[i].isAbsent {
      instances[i] = registry.devices[devices[i]].firstInstance
      if !instances[i].isAbsent { registry.instances.prefetch(instances[i]) }
    }
    // Only the first four instances: most devices have no more. Each step reads the same of all of them before the next step
    // follows what it has found, so that as many waits as possible overlap.
    let first = instances
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { prefetch(behind: &instances[i]) }
    }
    instances = first
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { prefetch(contentOf: &instances[i]) }
    }
    if !withTexts { return }
    for i in 0..<count where !devices[i].isAbsent {
      registry.texts.prefetch(registry.devices[devices[i]].id)
      let tokens = registry.devices[devices[i]].tokens
      if !tokens.isAbsent { registry.texts.prefetch(tokens) }
    }
  }

  // Both of these functions replace the instance by the next one of the device.

  /// Loads what an instance leads to: the next one, its first entry and what waits on it.
  @inline(__always)
  private borrowing func prefetch(behind instance: inout InstanceSlot) {
    let (entry, waiting) = (registry.instances[instance].firstEntry, registry.instances[instance].waiting)
    instance = registry.instances[instance].next
    if !instance.isAbsent { registry.instances.prefetch(instance) }
    if !entry.isAbsent { registry.entries.prefetch(entry) }
    if !waiting.isAbsent { pending.prefetch(waiting) }
  }

  /// Loads the values that an instance shows by its first entry, and the newest cause that waits on it.
  @inline(__always)
  private borrowing func prefetch(contentOf instance: inout InstanceSlot) {
    let (entry, waiting) = (registry.instances[instance].firstEntry, registry.instances[instance].waiting)
    let row = entry.isAbsent ? ShownRow.absent : registry[screen: entry].row
    let cause = waiting.isAbsent ? CauseSlot.absent : pending[waiting].lastCause
    if !row.isAbsent { screens.prefetch(row) }
    if !cause.isAbsent { pending.causes.prefetch(cause) }
    instance = registry.instances[instance].next
  }

  // MARK: Timers

  /// The smallest number of timers ahead for which prefetching costs less than it saves.
  private static let timersMin = 4

  /// Loads what the examinations read to which the next due timers lead. It changes no state.
  /// - Returns: The number of timers that may fire before the next call, at least 1 if one is due.
  @inline(never)
  borrowing func prefetchDueTimers() -> Int {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    let count = pending.dueTimers(now: now, into: &instances)
    if count >= Self.timersMin { prefetch(reached: &instances, count: count) }
    return count
  }

  // MARK: Texts

  /// Looks up the states of the subjects that the screens of the instances that a push reaches show by their first entries, for `markFresh`. Each step is
  /// made for all of them, so that the waits for memory overlap.
  @inline(never)
  func findTruthsOfReached(by visit: inout DeviceVisit, _ event: borrowing EventInHand) {
    visit.reachedTruths.clear()
    var names = InlineArray<16, TextHandle>(repeating: .absent)
    var keys = InlineArray<16, KeyedHash>(repeating: .none)
    let count = min(visit.reached.count, Self.prefetchMax)
    for i in 0..<count {
      let instance = visit.reached[i]
      let (entry, kind) = (registry.instances[instance].firstEntry, registry.instances[instance].kind)
      // Without a row nothing is known field by field, and the event in hand has the state of its own subject.
      if entry.isAbsent { continue }
      if registry[screen: entry].row.isAbsent { continue }
      if registry.entries[entry].interest == event.subjectInterest, event.truth(kind, rules) >= 0 {
        continue
      }
      names[i] = registry.interests.key(of: registry.entries[entry].interest)
    }
    for i in 0..<count where !names[i].isAbsent { registry.texts.prefetch(names[i]) }
    for i in 0..<count where !names[i].isAbsent {
      let name = registry.texts.bytes.span.extracting(registry.texts.range(of: names[i]))
      keys[i] = rules[registry.instances[visit.reached[i]].kind].display.truthKey(
        subject: name, hashKey: hashKey)
    }
    let slots = subjects.slots(keys, count: count)
    for i in 0..<count {
      if !slots[i].isAbsent { subjects.slots.prefetch(slots[i]) }
      visit.reachedTruths.append(slots[i])
    }
  }

  /// Loads the ids of the devices that the next decisions of a step are about. It changes no state.
  /// - Parameters:
  ///   - place: The place of the first of these decisions in `output`.
  ///   - output: The output of the last step.
  @inline(never)
  borrowing func prefetch(idsFrom place: Int, of output: PlannerOutput) {
    for decision in output.decisions[place...].prefix(Self.prefetchMax) {
      registry.texts.prefetch(registry.devices[registry.instances[decision.instance].device].id)
    }
  }

  /// Loads the push tokens of the devices to which the next commands of a step are sent. It changes no state. The parameters are
  /// those of `prefetch(idsFrom:of:)`, for commands.
  @inline(never)
  borrowing func prefetch(tokensFrom place: Int, of output: PlannerOutput) {
    for command in output.commands[place...].prefix(Self.prefetchMax) {
      let tokens = registry.devices[command.device].tokens
      if !tokens.isAbsent { registry.texts.prefetch(tokens) }
    }
  }

  // MARK: State records

  /// Loads the table entries of the devices whose state records are written next into the processor's caches. It changes no
  /// state.
  /// - Parameter slots: The devices; those beyond `prefetchMax` are ignored.
  @inline(never)
  borrowing func prefetch(devices slots: ArraySlice<DeviceSlot>) {
    var first = InlineArray<16, InstanceSlot>(repeating: .absent)
    // Additions have no names.
    var isNamed = InlineArray<16, Bool>(repeating: false)
    let count = min(slots.count, Self.prefetchMax)
    for i in 0..<count { registry.devices.prefetch(slots[slots.startIndex + i]) }
    for i in 0..<count {
      let device = slots[slots.startIndex + i]
      let flags = registry.devices[device].flags
      isNamed[i] = flags.contains(.rebuilt) || !flags.contains(.changed)
      first[i] = registry.devices[device].firstInstance
      if !first[i].isAbsent { registry.instances.prefetch(first[i]) }
      // A device that was removed has no id any more.
      let id = registry.devices[device].id
      if isNamed[i], !id.isAbsent { registry.texts.prefetch(id) }
    }
    // Only the first four instances: most devices have no more.
    var instances = first
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { prefetch(behind: &instances[i]) }
    }
    instances = first
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent {
        let entry = registry.instances[instances[i]].firstEntry
        instances[i] = registry.instances[instances[i]].next
        if entry.isAbsent { continue }
        let row = registry[screen: entry].row
        if !row.isAbsent { screens.prefetch(row) }
        if isNamed[i] { registry.texts.prefetch(registry.interests.key(of: registry.entries[entry].interest)) }
      }
    }
  }
}
