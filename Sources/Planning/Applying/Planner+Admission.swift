import Domain
import Policies

extension Planner {
  /// Carries out the verdict on the current event for one widget or control.
  @inline(__always)
  mutating func apply(
    _ admission: Admission, entry: EntrySlot, instance: InstanceSlot, device: DeviceSlot,
    into output: inout PlannerOutput
  ) {
    if let current = admission.current {
      registry.set(current: current, entry)
      touch(device)
    }
    if let distance = admission.distance { noteDistance(distance, entry, instance, device) }
    switch admission.effect {
    case .none: break
    case .supersede: endCauses(of: instance, .superseded, into: &output) { $0.entry == entry }
    case .freshen:
      endAllCauses(of: instance, .freshened, into: &output)
      markFresh(instance)
      touch(device)
    case .joinPush:
      if admission.arrives { noteArrival(instance, device) }
      markFresh(instance)
      touch(device)
      return reportJoined(instance, device, into: &output)
    }
    if admission.arrives { noteArrival(instance, device) }
    if let reason = admission.reason {
      suppressNew(instance, reason, into: &output)
    } else {
      append(admission, entry: entry, instance: instance, device: device, into: &output)
    }
  }

  /// Notes how wrong the entry's screen is after the event.
  private mutating func noteDistance(
    _ distance: Float, _ entry: EntrySlot, _ instance: InstanceSlot, _ device: DeviceSlot
  ) {
    let truth = record.fanOut.truths[record.fanOut.evaluations[registry.instances[instance].kind.index].truth]
    let row = registry.entries[entry].row
    let scale = rules[registry.instances[instance].kind].scale
    if row.isAbsent || registry.shownFields.head(row) != truth.rule.rowHead {
      registry.show(truth.before.values, head: truth.rule.rowHead | scale, distance: distance, entry)
    } else if registry.entries[entry].distance != distance || distance > 0 && registry.shownFields.scale(row) != scale {
      registry.set(distance: distance, scale: scale, entry)
    } else {
      return
    }
    touch(device)
  }

