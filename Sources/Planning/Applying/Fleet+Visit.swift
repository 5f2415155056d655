import Domain
import Policies

/// One visit of a device, to which an event or one of its timers leads.
extension Fleet {
  /// Decides about the current event for one device: first each instance by the checks that concern it alone, then the device as
  /// a whole, because one push reloads every push-enabled widget.
  mutating func decide(
    _ event: borrowing EventInHand, _ device: DeviceSlot, _ visit: inout DeviceVisit, into output: inout PlannerOutput
  ) {
    visit.waiting.clear()
    for i in visit.entries.indices {
      let entry = visit.entries[i]
      let instance = registry.entries[entry].instance
      assert(registry.instances[instance].device == device, "an instance is decided with its own device")
      bringDayUpToDate(instance)
      let displayed = visit.displayedChange(by: event, entry, instance, in: self)
      if registry.instances[instance].surface.isActivity {
        if registry.instances[instance].surface == .starter, !concerns(starter: instance, event) {
          noteUnconcerned(starter: instance, event)
          continue
        }
        decideActivity(event, displayed, entry, instance, device, into: &output)
        continue
      }
      bringReloadUpToDate(instance, event, into: &output)
      let admission = admission(of: event, displayed, entry: entry, instance: instance, device: device)
      apply(admission, of: event, entry: entry, instance: instance, device: device, into: &output)
      if admission.reason == nil {
        assert(hasCause(event, instance), "an event that was admitted waits")
        visit.waiting.append(instance)
      }
    }
    // One push usually reaches all of them. Widgets without a push handler need another route.
    for i in visit.waiting.indices {
      let instance = visit.waiting[i]
      if !instance.isAbsent, hasCause(event, instance) {
        examine(question(device, trigger: instance), fromTimer: false, event, &visit, into: &output)
      }
    }
  }

  /// Applies a scheduled reload of the widget's timeline whose time has passed, if the current event is new and the kind has a
  /// rule for it.
  @inline(__always)
  private mutating func bringReloadUpToDate(
    _ instance: InstanceSlot, _ event: borrowing EventInHand, into output: inout PlannerOutput
  ) {
    guard event.standing == .fresh,
      event.evaluations[registry.instances[instance].kind.index].hasRule
    else { return }
    noteOwnReload(instance, into: &output)
  }

  /// Returns whether the newest event that waits on the instance is this one.
  @inline(__always)
  func hasCause(_ event: borrowing EventInHand, _ instance: InstanceSlot) -> Bool {
    let cause = pending[registry.instances[instance].waiting].lastCause
    return !cause.isAbsent && pending.causes[cause].event == event.slot
  }

  /// Decides about a push to a device and carries the verdict out. Where a background push for another widget of the same kind
  /// may be sent, it is the only push: it reloads the trigger, too, and a widget push beside it would cost a second token.
  mutating func examine(
    _ push: PushQuestion, fromTimer: Bool, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    if let other = namesake(of: push) {
      var instead = push
      (instead.trigger, instead.route) = (other, route(of: other, device: push.device))
      assert(instead.route == .backgroundPush, "a push instead of a widget push reloads both")
      bringUpToDate(instead, event, into: &output)
      let examination = examination(of: instead, terms: &visit.terms)
      if case .push = examination.outcome {
        let hasWaited = fromTimer || !hasCause(event, other)
        return apply(examination, fromTimer: hasWaited, event, &visit, into: &output)
      }
    }
    bringUpToDate(push, event, into: &output)
    let examination = examination(of: push, terms: &visit.terms)
    apply(examination, fromTimer: fromTimer, event, &visit, into: &output)
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

  /// Prepares every instance that a push would reach for an examination: begins a new budget window if the last one is over, applies
  /// a scheduled reload whose time has passed, recomputes distances that an earlier policy weighed, and computes the usual demand of the
  /// kinds.
  mutating func bringUpToDate(
    _ push: PushQuestion, _ event: borrowing EventInHand, into output: inout PlannerOutput
  ) {
    let zone = registry.devices[push.device].zone
    let timeOfDay = zones.timeOfDay(zone, now)
    var walk = registry.instances(of: push.device)
    while let instance = walk.next(registry) {
      guard instance == push.trigger || reaches(instance, push) else { continue }
      bringDayUpToDate(instance)
      noteOwnReload(instance, into: &output)
      let kind = registry.instances[instance].kind
      if rules[kind].hasOtherScales { bringDistancesUpToDate(instance, event) }
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
