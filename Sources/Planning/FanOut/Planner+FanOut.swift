import Domain
import Policies

extension Planner {
  /// Begins the fan-out of an event: notes it in the subject memory and looks up its interest keys.
  mutating func beginFanOut(_ event: consuming DomainEvent) {
    assert(record.fanOut.event == nil && record.fanOut.slot.isAbsent, "one event is fanned out at a time")
    record.fanOut.remembered = .absent
    record.fanOut.noted = .absent
    record.fanOut.time = event.time
    record.fanOut.subject = SipHash(key: hashKey)
    record.fanOut.subject.add(utf8: event.subject.utf8.span)
    record.fanOut.slot = pending.insert(
      event: event.id, traceparent: event.traceparent, time: event.time, offset: record.offset)
    record.fanOut.nextDevice = DeviceSlot(0)
    if let cursor = record.resumeAt, let device = cursor.nextDevice {
      record.fanOut.standing = SubjectMemory.Standing(rawValue: cursor.standing) ?? .fresh
      findCursors(event)
      skip(to: DeviceSlot(device))
    } else {
      record.fanOut.standing = note(event)
      findCursors(event)
    }
    record.fanOut.event = consume event
  }

  /// Moves the cursors to the first device that is not decided yet.
  private mutating func skip(to device: DeviceSlot) {
    record.fanOut.nextDevice = device
    let order = registry.entryOrder
    for cursor in record.fanOut.cursors.indices {
      record.fanOut.cursors[cursor].place = registry.interests.position(
        of: UInt64(device.number) << 16, in: record.fanOut.cursors[cursor].interest, by: order)
    }
  }

  private mutating func note(_ event: DomainEvent) -> SubjectMemory.Standing {
    let key = SubjectMemory.key(subject: record.fanOut.subject, type: event.type.utf8.span)
    var id = SipHash(key: hashKey)
    id.add(UInt64(event.source.utf8.count))
    id.add(utf8: event.source.utf8.span)
    id.add(utf8: event.id.utf8.span)
    if subjects.currentCount >= bounds.subjectsPerGenerationMax { rotateSubjects() }
    let slot = subjects.slotOrNew(key)
    record.fanOut.remembered = slot
    record.fanOut.noted = slot
    return subjects.note(at: slot, id: id.value, time: event.time, now: now)
  }

  private mutating func findCursors(_ event: DomainEvent) {
    for place in record.fanOut.evaluated.indices {
      record.fanOut.evaluations[record.fanOut.evaluated[place].index] = KindEvaluation()
    }
    record.fanOut.evaluated.clear()
    while record.fanOut.evaluations.count < rules.kinds.count { record.fanOut.evaluations.append(KindEvaluation()) }
    record.fanOut.keys.clear()
    record.fanOut.keys.append(event.subject)
    record.fanOut.truths.clear()
    record.fanOut.values.clear()
    record.fanOut.comparisons.clear()
    evaluate(event)
    record.fanOut.cursors.clear()
    record.fanOut.subjectInterest = interest(ofSubject: event.subject, at: record.fanOut.noted) ?? .absent
    if !record.fanOut.subjectInterest.isAbsent {
      record.fanOut.cursors.append(FanOut.Cursor(interest: record.fanOut.subjectInterest, bit: 1, place: 0))
    }
    for bit in record.fanOut.keys.indices.dropFirst() {
      guard let interest = registry.interests.id(of: record.fanOut.keys[bit], in: registry.texts) else { continue }
      record.fanOut.cursors.append(FanOut.Cursor(interest: interest, bit: 1 << UInt64(bit), place: 0))
    }
  }