  /// Computes anew how wrong an instance's screen is about subjects that were weighed by another policy. The weights do not change
  /// which screens are right, so nothing has to be done for those.
  mutating func bringDistancesUpToDate(_ instance: InstanceSlot) {
    let kind = registry.instances[instance].kind
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard registry.entries[entry].distance > 0 else { continue }
      let row = registry.entries[entry].row
      guard registry.shownFields.scale(row) != rules[kind].scale, hasComparableRow(entry, kind),
        let truth = knownTruth(kind, entry)
      else { continue }
      let distance = registry.shownFields.distance(row, truth.values, rules[kind].fields)
      registry.set(distance: Float(distance), scale: rules[kind].scale, entry)
      touch(registry.instances[instance].device)
    }
  }

  /// Notes that an instance shows the newest content, the current event included, whether a push or something else has reloaded
  /// it.
  mutating func markFresh(_ instance: InstanceSlot) {
    registry.markFresh(instance)
    let kind = registry.instances[instance].kind
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard let head = comparableHead(entry, kind) else { continue }
      if let truth = knownTruth(kind, entry) {
        registry.show(truth.values, head: head, distance: 0, entry)
      } else if registry.entries[entry].distance > 0 {
        // The truth has been forgotten, and with it what the screen shows now.
        registry.forgetRow(entry)
      }
    }
  }

  /// Notes that something other than a push reloaded an instance at an earlier instant. It showed what was known then. An entry
  /// whose truth has changed since keeps what it showed before, because the state of that instant is not known any more.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - instant: The log time of the reload. The last reload that is known must not have been noted as this one yet.
  mutating func markFresh(_ instance: InstanceSlot, asOf instant: Timestamp) {
    let kind = registry.instances[instance].kind
    // Fingerprints have no times. Those of a reload that another one has followed say nothing new.
    let isNewest = registry.instances[instance].lastReload <= instant
    if isNewest { registry.markFresh(instance) }
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      let waits = waits(instance, by: entry, since: instant)
      if waits, isNewest { registry.forgetShown(entry) }
      // What waits on a row of other fields still says how wrong the screen was.
      guard !waits || hasComparableRow(entry, kind), let head = comparableHead(entry, kind) else { continue }
      let key = truthKey(kind, entry)
      if let truth = subjects.truth(key, unchangedSince: instant) {
        registry.show(truth.values, head: head, distance: 0, entry)
      } else if registry.entries[entry].distance > 0, !waits, subjects.truth(key) == nil {
        registry.forgetRow(entry)
      }
    }
  }

  /// Returns the head of the row that an entry shows; nil if it has none. A row of other fields than the policy lists now is
  /// forgotten.
  private mutating func comparableHead(_ entry: EntrySlot, _ kind: KindSlot) -> UInt64? {
    let row = registry.entries[entry].row
    if row.isAbsent { return nil }
    if hasComparableRow(entry, kind) { return registry.shownFields.head(row) }
    registry.forgetRow(entry)
    return nil
  }

  /// Returns whether an entry has a row of the fields that the policy lists now.
  private func hasComparableRow(_ entry: EntrySlot, _ kind: KindSlot) -> Bool {
    let row = registry.entries[entry].row
    return !row.isAbsent && registry.shownFields.head(row) == rules[kind].rowHead
  }

  /// Notes that the content of an instance is not known, because the push that should have reloaded it failed. Fields whose truth
  /// is known count as wholly wrong until the next reload.
  mutating func markUnknown(_ instance: InstanceSlot) {
    let kind = registry.instances[instance].kind
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      registry.forgetShown(entry)
      let row = registry.entries[entry].row
      let fields = rules[kind].fields
      guard !row.isAbsent, ShownFields.count(registry.shownFields.head(row)) == fields.count,
        let truth = knownTruth(kind, entry)
      else { continue }
      let unknown = Array(repeating: DisplayedValue.absent, count: fields.count)
      let distance = Float(ScreenDistance.between(shown: unknown, truth: truth.values, fields))
      registry.show(unknown, head: registry.shownFields.head(row) | rules[kind].scale, distance: distance, entry)
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

  /// Returns the displayed state of the subject whose name is an entry's key, the current event included; nil if it has been
  /// forgotten.
  private func knownTruth(_ kind: KindSlot, _ entry: EntrySlot) -> DisplayedTruth? {
    let place = record.fanOut.event == nil ? -1 : record.fanOut.evaluations[kind.index].truth
    if place >= 0, registry.entries[entry].interest == record.fanOut.subjectInterest {
      return record.fanOut.truths[place].after
    }
    return subjects.truth(truthKey(kind, entry))
  }

  /// Returns the key under which `SubjectMemory` keeps the displayed state of the subject whose name is an entry's key.
  private func truthKey(_ kind: KindSlot, _ entry: EntrySlot) -> UInt64 {
    var hash = Hash64()
    hash.add(rules[kind].displaysHash)
    hash.add(
      utf8: registry.texts.bytes.span.extracting(
        registry.texts.range(of: registry.interests.key(of: registry.entries[entry].interest))))
    return hash.value
  }

  /// Reports that the device's last command shows the current event, too.
  private mutating func reportJoined(
    _ instance: InstanceSlot, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let relevance = record.fanOut.evaluations[registry.instances[instance].kind.index].relevance
    report(
      Told(
        instance: instance, event: record.fanOut.slot, verdict: .coalesce, reason: .emittedCoalesced,
        relevance: relevance, command: output.place(ofEarlier: registry.devices[device].lastCommand)), into: &output)
  }

  /// Learns that a change came which people could see. One in quiet hours cannot spend a token, so it is no need.
  private mutating func noteArrival(_ instance: InstanceSlot, _ device: DeviceSlot) {
    if let quiet = rules.policy.quietHours, quietEnd(quiet, zones.timeOfDay(registry.devices[device].zone, now)) != nil
    {
      return
    }
    let kind = registry.instances[instance].kind
    registry[demand: instance] = pricing.noteChange(
      registry.instances[instance].demand, kind, zones.timeOfDay(registry.devices[device].zone, now), now: now)
    touch(device)
  }

  /// Adds the current event to the causes that wait on the instance.
  private mutating func append(
    _ admission: Admission, entry: EntrySlot, instance: InstanceSlot, device: DeviceSlot,
    into output: inout PlannerOutput
  ) {
    let kind = registry.instances[instance].kind
    let evaluation = record.fanOut.evaluations[kind.index]
    let waiting = registry.instances[instance].waiting
    if Int(pending[waiting].causes) >= bounds.causesPerInstanceMax, let cheapest = pending.cheapestCause(waiting) {
      endCauses(of: instance, .superseded, into: &output) { $0.at == cheapest.at && $0.event == cheapest.event }
    }
    var expires = admission.distance == nil ? now + rules[kind].newsLife : .distantFuture
    if evaluation.maxAge != .unbounded { expires = min(expires, record.fanOut.time + evaluation.maxAge) }
    let relevance = evaluation.isRelevanceStated ? evaluation.relevance : admission.distance ?? evaluation.relevance
    let cause = Cause(
      event: record.fanOut.slot, entry: entry,
      signedRelevance: admission.isRepeat ? -relevance : relevance, isRelevanceStated: evaluation.isRelevanceStated,
      at: now, expires: max(expires, now + TimeSpan(microseconds: 1)))
    pending.append(cause, to: &registry[waiting: instance], value: admission.value, now: now)
    touch(device)
  }

  // MARK: Ending causes

  /// Ends every waiting cause for which `ends` returns true, with this reason.
  mutating func endCauses(
    of instance: InstanceSlot, _ reason: Reason, into output: inout PlannerOutput, where ends: (Cause) -> Bool
  ) {
    // A slot without causes may be there or not after a restart, so nothing may depend on it.
    if !hasPending(instance) { return }
    bringDayUpToDate(instance)
    let waiting = registry.instances[instance].waiting
    var ended = false
    while let cause = pending.takeCause(from: waiting, where: ends) {
      ended = true
      record.releasedEvents.append(cause.event)
      report(
        Told(
          instance: instance, event: cause.event, verdict: .suppress, reason: reason, relevance: cause.relevance),
        into: &output)
    }
    guard ended else { return }
    let inverse = rules[registry.instances[instance].kind].inverseHalfLife
    pending.resum(&registry[waiting: instance], inverseHalfLife: inverse, now: now)
    touch(registry.instances[instance].device)
  }

  /// Ends every cause that waits on the instance.
  mutating func endAllCauses(of instance: InstanceSlot, _ reason: Reason, into output: inout PlannerOutput) {
    if !hasPending(instance) { return }
    endCauses(of: instance, reason, into: &output) { _ in true }
    pending.clearDue(&registry[waiting: instance])
  }

  /// Applies a scheduled reload of the widget's timeline whose time has passed. It showed everything that waited before, for
  /// free.
  @inline(__always)
  mutating func noteOwnReload(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard let reload = registry.nextReload(instance), reload <= now else { return }
    registry.set(nextReload: nil, instance)
    markFresh(instance, asOf: reload)
    registry.noteReload(instance, notBefore: reload)
    endShown(of: instance, asOf: reload, into: &output)
    touch(registry.instances[instance].device)
  }

  /// Ends the causes that a reload of an earlier instant has shown: those that came before, and those of a state that is right now.
  /// While the screen is wrong about a subject, the newest cause that came by its key stays. Call `markFresh` first.
  mutating func endShown(of instance: InstanceSlot, asOf instant: Timestamp, into output: inout PlannerOutput) {
    if !hasPending(instance) { return }
    let kept = newestCausesOfWrong(instance)
    var right: Set<EntrySlot> = []
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      if !registry.entries[entry].row.isAbsent, registry.entries[entry].distance == 0 { right.insert(entry) }
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
      if !cause.entry.isAbsent, registry.entries[cause.entry].distance > 0 { newest[cause.entry] = cause }
    }
    return newest
  }
}
