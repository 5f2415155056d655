import Domain
import Policies

/// Where the fan-out of the event in hand stands.
struct FanOut {
  var event: DomainEvent?
  /// When it happened, µs.
  var time: Int64 = 0
  /// Slot of the event in the event table.
  var slot: UInt32 = none
  var standing = SubjectMemory.Standing.fresh
  /// Interest lists that the event's keys lead to, with the next place in each.
  var cursors: [Cursor] = []
  /// Keys of the event in hand, the subject first.
  var keys: [String] = []
  /// Per kind of the planner, for the event in hand.
  var evaluations: ContiguousArray<KindEvaluation> = []
  /// Kinds that have a rule for it.
  var evaluated: ContiguousArray<Int> = []
  /// What the event leaves behind of what kinds display of its subject, for `SubjectMemory`.
  var truths: [(key: UInt64, truth: DisplayedTruth)] = []
  /// Devices below this are done: where a restarted fan-out goes on.
  var nextDevice: UInt32 = 0

  struct Cursor {
    var interest: UInt32
    /// Bit in `KindEvaluation.keys`.
    var bit: UInt64
    var place: Int
  }
}

/// What an event means to a kind: the same for all its instances, so it is worked out once per event.
struct KindEvaluation {
  /// Which of the event's keys the kind's rule listens to; without a rule, the subject.
  var keys: UInt64 = 1
  var hasRule = false
  var maxAge: Int64 = .max
  var relevance: Float = 0
  var action = Rule.Action.update
  /// How the event changes what the kind displays of its subject; nil where the policy does not say what it displays.
  var displayed: DisplayedChange?
}

extension Planner {
  /// Looks up the event's keys and how it stands to what is known of its subject.
  mutating func beginFanOut(_ event: consuming DomainEvent) {
    fanOut.time = event.time.microseconds
    fanOut.slot = events.insert(EventEntry(id: event.id, traceparent: event.traceparent, references: 1))
    fanOut.nextDevice = 0
    if let cursor = resumeAt, let device = cursor.nextDevice {
      fanOut.standing = SubjectMemory.Standing(rawValue: cursor.standing) ?? .fresh
      findCursors(event)
      skip(to: device)
    } else {
      fanOut.standing = note(event)
      findCursors(event)
    }
    fanOut.event = consume event
  }

  /// Moves the cursors to the first device that is not decided yet.
  private mutating func skip(to device: UInt32) {
    fanOut.nextDevice = device
    let order = EntryOrder(entries: entries, instances: instances)
    for cursor in fanOut.cursors.indices {
      fanOut.cursors[cursor].place = interests.position(
        of: UInt64(device) << 16, in: fanOut.cursors[cursor].interest, by: order)
    }
  }

  private mutating func note(_ event: DomainEvent) -> SubjectMemory.Standing {
    let subject = SubjectMemory.key(subject: event.subject.utf8.span, type: event.type.utf8.span)
    var id = Hash64()
    id.add(event.source)
    id.add(event.id)
    if subjects.currentCount >= bounds.subjectsPerGenerationMax { subjects.rotate() }
    // A publisher whose clock runs ahead must not make everything after it stale.
    return subjects.note(subject, id: id.value, time: min(event.time.microseconds, now))
  }

  private mutating func findCursors(_ event: DomainEvent) {
    for kind in fanOut.evaluated { fanOut.evaluations[kind] = KindEvaluation() }
    fanOut.evaluated.removeAll(keepingCapacity: true)
    while fanOut.evaluations.count < kinds.count { fanOut.evaluations.append(KindEvaluation()) }
    fanOut.keys.removeAll(keepingCapacity: true)
    fanOut.keys.append(event.subject)
    var leftOut = 0
    fanOut.truths.removeAll(keepingCapacity: true)
    for rule in rules.rules(forType: event.type, policy, kindByName) {
      fanOut.evaluations[rule.kind] = rule.evaluate(event, keys: &fanOut.keys, &leftOut)
      if fanOut.standing == .fresh { fanOut.evaluations[rule.kind].displayed = displayedChange(event, rule) }
      fanOut.evaluated.append(rule.kind)
    }
    if leftOut > 0 { keysLeftOut = KeysLeftOut(events: keysLeftOut.events + 1, newest: event.id, count: leftOut) }
    fanOut.cursors.removeAll(keepingCapacity: true)
    for bit in fanOut.keys.indices {
      guard let interest = interests.id(of: fanOut.keys[bit], in: texts) else { continue }
      fanOut.cursors.append(FanOut.Cursor(interest: interest, bit: 1 << UInt64(bit), place: 0))
    }
  }