  /// Returns the slot of the interest key that is an event's subject; nil if no instance listens to it. The entry of the subject memory
  /// that the event has needed already keeps the slot, because the next event of the subject needs the same. So a name that
  /// something listens to is looked up once, in the subject memory; any other twice.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - entry: The entry for the subject and the type of the event; absent when the fan-out is resumed.
  private mutating func interest(ofSubject subject: Identifier, at entry: SubjectSlot) -> InterestSlot? {
    if entry.isAbsent { return registry.interests.id(of: subject, in: registry.texts) }
    let known = subjects.slots[entry].interest
    if !known.isAbsent, registry.interests.isSlot(known, of: subject, in: registry.texts) { return known }
    let found = registry.interests.id(of: subject, in: registry.texts)
    subjects.slots[entry].interest = found ?? .absent
    return found
  }

  /// Evaluates an event for each kind that has a rule for its type.
  private mutating func evaluate(_ event: DomainEvent) {
    var leftOut = 0
    let type = rules.type(event.type)
    for place in 0..<rules.ruleCount(ofType: type) {
      let kind = rules.kind(ofRule: place, ofType: type)
      var evaluation = rules.evaluation(byRule: place, ofType: type)
      var formula: RelevanceFormula?
      // Most rules say the same of every event of their type, and need not be read again.
      if !evaluation.hasRule {
        guard let rule = rules.rule(place, ofType: type).holding(for: event) else { continue }
        evaluation = rule.evaluate(event, keys: &record.fanOut.keys, &leftOut)
        if rule.comparesWithShown { formula = rule.relevance }
      }
      if record.fanOut.standing == .fresh, !rules[kind].display.isEmpty {
        evaluation.truth = record.fanOut.truths.count
        let difference = noteDisplayed(event, kind)
        if !evaluation.isRelevanceStated { evaluation.relevance = difference }
        if let formula {
          evaluation.comparesWithShown = true
          record.fanOut.comparisons.append((kind, formula))
        }
      }
      record.fanOut.evaluations[kind.index] = evaluation
      record.fanOut.evaluated.append(kind)
    }
    if leftOut > 0 { keysLeftOut = KeysLeftOut(events: keysLeftOut.events + 1, newest: event.id, count: leftOut) }
  }

  /// Appends what a kind displays of the event's subject, before and after the event, to `FanOut.truths`. Only `finishFanOut` notes
  /// the new state in the subject memory, so that a fan-out that is resumed after a restart begins with the same state.
  /// - Returns: The distance of a screen that shows the state before the event from the state after it, 0…1.
  private mutating func noteDisplayed(_ event: DomainEvent, _ kind: KindSlot) -> Float {
    let shared = sharedTruth(kind)
    if shared >= 0 { return noteDisplayed(again: record.fanOut.truths[shared], kind) }
    let fields = rules[kind].display.fields
    let key = rules[kind].display.truthKey(subject: record.fanOut.subject)
    let slot = subjects.slot(key, after: record.fanOut.remembered) ?? .absent
    if !slot.isAbsent { record.fanOut.remembered = slot }
    let before = record.fanOut.values.count..<record.fanOut.values.count + fields.count
    for place in fields.indices {
      record.fanOut.values.append(slot.isAbsent ? fields[place].initial : subjects.value(place, at: slot))
    }
    var isCarried = false
    var screen = ScreenDistance()
    for place in fields.indices {
      let shown = record.fanOut.values[before.lowerBound + place]
      let carried = fields[place].value(in: event)
      record.fanOut.values.append(carried ?? shown)
      guard let carried else { continue }
      isCarried = true
      if carried != shown { screen.add(fields[place](shown: shown, truth: carried)) }
    }
    assert(
      record.fanOut.values.count == before.upperBound + fields.count, "each field has a value before and one after")
    let difference = Float(screen.value)
    record.fanOut.truths.append(
      FanOut.Truth(
        key: key, slot: slot, kind: kind, before: before, difference: difference, isCarried: isCarried))
    return difference
  }

  /// Returns the place in `FanOut.truths` of the state that a kind shares with one that has a rule for the event; −1 if there is none.
  @inline(__always)
  func sharedTruth(_ kind: KindSlot) -> Int {
    for place in record.fanOut.truths.indices
    where rules[record.fanOut.truths[place].kind].display.truths == rules[kind].display.truths { return place }
    return -1
  }

