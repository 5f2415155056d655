import Domain
import Policies

extension Fleet {
  /// Carries out the verdict on the current event for one widget or control.
  @inline(__always)
  mutating func apply(
    _ admission: Admission, of event: borrowing EventInHand, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot, into output: inout PlannerOutput
  ) {
    assert(admission.reason != nil || admission.effect == .none, "an event that waits ends nothing that waits")
    if registry.devices[device].flags.contains(.foreground) {
      noteShownBefore(admission, of: event, entry, instance, device)
    }
    if let current = admission.current {
      registry[screen: entry].current = current
      touch(device)
    }
    if let distance = admission.distance { noteDistance(distance, after: event, entry, instance, device) }
    switch admission.effect {
    case .none: break
    case .supersede:
      // The state is right. News of the subject waits on: no field shows it.
      let isState = admission.distance != nil
      endCauses(of: instance, .superseded, into: &output) { $0.entry == entry && !(isState && $0.value > 0) }
    case .freshen:
      endAllCauses(of: instance, .freshened, into: &output)
      markFresh(instance, after: event)
      touch(device)
    case .joinPush:
      if admission.arrives { noteArrival(instance, device) }
      markFresh(instance, after: event)
      touch(device)
      return reportJoined(event, instance, device, admission.relevance, into: &output)
    }
    if admission.arrives { noteArrival(instance, device) }
    if let reason = admission.reason {
      suppress(event, instance, reason, admission.relevance, into: &output)
    } else {
      append(admission, of: event, entry: entry, instance: instance, device: device, into: &output)
    }
  }

  /// Notes how wrong the entry's screen is after the event.
  private mutating func noteDistance(
    _ distance: Float, after event: borrowing EventInHand, _ entry: EntrySlot, _ instance: InstanceSlot,
    _ device: DeviceSlot
  ) {
    assert((0...1).contains(distance), "a screen is at most all wrong")
    let kind = registry.instances[instance].kind
    let (head, scale) = (rules[kind].display.rowHead, rules[kind].display.scale)
    if let row = screens.row(registry[screen: entry], head: head) {
      let isWeighedSo = distance == 0 || screens.scale(row) == scale
      if registry[screen: entry].distance == distance, isWeighedSo { return }
      screens.set(distance: distance, scale: scale, &registry[screen: entry])
    } else {
      let before = event.truths[event.evaluations[kind.index].truth].before
      screens.show(
        event.values.span.extracting(before), head: head | scale, distance: distance, &registry[screen: entry])
    }
    touch(device)
  }

  /// Reports that the device's last command shows the current event, too.
  private mutating func reportJoined(
    _ event: borrowing EventInHand, _ instance: InstanceSlot, _ device: DeviceSlot, _ relevance: Float,
    into output: inout PlannerOutput
  ) {
    var decision = PlannedDecision(
      about: event.slot, on: instance, .coalesce, .emittedCoalesced, relevance: relevance,
      objective: resultOfJoining(instance, relevance: relevance))
    decision.command = Int32(output.place(ofEarlier: registry.devices[device].lastCommand))
    report(decision, into: &output)
  }

  /// Counts the current event as a visible change in the demand of an instance. In quiet hours it is not counted, because it
  /// could not spend a token.
  private mutating func noteArrival(_ instance: InstanceSlot, _ device: DeviceSlot) {
    if zones.quietEnd(registry.devices[device].zone) != nil { return }
    learnChange(instance, device)
    touch(device)
  }

  /// Adds the current event to the causes that wait on the instance.
  private mutating func append(
    _ admission: Admission, of event: borrowing EventInHand, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot,
    into output: inout PlannerOutput
  ) {
    let kind = registry.instances[instance].kind
    let evaluation = event.evaluations[kind.index]
    let waiting = registry.instances[instance].waiting
    if Int(pending[waiting].causes) >= bounds.causesPerInstanceMax, let cheapest = pending.cheapestCause(waiting) {
      // The screen stays wrong, and the causes that go on waiting say for how long.
      endCauses(of: instance, .superseded, counts: false, into: &output) {
        $0.at == cheapest.at && $0.event == cheapest.event
      }
    }
    var expires = admission.distance == nil ? now + rules[kind].newsLife : .distantFuture
    if evaluation.maxAge != .unbounded { expires = min(expires, event.time + evaluation.maxAge) }
    let relevance =
      evaluation.isRelevanceStated ? admission.relevance : admission.distance ?? admission.relevance
    let cause = Cause(
      event: event.slot, entry: entry,
      signedRelevance: admission.isRepeat ? -relevance : relevance, isRelevanceStated: evaluation.isRelevanceStated,
      at: now, expires: max(expires, now + TimeSpan(microseconds: 1)))
    assert(cause.expires > now, "an event waits for some time, or its expiry would have no time to be decided at")
    pending.append(cause, to: &registry[waiting: instance], value: admission.value, now: now)
    assert(
      Int(pending[registry.instances[instance].waiting].causes) <= bounds.causesPerInstanceMax, "what waits is bounded")
    touch(device)
  }

  // MARK: Ending causes

  /// Ends every waiting cause for which `ends` returns true, with this reason. With `counts`, they count for the objective of the kind.
  mutating func endCauses(
    of instance: InstanceSlot, _ reason: Reason, counts: Bool = true, into output: inout PlannerOutput,
    where ends: (Cause) -> Bool
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
        PlannedDecision(
          about: cause.event, on: instance, .suppress, reason, relevance: cause.relevance,
          objective: counts ? result(of: cause, on: instance, as: reason) : nil),
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
    assert(!hasPending(instance), "no cause is left without a timer")
    pending.clearDue(&registry[waiting: instance])
  }

  /// Applies a scheduled reload of the widget's timeline whose time has passed. It showed everything that waited before, without a
  /// push.
  @inline(__always)
  mutating func noteOwnReload(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard let reload = registry.nextReload(instance), reload <= now else { return }
    registry.set(nextReload: nil, instance)
    markFresh(instance, asOf: reload)
    chargeScheduledReload(instance, at: reload)
    registry.noteReload(instance, notBefore: reload)
    // The next fetch might tell of this reload.
    _ = outcomes.takePush(instance)
    endShown(of: instance, asOf: reload, into: &output)
    touch(registry.instances[instance].device)
  }
}
