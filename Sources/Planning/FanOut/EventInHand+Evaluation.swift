import Domain
import Policies

extension EventInHand {
  /// Takes an event in hand, and adds it to the events that may wait. `note`, unless the walk was resumed, and `evaluate` must follow.
  /// - Parameters:
  ///   - event: The event.
  ///   - subject: The hash of its subject.
  ///   - fleet: The fleet.
  mutating func begin(_ event: borrowing DomainEvent, subject: SipHash, in fleet: inout Fleet) {
    assert(content == nil && slot.isAbsent, "one event is in hand at a time")
    time = event.time
    saidAt = min(event.time, fleet.now)
    self.subject = subject
    slot = fleet.pending.insert(
      event: event.id, traceparent: event.traceparent, time: event.time, offset: fleet.record.offset)
  }

  /// Notes the event in the subject memory, and its standing among the events that are remembered there.
  /// - Parameters:
  ///   - event: The event.
  ///   - key: The key of its subject and type in the subject memory.
  ///   - fleet: The fleet.
  /// - Returns: The entry of the subject memory for the event's subject and type.
  mutating func note(_ event: borrowing DomainEvent, _ key: KeyedHash, in fleet: inout Fleet) -> SubjectSlot {
    var id = SipHash(key: fleet.hashKey)
    id.add(UInt64(event.source.utf8.count))
    id.add(utf8: event.source.utf8.span)
    id.add(utf8: event.id.utf8.span)
    if fleet.subjects.currentCount >= fleet.bounds.subjectsPerGenerationMax { fleet.rotateSubjects() }
    let slot = fleet.subjects.slotOrNew(key)
    standing = fleet.subjects.note(at: slot, id: id.value, time: event.time, now: fleet.now)
    return slot
  }

  /// Evaluates the event for each kind that has a rule for its type.
  /// - Parameters:
  ///   - event: The event.
  ///   - noted: The entry of the subject memory for its subject and type; absent if the walk was resumed.
  ///   - keys: The event's interest keys: first the subject. Receives the others.
  ///   - fleet: The fleet.
  /// - Returns: The number of interest keys that were ignored, because there were too many.
  mutating func evaluate(
    _ event: DomainEvent, noted: SubjectSlot, keys: inout [Identifier], in fleet: inout Fleet
  ) -> Int {
    for place in evaluated.indices { evaluations[evaluated[place].index] = KindEvaluation() }
    evaluated.clear()
    while evaluations.count < fleet.rules.kinds.count { evaluations.append(KindEvaluation()) }
    truths.clear()
    values.clear()
    comparisons.clear()
    var (leftOut, remembered) = (0, noted)
    let type = fleet.rules.type(event.type)
    noteContent(event, isRead: fleet.rules.concernsActivities(type: type), in: fleet)
    for place in 0..<fleet.rules.ruleCount(ofType: type) {
      let kind = fleet.rules.kind(ofRule: place, ofType: type)
      var evaluation = fleet.rules.evaluation(byRule: place, ofType: type)
      var formula: RelevanceFormula?
      // Most rules say the same of every event of their type, and need not be read again.
      if !evaluation.hasRule {
        guard let rule = fleet.rules.rule(place, ofType: type).holding(for: event) else { continue }
        evaluation = rule.evaluate(event, keys: &keys, &leftOut)
        if rule.comparesWithShown { formula = rule.relevance }
      }
      if standing == .fresh, !fleet.rules[kind].display.isEmpty {
        evaluation.truth = truths.count
        let difference = noteDisplayed(event, kind, &remembered, in: &fleet)
        if !evaluation.isRelevanceStated { evaluation.relevance = difference }
        if let formula {
          evaluation.comparesWithShown = true
          comparisons.append((kind, formula))
        }
      }
      if evaluation.action != .update, standing != .duplicate, fleet.rules.activity(kind) != nil {
        known.note(evaluation, fleet.rules[kind].name, at: saidAt)
      }
      evaluations[kind.index] = evaluation
      evaluated.append(kind)
    }
    return leftOut
  }

  /// Adds what the event says to what templates know of its subject. An event without a rule of a Live Activity counts, too, if one of them
  /// knows the subject; so does one that is older than another of its type, with what nothing newer has said.
  private mutating func noteContent(_ event: DomainEvent, isRead: Bool, in fleet: borrowing Fleet) {
    if !known.isEmpty { known = KnownContent() }
    (told, addsToKnown) = (nil, false)
    if standing == .duplicate { return }
    if isRead || !fleet.rules.contentFields.isEmpty {
      let slot = fleet.subjects.slot(SubjectMemory.contentKey(subject: subject))
      if let slot { known = fleet.subjects.slots[slot].newest.content }
      if isRead || slot != nil {
        let isChange = known.take(event, fleet.rules.contentFields, at: saidAt)
        addsToKnown = isChange && standing == .stale
      }
    }
    if isRead, standing == .fresh { told = known.event(after: event) }
  }