  /// Appends the states that another kind displays, too. The other weights of this kind may give them another distance.
  private mutating func noteDisplayed(again truth: FanOut.Truth, _ kind: KindSlot) -> Float {
    var truth = truth
    if rules[truth.kind].display.weights != rules[kind].display.weights {
      let values = record.fanOut.values
      truth.difference = Float(
        ScreenDistance.between(
          shown: Array(values[truth.before]), truth: Array(values[truth.after]), rules[kind].display.fields))
    }
    truth.kind = kind
    truth.isRepeated = true
    record.fanOut.truths.append(truth)
    return truth.difference
  }

  /// Computes the event's change to what the kind displays, if an entry needs it and it is not known yet. A widget that shows the
  /// subject itself needs none, because its screen is known field by field.
  @inline(__always)
  private mutating func prepareDisplayed(_ entry: EntrySlot, _ instance: InstanceSlot) {
    let kind = registry.instances[instance].kind
    let truth = record.fanOut.evaluations[kind.index].truth
    if truth < 0 || record.fanOut.evaluations[kind.index].displayed != nil { return }
    let isSubject = registry.entries[entry].interest == record.fanOut.subjectInterest
    if isSubject, !registry.instances[instance].surface.isActivity { return }
    record.fanOut.evaluations[kind.index].displayed = displayedChange(record.fanOut.truths[truth])
  }

  /// Returns the event's change to what a kind displays of its subject.
  private func displayedChange(_ truth: FanOut.Truth) -> DisplayedChange {
    let subject = record.fanOut.subject
    let fields = rules[truth.kind].display.fields
    let values = record.fanOut.values.span
    let after = DisplayedTruth.fingerprint(subject: subject, values.extracting(truth.after), fields)
    if truth.slot.isAbsent { return DisplayedChange(before: .none, after: after) }
    let before = DisplayedTruth.fingerprint(subject: subject, values.extracting(truth.before), fields)
    return DisplayedChange(before: before, after: after)
  }

  /// Decides about the event for the next devices, in the order of their slots. Each device is visited once, with all interest
  /// entries that the event reaches.
  /// - Parameters:
  ///   - visit: Receives what is found out about each device.
  ///   - output: Receives the decisions and commands.
  ///   - decisionsMax: The approximate number of decisions to make at most.
  /// - Returns: Whether the fan-out is finished.
  mutating func continueFanOut(
    _ visit: inout DeviceVisit, into output: inout PlannerOutput, decisionsMax: Int
  ) -> Bool {
    while true {
      var device = DeviceSlot.absent
      for cursor in record.fanOut.cursors.indices {
        let interest = record.fanOut.cursors[cursor].interest
        let place = record.fanOut.cursors[cursor].place
        guard place < registry.interests.count(of: interest) else { continue }
        let entry = registry.interests.entry(place, of: interest)
        device = min(device, registry.instances[registry.entries[entry].instance].device)
      }
      if device.isAbsent { return true }
      if output.decisions.count >= decisionsMax {
        record.fanOut.nextDevice = device
        return false
      }
      visit.entries.clear()
      for cursor in record.fanOut.cursors.indices { collect(device: device, cursor: cursor, into: &visit.entries) }
      if record.fanOut.cursors.count > 1 { order(&visit.entries) }
      decide(device, &visit, into: &output)
    }
  }

  /// The smallest number of entries ahead for which prefetching costs less than it saves.
  static let prefetchedMin = 4

  /// Moves a cursor past a device, and collects the entries of instances whose kind has a rule that names the cursor's key.
  @inline(__always)
  private mutating func collect(device: DeviceSlot, cursor: Int, into entries: inout [EntrySlot]) {
    let interest = record.fanOut.cursors[cursor].interest
    let count = registry.interests.count(of: interest)
    let bit = record.fanOut.cursors[cursor].bit
    var place = record.fanOut.cursors[cursor].place
    // Each group is asked for one group ahead, so that it arrives while the devices before it are decided.
    if place + Self.hintsMax >= record.fanOut.cursors[cursor].prefetched {
      let from = max(place, record.fanOut.cursors[cursor].prefetched)
      if from + Self.prefetchedMin <= count {
        prefetch(fanOutFrom: from, of: interest)
        record.fanOut.cursors[cursor].prefetched = from + Self.hintsMax
      }
    }
    while place < count {
      let entry = registry.interests.entry(place, of: interest)
      let instance = registry.entries[entry].instance
      guard registry.instances[instance].device == device else { break }
      place += 1
      if record.fanOut.evaluations[registry.instances[instance].kind.index].keys & bit != 0 {
        entries.append(entry)
      }
    }
    record.fanOut.cursors[cursor].place = place
  }

