import Domain
import Policies

/// The content of screens, and how wrong it is.
extension Fleet {
  /// Recomputes how wrong an instance's screen is about each subject for which that was computed with the weights of an earlier
  /// policy. A screen that is right stays right whatever the weights are, so it is skipped. It does nothing unless the kind
  /// `hasOtherScales`.
  mutating func bringDistancesUpToDate(_ instance: InstanceSlot, _ event: borrowing EventInHand) {
    let kind = registry.instances[instance].kind
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard registry[screen: entry].distance > 0,
        let row = screens.row(registry[screen: entry], head: rules[kind].display.rowHead),
        screens.scale(row) != rules[kind].display.scale, let truth = knownTruth(kind, entry, event)
      else { continue }
      let distance = screens.distance(row, values(of: truth, event).span, rules[kind].display.fields)
      screens.set(distance: Float(distance), scale: rules[kind].display.scale, &registry[screen: entry])
      touch(registry.instances[instance].device)
    }
  }

  /// Notes that an instance shows the newest content, the current event included, whether a push or something else has reloaded
  /// it.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - first: The state of the subject of its first entry, if it was looked up and is not that of the event.
  ///   - event: The event in hand; none if a timer leads to the reload.
  mutating func markFresh(
    _ instance: InstanceSlot, truth first: SubjectSlot? = nil, after event: borrowing EventInHand
  ) {
    registry.markFresh(instance)
    let kind = registry.instances[instance].kind
    let head = rules[kind].display.rowHead
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard screens.row(registry[screen: entry], head: head) != nil else {
        dropRow(entry, kind)
        continue
      }
      if let first, entry == registry.instances[instance].firstEntry {
        show(first, head: head, entry)
        continue
      }
      if let truth = knownTruth(kind, entry, event) {
        show(truth, of: event, head: head, entry)
      } else if registry[screen: entry].distance > 0 {
        // The truth has been forgotten, and with it what the screen shows now.
        screens.forgetRow(&registry[screen: entry])
      }
    }
  }

  /// Notes that something other than a push reloaded an instance at an earlier instant. It showed what was known then. An entry
  /// whose truth has changed since keeps what it showed before, because the state of that instant is not known any more.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - instant: The log time of the reload. Call `Registry.noteReload` for this reload afterwards, not before.
  mutating func markFresh(_ instance: InstanceSlot, asOf instant: Timestamp) {
    let kind = registry.instances[instance].kind
    let head = rules[kind].display.rowHead
    // Fingerprints have no times. Those of a reload that another one has followed say nothing new.
    let isNewest = registry.instances[instance].lastReload <= instant
    if isNewest { registry.markFresh(instance) }
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      let waits = waits(instance, by: entry, since: instant)
      if waits, isNewest { registry[screen: entry].shown = .none }
      // Events that wait on a row of other fields still say how wrong the screen was.
      guard screens.row(registry[screen: entry], head: head) != nil else {
        if !waits { dropRow(entry, kind) }
        continue
      }
      let key = truthKey(kind, entry)
      if let truth = subjects.truth(key, unchangedSince: instant) {
        screens.show(truth.values.span, head: head, distance: 0, &registry[screen: entry])
      } else if registry[screen: entry].distance > 0, !waits, subjects.truth(key) == nil {
        screens.forgetRow(&registry[screen: entry])
      }
    }
  }

  // MARK: Visits to the app

  /// Keeps what a widget shows before the current event changes it, while its app is in the foreground.
  @inline(never)
  mutating func noteShownBefore(
    _ admission: Admission, of event: borrowing EventInHand, _ entry: EntrySlot, _ instance: InstanceSlot,
    _ device: DeviceSlot
  ) {
    let state = registry.instances[instance]
    guard state.surface == .widget, isForeground(device) else { return }
    let content: ShownBefore.Content
    if admission.distance != nil {
      // The app shows the truth, so the state before the event is the one that it has shown.
      let truth = event.truths[event.evaluations[state.kind.index].truth]
      let before = Array(event.values[truth.before])
      if before.elementsEqual(event.values[truth.after]) { return }
      content = .fields(before, head: rules[state.kind].display.rowHead)
    } else if admission.current != nil {
      content = .fingerprint(registry[screen: entry].current)
    } else {
      return
    }
    let isWorthPush = admission.effect == .freshen
    registry.note(ShownBefore(entry: entry, at: now, isWorthPush: isWorthPush, content: content), device)
    touch(device)
  }

  /// Notes that an app left the foreground at an instant, so that a widget did not show what came later.
  /// - Parameters:
  ///   - instance: The widget. `markFresh(_:asOf:)` was called for the instant.
  ///   - changes: The changes that came while the app counted as in the foreground.
  ///   - instant: The log time at which the app left.
  /// - Returns: Whether the screen is wrong by a change that would have been pushed.
  mutating func setBack(_ instance: InstanceSlot, _ changes: [ShownBefore], asOf instant: Timestamp) -> Bool {
    let kind = registry.instances[instance].kind
    // A later reload has shown what came until then.
    let instant = max(instant, registry.instances[instance].lastReload)
    var isWorthPush = false
    var seen: Set<EntrySlot> = []
    for change in changes where change.at > instant && registry.entries[change.entry].instance == instance {
      if seen.insert(change.entry).inserted { show(change.content, change.entry, kind) }
      isWorthPush = isWorthPush || change.isWorthPush && registry[screen: change.entry].distance > 0
    }
    return isWorthPush
  }

  private mutating func show(_ content: ShownBefore.Content, _ entry: EntrySlot, _ kind: KindSlot) {
    switch content {
    case .fingerprint(let shown): registry[screen: entry].shown = shown
    case .fields(let shown, let head):
      let display = rules[kind].display
      guard head == display.rowHead, let truth = subjects.slot(truthKey(kind, entry)) else { return }
      let distance = ScreenDistance.between(shown: shown, truth: subjects.truth(at: truth).values, display.fields)
      screens.show(shown.span, head: head | display.scale, distance: Float(distance), &registry[screen: entry])
    }
  }

  // MARK: What is known

  /// Forgets the values that an entry's screen shows, because they are of other fields than the policy lists now. While the policy
  /// does not name the kind, the row stays and says that something was known: see `forgetWhatIsShown`.
  private mutating func dropRow(_ entry: EntrySlot, _ kind: KindSlot) {
    if registry[screen: entry].row.isAbsent { return }
    if rules[kind].policyIndex == nil {
      registry[screen: entry].forgetDistance()
    } else {
      screens.forgetRow(&registry[screen: entry])
    }
  }

  /// Notes that the content of an instance is not known, because the events about it were not kept for a while. Each field of a
  /// subject that was known counts as wholly wrong until the next reload. The truth is not known either until the next event.
  mutating func forgetWhatIsShown(_ instance: InstanceSlot) {
    let display = rules[registry.instances[instance].kind].display
    let unknown = Array(repeating: DisplayedValue.absent, count: display.fields.count)
    let distance = Float(ScreenDistance.most(display.fields))
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      registry[screen: entry].shown = .none
      if registry[screen: entry].row.isAbsent { continue }
      if display.isEmpty {
        screens.forgetRow(&registry[screen: entry])
      } else {
        screens.show(unknown.span, head: display.rowHead | display.scale, distance: distance, &registry[screen: entry])
      }
    }
  }

  /// Notes that the content of an instance is not known, because the push that should have reloaded it failed. Fields whose truth
  /// is known count as wholly wrong until the next reload.
  mutating func markUnknown(_ instance: InstanceSlot) {
    let kind = registry.instances[instance].kind
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      registry[screen: entry].shown = .none
      let display = rules[kind].display
      guard screens.row(registry[screen: entry], head: display.rowHead) != nil,
        let truth = subjects.slot(truthKey(kind, entry))
      else { continue }
      let unknown = Array(repeating: DisplayedValue.absent, count: display.fields.count)
      let distance = Float(
        ScreenDistance.between(shown: unknown, truth: subjects.truth(at: truth).values, display.fields))
      screens.show(unknown.span, head: display.rowHead | display.scale, distance: distance, &registry[screen: entry])
    }
  }

  /// Returns whether an event that came by an entry after an instant waits on the instance.
  private func waits(_ instance: InstanceSlot, by entry: EntrySlot, since instant: Timestamp) -> Bool {
    var walk = pending.causes(of: registry.instances[instance].waiting)
    while let place = walk.next(pending) {
      let cause = pending.causes[place]
      if cause.entry == entry, cause.at > instant { return true }
    }
    return false
  }

  /// Returns the newest displayed state of the subject whose name is an entry's key, the current event included; nil if it has
  /// been forgotten.
  private func knownTruth(
    _ kind: KindSlot, _ entry: EntrySlot, _ event: borrowing EventInHand
  ) -> KnownTruth? {
    let place = event.truth(kind, rules)
    if place >= 0, registry.entries[entry].interest == event.subjectInterest {
      return .current(event.truths[place].after)
    }
    return subjects.slot(truthKey(kind, entry)).map { .remembered($0) }
  }

  /// Returns the log time of the newest change of the displayed state of the subject whose name is an entry's key; nil if it has been
  /// forgotten.
  func lastChange(_ kind: KindSlot, _ entry: EntrySlot) -> Timestamp? {
    subjects.slot(truthKey(kind, entry)).map { subjects.slots[$0].newest.time }
  }

  /// The place of a displayed state.
  private enum KnownTruth {
    /// The state after the current event: places in `EventInHand.values`.
    case current(Range<Int>)
    /// The state of a subject in the subject memory.
    case remembered(SubjectSlot)
  }

  private func values(of truth: KnownTruth, _ event: borrowing EventInHand) -> [DisplayedValue] {
    switch truth {
    case .current(let places): Array(event.values[places])
    case .remembered(let slot): subjects.truth(at: slot).values
    }
  }

  /// Notes that an entry's screen shows the state of a subject in the subject memory, and that the state is the true one.
  private mutating func show(_ slot: SubjectSlot, head: UInt64, _ entry: EntrySlot) {
    let count = subjects.slots[slot].newest.items.count
    // Most screens have no more fields, and an array would be made for each screen that a push reaches.
    var few = InlineArray<8, DisplayedValue>(repeating: .absent)
    if count > few.count {
      let values = subjects.truth(at: slot).values
      screens.show(values.span, head: head, distance: 0, &registry[screen: entry])
    } else {
      for place in 0..<count { few[place] = subjects.slots[slot].newest.items[place].value }
      screens.show(few.span.extracting(..<count), head: head, distance: 0, &registry[screen: entry])
    }
  }

  /// Notes that an entry's screen shows a state, and that the state is the true one.
  @inline(__always)
  private mutating func show(
    _ truth: KnownTruth, of event: borrowing EventInHand, head: UInt64, _ entry: EntrySlot
  ) {
    switch truth {
    case .current(let places):
      screens.show(event.values.span.extracting(places), head: head, distance: 0, &registry[screen: entry])
    case .remembered(let slot): show(slot, head: head, entry)
    }
  }

  /// Returns the key under which `SubjectMemory` keeps the displayed state of the subject whose name is an entry's key.
  private func truthKey(_ kind: KindSlot, _ entry: EntrySlot) -> KeyedHash {
    let subject = registry.texts.range(of: registry.interests.key(of: registry.entries[entry].interest))
    return rules[kind].display.truthKey(
      subject: registry.texts.bytes.span.extracting(subject), hashKey: hashKey)
  }

  // MARK: Ending what is shown

  /// Ends the causes that a reload at an earlier instant has shown: those that came until then, and those about a
  /// subject whose displayed fields are all right on the screen now. While the screen is wrong about a subject, the
  /// newest cause that came by its key stays. Call `markFresh` first.
  mutating func endShown(of instance: InstanceSlot, asOf instant: Timestamp, into output: inout PlannerOutput) {
    if !hasPending(instance) { return }
    let kept = newestCausesOfWrong(instance)
    var right: Set<EntrySlot> = []
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      if !registry[screen: entry].row.isAbsent, registry[screen: entry].distance == 0 { right.insert(entry) }
    }
    endCauses(of: instance, .freshened, into: &output) { cause in
      // News of a subject waits on, whatever is right about its state.
      guard cause.at <= instant || cause.value == 0 && right.contains(cause.entry) else { return false }
      return kept[cause.entry].map { !$0.isSame(as: cause) } ?? true
    }
  }

  /// Returns the newest waiting cause of each interest entry about whose subject the screen is wrong.
  func newestCausesOfWrong(_ instance: InstanceSlot) -> [EntrySlot: Cause] {
    var newest: [EntrySlot: Cause] = [:]
    var walk = pending.causes(of: registry.instances[instance].waiting)
    while let place = walk.next(pending) {
      let cause = pending.causes[place]
      // News is no part of what a screen shows wrong, so it ends at its age.
      guard !cause.entry.isAbsent, cause.value == 0 else { continue }
      if registry[screen: cause.entry].distance > 0 { newest[cause.entry] = cause }
    }
    return newest
  }
}