  /// Appends what a kind displays of the event's subject, before and after the event, to `truths`. Only `FanOut.finish` notes
  /// the new state in the subject memory, so that a walk that is resumed after a restart begins with the same state.
  /// - Parameters:
  ///   - event: The event.
  ///   - kind: The kind.
  ///   - remembered: The entry of the subject memory that the event needed last; absent if there was none.
  ///   - fleet: The fleet.
  /// - Returns: The distance of a screen that shows the state before the event from the state after it, 0…1.
  private mutating func noteDisplayed(
    _ event: DomainEvent, _ kind: KindSlot, _ remembered: inout SubjectSlot, in fleet: inout Fleet
  ) -> Float {
    let shared = sharedTruth(kind, fleet.rules)
    if shared >= 0 { return noteDisplayed(again: truths[shared], kind, fleet.rules) }
    let fields = fleet.rules[kind].display.fields
    let key = fleet.rules[kind].display.truthKey(subject: subject)
    let slot = fleet.subjects.slot(key, after: remembered) ?? .absent
    if !slot.isAbsent { remembered = slot }
    let before = values.count..<values.count + fields.count
    // The fields that a newer event of another type has said stay as they are.
    var newer: UInt32 = 0
    for place in fields.indices {
      if slot.isAbsent {
        values.append(fields[place].initial)
        continue
      }
      let (value, time) = fleet.subjects.value(place, at: slot)
      values.append(value)
      if time > saidAt { newer |= 1 << UInt32(place) }
    }
    var isCarried = false
    var said: UInt32 = 0
    var screen = ScreenDistance()
    for place in fields.indices {
      let shown = values[before.lowerBound + place]
      let carried = fields[place].value(in: event)
      if carried != nil { isCarried = true }
      guard let carried, newer & 1 << UInt32(place) == 0 else {
        values.append(shown)
        continue
      }
      values.append(carried)
      said |= 1 << UInt32(place)
      if carried != shown { screen.add(fields[place](shown: shown, truth: carried)) }
    }
    assert(values.count == before.upperBound + fields.count, "each field has a value before and one after")
    let difference = Float(screen.value)
    truths.append(
      Truth(
        key: key, slot: slot, kind: kind, before: before, difference: difference, isCarried: isCarried, said: said))
    return difference
  }

  /// Appends the states that another kind displays, too. The other weights of this kind may give them another distance.
  private mutating func noteDisplayed(
    again truth: Truth, _ kind: KindSlot, _ rules: borrowing Rules
  ) -> Float {
    var truth = truth
    if rules[truth.kind].display.weights != rules[kind].display.weights {
      truth.difference = Float(
        ScreenDistance.between(
          shown: Array(values[truth.before]), truth: Array(values[truth.after]), rules[kind].display.fields))
    }
    truth.kind = kind
    truth.isRepeated = true
    truths.append(truth)
    return truth.difference
  }

  /// Returns the event's change to what a kind displays of its subject.
  func displayedChange(_ truth: Truth, _ rules: borrowing Rules) -> DisplayedChange {
    let fields = rules[truth.kind].display.fields
    let after = DisplayedTruth.fingerprint(subject: subject, values.span.extracting(truth.after), fields)
    if truth.slot.isAbsent { return DisplayedChange(before: .none, after: after) }
    let before = DisplayedTruth.fingerprint(subject: subject, values.span.extracting(truth.before), fields)
    return DisplayedChange(before: before, after: after)
  }
}

extension Fleet {
  /// Returns the hashes of the event in the record: those that came with it, or else new ones.
  func hashes(of event: DomainEvent) -> EventHashes {
    guard let made = record.hashes else { return EventHashes(event, key: hashKey) }
    assert(made.entry == EventHashes(event, key: hashKey).entry, "the hashes are those of the record's event")
    return made
  }

  /// Returns the slot of the interest key that is an event's subject; nil if no instance listens to it. The entry of the subject memory
  /// that the event has needed already keeps the slot, because the next event of the subject needs the same. So a name that
  /// something listens to is looked up once, in the subject memory; any other twice.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - hash: The hash of the subject in the table of interest keys.
  ///   - entry: The entry for the subject and the type of the event; absent if the walk was resumed.
  mutating func interest(ofSubject subject: Identifier, _ hash: UInt32, at entry: SubjectSlot) -> InterestSlot? {
    if entry.isAbsent { return registry.interests.id(of: subject, hash: hash, in: registry.texts) }
    let known = subjects.slots[entry].interest
    if !known.isAbsent, registry.interests.isSlot(known, of: subject, in: registry.texts) { return known }
    let found = registry.interests.id(of: subject, hash: hash, in: registry.texts)
    subjects.slots[entry].interest = found ?? .absent
    return found
  }
}