  /// Sorts the collected entries by instance. Of the entries of one instance, only the one whose key comes first among the
  /// event's keys is kept, so that the instance gets one decision.
  private func order(_ entries: inout [EntrySlot]) {
    guard entries.count > 1 else { return }
    // Insertion sort is stable, and a device rarely has more than two entries.
    for i in 1..<entries.count {
      let entry = entries[i]
      let order = registry.instances[registry.entries[entry].instance].index
      var j = i
      while j > 0, registry.instances[registry.entries[entries[j - 1]].instance].index > order {
        entries[j] = entries[j - 1]
        j -= 1
      }
      entries[j] = entry
    }
    var last = InstanceSlot.absent
    var kept = 0
    for i in entries.indices where registry.entries[entries[i]].instance != last {
      last = registry.entries[entries[i]].instance
      entries[kept] = entries[i]
      kept += 1
    }
    entries.removeLast(entries.count - kept)
    assert(
      zip(entries, entries.dropFirst()).allSatisfy {
        registry.instances[registry.entries[$0].instance].index
          < registry.instances[registry.entries[$1].instance].index
      }, "an instance has one decision for an event, in the order of the device")
  }

  mutating func finishFanOut() {
    assert(!record.fanOut.slot.isAbsent, "the fan-out of an event ends once")
    let values = record.fanOut.values
    for place in record.fanOut.truths.indices {
      let truth = record.fanOut.truths[place]
      if truth.isRepeated { continue }
      subjects.note(truth.key, at: truth.slot, values: values.span.extracting(truth.after), now: now)
    }
    record.releasedEvents.append(record.fanOut.slot)
    record.fanOut.slot = .absent
    record.fanOut.event = nil
  }

  // MARK: One device

  /// Decides about the current event for one device: first each instance by the checks that concern it alone, then the device as
  /// a whole, because one push reloads every push-enabled widget.
  private mutating func decide(_ device: DeviceSlot, _ visit: inout DeviceVisit, into output: inout PlannerOutput) {
    visit.waiting.clear()
    for i in visit.entries.indices {
      let entry = visit.entries[i]
      let instance = registry.entries[entry].instance
      assert(registry.instances[instance].device == device, "an instance is decided with its own device")
      bringDayUpToDate(instance)
      prepareDisplayed(entry, instance)
      if registry.instances[instance].surface.isActivity {
        decideActivity(entry, instance, device, into: &output)
        continue
      }
      bringReloadUpToDate(instance, into: &output)
      let admission = admission(entry: entry, instance: instance, device: device)
      apply(admission, entry: entry, instance: instance, device: device, into: &output)
      if admission.reason == nil {
        assert(hasNewCause(instance), "an event that was admitted waits")
        visit.waiting.append(instance)
      }
    }
    // One push usually reaches all of them. Widgets without a push handler need another route.
    for i in visit.waiting.indices {
      let instance = visit.waiting[i]
      if !instance.isAbsent, hasNewCause(instance) {
        examine(question(device, trigger: instance), fromTimer: false, &visit, into: &output)
      }
    }
  }

  /// Applies a scheduled reload of the widget's timeline whose time has passed, if the current event is new and the kind has a
  /// rule for it.
  @inline(__always)
  private mutating func bringReloadUpToDate(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard record.fanOut.standing == .fresh,
      record.fanOut.evaluations[registry.instances[instance].kind.index].hasRule
    else { return }
    noteOwnReload(instance, into: &output)
  }

