import Domain

extension Planner {
  /// The number of hints that `prefetch` takes at once. The memory that so many events touch stays in the processor's caches
  /// until they are planned, and so many are enough to overlap the waits for memory.
  public static let hintsMax = 16  // the size of the arrays below

  /// Loads the table entries that the next events will look up into the processor's caches. It changes no state.
  ///
  /// The tables of a large fleet are larger than the caches, so planning an event that reaches few devices mostly waits for
  /// memory: index, key, subscriber, instance and device, each look-up after the one before. Here each step is made for
  /// several events at once, so that their waits overlap.
  /// - Parameter hints: The hints of the next records; those beyond `hintsMax` are ignored.
  /// - Returns: A sum over the values read, without meaning. It keeps the compiler from removing the reads.
  @inline(never) @discardableResult
  public borrowing func prefetch(_ hints: [LookUpHint]) -> UInt32 {
    var sum: UInt32 = 0
    // The slots that the step before found for each event.
    var slots = InlineArray<16, SubjectSlot>(repeating: .absent)
    var interests = InlineArray<16, InterestSlot>(repeating: .absent)
    let count = min(hints.count, Self.hintsMax)
    for i in 0..<count { sum &+= subjects.touch(hints[i].subject) }
    for i in 0..<count { slots[i] = subjects.candidate(hints[i].subject) ?? .absent }
    for i in 0..<count where !slots[i].isAbsent {
      // The key is the first field; the slot of the interest lies so far behind it that both load the whole entry.
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].key)
      interests[i] = subjects.slots[slots[i]].interest
    }
    sum &+= prefetch(interestsOf: hints, known: &interests, count: count)
    for i in 0..<count where !slots[i].isAbsent {
      // Four events take as many bytes as the processor loads at a time.
      for place in stride(from: 0, to: subjects.slots[slots[i]].newest.events.count, by: 4) {
        sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.events[place].id)
      }
    }
    // Only the first three entries that follow: most event types concern no more kinds.
    for _ in 0..<3 {
      for i in 0..<count where !slots[i].isAbsent { slots[i] = subjects.slots[slots[i]].related }
      for i in 0..<count where !slots[i].isAbsent {
        sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.values.count)
      }
    }
    for i in 0..<count where !interests[i].isAbsent {
      sum &+= registry.texts.touch(registry.interests.key(of: interests[i]))
    }
    return sum &+ prefetch(listenersOf: interests, count: count) &+ prefetchTimers()
  }

  /// Looks up the interest keys that the subject memory does not know, and drops those that nothing listens to.
  /// - Parameters:
  ///   - hints: The hints of the next records.
  ///   - interests: The interest keys that the subject memory knows. Receives the others that were found.
  ///   - count: The number of hints.
  private borrowing func prefetch(
    interestsOf hints: [LookUpHint], known interests: inout InlineArray<16, InterestSlot>, count: Int
  ) -> UInt32 {
    var sum: UInt32 = 0
    var hashes = InlineArray<16, UInt32>(repeating: 0)
    for i in 0..<count where interests[i].isAbsent {
      hashes[i] = hints[i].interest
      sum &+= registry.interests.touch(hashes[i])
    }
    for i in 0..<count where interests[i].isAbsent {
      interests[i] = registry.interests.candidate(hashes[i]) ?? .absent
    }
    for i in 0..<count where !interests[i].isAbsent {
      if registry.interests.count(of: interests[i]) == 0 { interests[i] = .absent }
    }
    return sum
  }

  /// Loads what decisions about the first devices of several fan-outs read. A longer fan-out prefetches for itself.
  private borrowing func prefetch(listenersOf interests: InlineArray<16, InterestSlot>, count: Int) -> UInt32 {
    var sum: UInt32 = 0
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    var filled = 0
    for i in 0..<count where !interests[i].isAbsent {
      for place in 0..<min(registry.interests.count(of: interests[i]), Self.prefetchedMin) {
        entries[filled] = registry.interests.entry(place, of: interests[i])
        filled += 1
        if filled == Self.hintsMax {
          sum &+= prefetch(entries, count: filled)
          filled = 0
        }
      }
    }
    return sum &+ prefetch(entries, count: filled)
  }

  /// Loads what decisions read that events by these entries lead to.
  private borrowing func prefetch(_ entries: InlineArray<16, EntrySlot>, count: Int) -> UInt32 {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    for i in 0..<count { instances[i] = registry.entries[entries[i]].instance }
    return prefetch(reached: &instances, count: count, withTexts: true)
  }

  /// The time from now in which a timer must be due for `prefetchTimers` to load what it needs.
  private static let timersAhead = TimeSpan.seconds(1)

  /// Loads what the examinations read to which the next timers lead. They are among the first entries of the queue.
  private borrowing func prefetchTimers() -> UInt32 {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    var filled = 0
    for place in 0..<min(pending.upcomingTimerCount, Self.hintsMax) {
      let timer = pending.timer(place)
      guard timer.due <= now + Self.timersAhead else { continue }
      instances[filled] = timer.instance
      filled += 1
    }
    return filled == 0 ? 0 : prefetch(reached: &instances, count: filled, withTexts: true)
  }

  /// Loads the table entries of the next devices that a fan-out reaches into the processor's caches. It changes no state.
  /// - Parameters:
  ///   - place: The place of the next entry in the interest's list.
  ///   - interest: The interest.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  borrowing func prefetch(fanOutFrom place: Int, of interest: InterestSlot) -> UInt32 {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    let count = min(registry.interests.count(of: interest) - place, Self.hintsMax)
    for i in 0..<count { instances[i] = registry.entries[registry.interests.entry(place + i, of: interest)].instance }
    return prefetch(reached: &instances, count: count)
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
  ) -> UInt32 {
    var sum: UInt32 = 0
    var devices = InlineArray<16, DeviceSlot>(repeating: .absent)
    for i in 0..<count where !instances[i].isAbsent { devices[i] = registry.instances[instances[i]].device }
    for i in 0..<count where !devices[i].isAbsent {
      sum &+= registry.devices[devices[i]].lastCommand.ordinal
      instances[i] = registry.devices[devices[i]].firstInstance
    }
    // Only the first four instances: most devices have no more. Each step reads the same of all of them before the next step
    // follows what it has found, so that as many waits as possible overlap.
    let first = instances
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { sum &+= touch(instance: &instances[i]) }
    }
    instances = first
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { sum &+= touch(screenOf: &instances[i]) }
    }
    instances = first
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { sum &+= touch(contentOf: &instances[i]) }
    }
    if withTexts {
      for i in 0..<count where !devices[i].isAbsent {
        let device = registry.devices[devices[i]]
        sum &+= registry.texts.touch(device.id)
        if !device.tokens.isAbsent { sum &+= registry.texts.touch(device.tokens) }
      }
    }
    return sum
  }

  // Each of these three functions replaces the instance by the next one of the device, and returns a number without meaning.

  /// Loads an instance: the first and the last fields, because an instance is longer than what the processor loads at a time.
  @inline(__always)
  private borrowing func touch(instance: inout InstanceSlot) -> UInt32 {
    let need = registry.instances[instance].demand.needRecent.bitPattern
    let sum = need &+ UInt32(truncatingIfNeeded: registry.instances[instance].day.spent)
    instance = registry.instances[instance].next
    return sum
  }

  /// Loads the first entry of an instance and what waits on it.
  @inline(__always)
  private borrowing func touch(screenOf instance: inout InstanceSlot) -> UInt32 {
    var sum: UInt32 = 0
    let (entry, waiting) = (registry.instances[instance].firstEntry, registry.instances[instance].waiting)
    if !entry.isAbsent { sum &+= registry.entries[entry].distance.bitPattern }
    if !waiting.isAbsent { sum &+= pending[waiting].lastCause.number }
    instance = registry.instances[instance].next
    return sum
  }

  /// Loads the values that an instance shows by its first entry, and the newest cause that waits on it.
  @inline(__always)
  private borrowing func touch(contentOf instance: inout InstanceSlot) -> UInt32 {
    var sum: UInt32 = 0
    let (entry, waiting) = (registry.instances[instance].firstEntry, registry.instances[instance].waiting)
    let row = entry.isAbsent ? ShownRow.absent : registry.entries[entry].row
    let cause = waiting.isAbsent ? CauseSlot.absent : pending[waiting].lastCause
    if !row.isAbsent { sum &+= UInt32(truncatingIfNeeded: registry.shownFields.head(row)) }
    if !cause.isAbsent { sum &+= pending.causes[cause].event.number }
    instance = registry.instances[instance].next
    return sum
  }

  // MARK: Timers

  /// The smallest number of timers ahead for which prefetching costs less than it saves.
  private static let timersMin = 4

  /// Loads what the examinations read to which the next due timers lead. It changes no state.
  /// - Returns: The number of timers that may fire before the next call, at least 1 if one is due; and a sum without meaning.
  @inline(never)
  borrowing func prefetchDueTimers() -> (count: Int, sum: UInt32) {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    let count = pending.dueTimers(now: now, into: &instances)
    return (count, count < Self.timersMin ? 0 : prefetch(reached: &instances, count: count))
  }

  // MARK: Texts

  /// Looks up the states of the subjects that the screens of `record.reached` show by their first entries, for `markFresh`. Each step is
  /// made for all of them, so that the waits for memory overlap.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  mutating func findTruthsOfReached() -> UInt32 {
    record.reachedTruths.clear()
    var sum: UInt32 = 0
    var names = InlineArray<16, TextHandle>(repeating: .absent)
    var keys = InlineArray<16, UInt64>(repeating: 0)
    let count = min(record.reached.count, Self.hintsMax)
    for i in 0..<count {
      let instance = record.reached[i]
      let (entry, kind) = (registry.instances[instance].firstEntry, registry.instances[instance].kind)
      // Without a row nothing is known field by field, and of the event's own subject the record has the state.
      if entry.isAbsent { continue }
      if registry.entries[entry].row.isAbsent { continue }
      if registry.entries[entry].interest == record.fanOut.subjectInterest, currentTruth(kind) >= 0 { continue }
      names[i] = registry.interests.key(of: registry.entries[entry].interest)
    }
    for i in 0..<count where !names[i].isAbsent { sum &+= registry.texts.touch(names[i]) }
    for i in 0..<count where !names[i].isAbsent {
      let name = registry.texts.bytes.span.extracting(registry.texts.range(of: names[i]))
      keys[i] = rules[registry.instances[record.reached[i]].kind].display.truthKey(subject: name)
    }
    let slots = subjects.slots(keys, count: count)
    for i in 0..<count where !slots[i].isAbsent {
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.values.count)
    }
    for i in 0..<count { record.reachedTruths.append(slots[i]) }
    return sum
  }

  /// Loads the ids of the devices that the next decisions of a step are about. It changes no state.
  /// - Parameters:
  ///   - place: The place of the first of these decisions in `output`.
  ///   - output: The output of the last step.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  borrowing func prefetch(idsFrom place: Int, of output: PlannerOutput) -> UInt32 {
    var sum: UInt32 = 0
    for decision in output.decisions[place...].prefix(Self.hintsMax) {
      sum &+= registry.texts.touch(registry.devices[registry.instances[decision.instance].device].id)
    }
    return sum
  }

  /// Loads the push tokens of the devices to which the next commands of a step are sent. It changes no state. The parameters and
  /// the result are those of `prefetch(idsFrom:of:)`, for commands.
  @inline(never) @discardableResult
  borrowing func prefetch(tokensFrom place: Int, of output: PlannerOutput) -> UInt32 {
    var sum: UInt32 = 0
    for command in output.commands[place...].prefix(Self.hintsMax) {
      let tokens = registry.devices[command.device].tokens
      if !tokens.isAbsent { sum &+= registry.texts.touch(tokens) }
    }
    return sum
  }

  // MARK: State records

  /// Loads the table entries of the devices whose state records are written next into the processor's caches. It changes no
  /// state.
  /// - Parameter slots: The devices; those beyond `hintsMax` are ignored.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  borrowing func prefetch(devices slots: ArraySlice<DeviceSlot>) -> UInt32 {
    var sum: UInt32 = 0
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    var texts = InlineArray<16, TextHandle>(repeating: .absent)
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    // Additions have no names.
    var isNamed = InlineArray<16, Bool>(repeating: false)
    let count = min(slots.count, Self.hintsMax)
    for i in 0..<count {
      let device = registry.devices[slots[slots.startIndex + i]]
      instances[i] = device.firstInstance
      isNamed[i] = device.flags.contains(.rebuilt) || !device.flags.contains(.changed)
      if isNamed[i] { texts[i] = device.id }
    }
    for i in 0..<count where !texts[i].isAbsent {
      sum &+= registry.texts.touch(texts[i])
    }
    // Only the first four instances: most devices have no more.
    for _ in 0..<4 {
      for i in 0..<count {
        entries[i] = .absent
        if instances[i].isAbsent { continue }
        let state = registry.instances[instances[i]]
        entries[i] = state.firstEntry
        if !state.waiting.isAbsent { sum &+= pending[state.waiting].firstCause.number }
        instances[i] = state.next
      }
      for i in 0..<count {
        texts[i] = .absent
        if entries[i].isAbsent { continue }
        let row = registry.entries[entries[i]].row
        if isNamed[i] { texts[i] = registry.interests.key(of: registry.entries[entries[i]].interest) }
        if !row.isAbsent { sum &+= UInt32(truncatingIfNeeded: registry.shownFields.head(row)) }
      }
      for i in 0..<count where !texts[i].isAbsent {
        sum &+= registry.texts.touch(texts[i])
      }
    }
    return sum
  }
}
