import Domain
import Policies

/// Where the fan-out of the event in hand stands.
struct FanOut {
  var event: DomainEvent?
  /// Slot of the event in the event table.
  var slot: UInt32 = none
  var standing = SubjectMemory.Standing.fresh
  /// Interest lists that the event's keys lead to, with the next place in each.
  var cursors: [Cursor] = []
  /// Per kind of the planner, for the event in hand.
  var evaluations: ContiguousArray<KindEvaluation> = []
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
  /// Which of the event's keys the kind's rule listens to.
  var keys: UInt64 = 0
  var hasRule = false
  var hasDisplays = false
  var maxAge: Int64 = .max
  var relevance: Float = 0
  var action = Rule.Action.update
  var fingerprint: UInt64 = 0
}

extension Planner {
  /// Looks up the event's keys and how it stands to what is known of its subject.
  mutating func beginFanOut(_ event: DomainEvent) {
    fanOut.event = event
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
    var subject = Hash64()
    subject.add(event.subject)
    subject.add(event.type)
    var id = Hash64()
    id.add(event.source)
    id.add(event.id)
    if subjects.current.count >= bounds.subjectsPerGenerationMax { changes.forgottenSubjects += subjects.rotate() }
    let key = subject.value
    // A publisher whose clock runs ahead must not make everything after it stale.
    let isCurrent = subjects.current[key] != nil
    let standing = subjects.note(key, id: id.value, time: min(event.time.microseconds, now))
    // A duplicate changes nothing but the generation of what was remembered in the older one, and a restored planner must
    // forget it as late as this one.
    if standing != .duplicate || !isCurrent { changes.subjects.append(key) }
    return standing
  }

  private mutating func findCursors(_ event: DomainEvent) {
    var keys = [event.subject]
    fanOut.evaluations.removeAll(keepingCapacity: true)
    for _ in kinds.indices { fanOut.evaluations.append(KindEvaluation(keys: 1)) }
    // In the policy's order, which does not depend on when a kind was first registered.
    for kind in policyKinds { fanOut.evaluations[kind] = evaluate(event, kind: kinds[kind], keys: &keys) }
    fanOut.cursors.removeAll(keepingCapacity: true)
    for (bit, key) in keys.enumerated() {
      guard let interest = interests.id(of: key, in: texts) else { continue }
      fanOut.cursors.append(FanOut.Cursor(interest: interest, bit: 1 << UInt64(bit), place: 0))
    }
  }

  /// At most 64 different keys; the policy's bound on templates keeps it below.
  private func evaluate(_ event: DomainEvent, kind: KindState, keys: inout [String]) -> KindEvaluation {
    var evaluation = KindEvaluation(keys: 1)
    guard kind.policyIndex >= 0, let rule = policy.kinds[kind.policyIndex].rule(forType: event.type) else {
      return evaluation
    }
    evaluation.hasRule = true
    evaluation.keys = 0
    for template in rule.interests {
      guard let key = template.key(for: event) else { continue }
      if let bit = keys.firstIndex(of: key) {
        evaluation.keys |= 1 << UInt64(bit)
      } else if keys.count < 64 {
        evaluation.keys |= 1 << UInt64(keys.count)
        keys.append(key)
      }
    }
    evaluation.maxAge = rule.maxAge?.microseconds ?? .max
    evaluation.action = rule.action
    evaluation.relevance = Float(rule.relevance.evaluate(event))
    let displays = policy.kinds[kind.policyIndex].displays
    evaluation.hasDisplays = !displays.isEmpty
    evaluation.fingerprint = evaluation.hasDisplays ? Fingerprint.of(event, displays: displays) : 0
    return evaluation
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
    releasedEvents.append(fanOut.slot)
    fanOut.slot = none
    fanOut.event = nil
  }
}