  /// Works out how the event changes what the rule's kind displays. The memory takes it over when the whole fan-out is
  /// done (`finishFanOut`): a fan-out that is resumed after a restart starts from the same truth.
  private mutating func displayedChange(_ event: DomainEvent, _ rule: KindRule) -> DisplayedChange? {
    guard let key = rule.truthKey(subject: event.subject) else { return nil }
    let known = subjects.truth(key)
    var truth = known ?? DisplayedTruth(count: rule.displays.count)
    let before = known?.fingerprint(subject: event.subject) ?? 0
    truth.take(event, displays: rule.displays)
    let after = truth == known ? before : truth.fingerprint(subject: event.subject)
    fanOut.truths.append((key, truth))
    return DisplayedChange(before: before, after: after)
  }

  /// Visits devices in rising order, each once with all its interest entries.
  mutating func continueFanOut(into output: inout PlannerOutput, decisionsMax: Int) -> Bool {
    while true {
      var device = UInt32.max
      for cursor in fanOut.cursors.indices {
        let interest = fanOut.cursors[cursor].interest
        let place = fanOut.cursors[cursor].place
        guard place < interests.count(of: interest) else { continue }
        device = min(device, instances[entries[interests.entry(place, of: interest)].instance].device)
      }
      if device == .max { return true }
      if output.decisions.count >= decisionsMax {
        fanOut.nextDevice = device
        return false
      }
      workingEntries.removeAll(keepingCapacity: true)
      for cursor in fanOut.cursors.indices { collect(device: device, cursor: cursor) }
      if fanOut.cursors.count > 1 { orderWorkingEntries() }
      decide(device: device, into: &output)
    }
  }

  /// Moves a cursor past a device, taking the entries whose kind listens to that key.
  @inline(__always)
  private mutating func collect(device: UInt32, cursor: Int) {
    let interest = fanOut.cursors[cursor].interest
    let count = interests.count(of: interest)
    let bit = fanOut.cursors[cursor].bit
    var place = fanOut.cursors[cursor].place
    while place < count {
      let entry = interests.entry(place, of: interest)
      let instance = entries[entry].instance
      guard instances[instance].device == device else { break }
      place += 1
      if fanOut.evaluations[Int(instances[instance].kind)].keys & bit != 0 { workingEntries.append(entry) }
    }
    fanOut.cursors[cursor].place = place
  }

  /// By instance; of two entries of one instance the one with the earlier key stays: one decision per instance.
  private mutating func orderWorkingEntries() {
    guard workingEntries.count > 1 else { return }
    // Insertion sort: stable, and a device rarely has more than two.
    for i in 1..<workingEntries.count {
      let entry = workingEntries[i]
      let order = instances[entries[entry].instance].index
      var j = i
      while j > 0, instances[entries[workingEntries[j - 1]].instance].index > order {
        workingEntries[j] = workingEntries[j - 1]
        j -= 1
      }
      workingEntries[j] = entry
    }
    var last = none
    var kept = 0
    for i in workingEntries.indices where entries[workingEntries[i]].instance != last {
      last = entries[workingEntries[i]].instance
      workingEntries[kept] = workingEntries[i]
      kept += 1
    }
    workingEntries.removeLast(workingEntries.count - kept)
  }

  mutating func finishFanOut() {
    for (key, truth) in fanOut.truths { subjects.note(key, truth: truth) }
    releasedEvents.append(fanOut.slot)
    fanOut.slot = none
    fanOut.event = nil
  }
}