  /// Returns whether the current event waits on the instance.
  @inline(__always)
  func hasNewCause(_ instance: InstanceSlot) -> Bool {
    let cause = pending[registry.instances[instance].waiting].lastCause
    return !cause.isAbsent && pending.causes[cause].event == record.fanOut.slot
  }

  /// Decides about a push to a device and carries the verdict out. Where a background push for another widget of the same kind
  /// may be sent, it is the only push: it reloads the trigger, too, and a widget push beside it would cost a second token.
  mutating func examine(
    _ push: PushQuestion, fromTimer: Bool, _ visit: inout DeviceVisit, into output: inout PlannerOutput
  ) {
    if let other = namesake(of: push) {
      var instead = push
      (instead.trigger, instead.route) = (other, route(of: other, device: push.device))
      assert(instead.route == .backgroundPush, "a push instead of a widget push reloads both")
      let examination = examination(of: instead, &visit, into: &output)
      if case .push = examination.outcome {
        let hasWaited = fromTimer || !hasNewCause(other)
        return apply(examination, fromTimer: hasWaited, &visit, into: &output)
      }
    }
    let examination = examination(of: push, &visit, into: &output)
    apply(examination, fromTimer: fromTimer, &visit, into: &output)
  }

  /// Returns the push to which an instance leads.
  @inline(__always)
  func question(
    _ device: DeviceSlot, trigger: InstanceSlot, named: PushQuestion.NamedKinds = .waiting,
    catchingUp: InstanceSlot = .absent
  ) -> PushQuestion {
    PushQuestion(
      device: device, trigger: trigger, route: route(of: trigger, device: device), named: named, catchingUp: catchingUp)
  }

  /// Decides about a push to a device, for a caller that carries the verdict out at once or drops it. Scheduled reloads whose time has
  /// passed are applied first.
  @inline(__always)
  mutating func examination(
    of push: PushQuestion, _ visit: inout DeviceVisit, into output: inout PlannerOutput
  ) -> Examination {
    bringDaysUpToDate(push, into: &output)
    visit.terms.clear()
    return examination(of: push, terms: &visit.terms)
  }

  /// Prepares every instance that a push would reach for an examination: begins a new budget window if the last one is over, applies
  /// a scheduled reload whose time has passed,
  /// recomputes distances that an earlier policy weighed, and computes the usual demand of the kinds.
  private mutating func bringDaysUpToDate(_ push: PushQuestion, into output: inout PlannerOutput) {
    let zone = registry.devices[push.device].zone
    let timeOfDay = zones.timeOfDay(zone, now)
    var walk = registry.instances(of: push.device)
    while let instance = walk.next(registry) {
      guard instance == push.trigger || reaches(instance, push) else { continue }
      bringDayUpToDate(instance)
      noteOwnReload(instance, into: &output)
      let kind = registry.instances[instance].kind
      if rules[kind].hasOtherScales { bringDistancesUpToDate(instance) }
      if !pricing.isPrepared(kind, zone, now: now) { pricing.prepare(kind, zone, timeOfDay, now: now) }
    }
  }

  /// Begins a new budget window for an instance whose window is over.
  @inline(__always)
  mutating func bringDayUpToDate(_ instance: InstanceSlot) {
    let (kind, device) = (registry.instances[instance].kind, registry.instances[instance].device)
    if registry.instances[instance].day.isUpToDate(rules[kind].day, now: now) { return }
    let spent = Int(registry.instances[instance].day.spent)
    let change = ledgers.bringUpToDate(
      &registry[day: instance], of: instance, rules[kind].day, zone: registry.devices[device].zone, zones: &zones,
      now: now)
    if change == .none { return }
    if case .began(let ended?) = change {
      let idle = Int((now - ended).microseconds / LocalZone.day.microseconds)
      registry[demand: instance] = pricing.dayEnded(registry.instances[instance].demand, kind, idle: idle)
      noteUnspent(instance, spent: spent)
    }
    touch(device)
  }
}
