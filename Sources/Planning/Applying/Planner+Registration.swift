import Domain
import Policies

extension Planner {
  /// Takes over what a device shows and how it is reached. Instances that stay keep their ledgers and what waits on them; what
  /// is gone keeps its ledger until its window ends, so that nothing is refilled by registering anew.
  mutating func register(_ registration: Registration, into output: inout PlannerOutput) {
    let device = deviceSlot(registration.device, app: registration.app)
    guard registration.updatedAt >= registry.devices[device].updatedAt else { return }
    move(device, toApp: registration.app)
    registry.takeOver(registration, device, zone: zones.zone(registration.timeZone, now: now), now: now)
    for widget in registration.widgets { place(widget, device, into: &output) }
    for control in registration.controls { place(control, device, into: &output) }
    for activity in registration.activities where registration.plansActivity(activity) {
      place(activity, device, into: &output)
      rememberRegistered(activity, device)
    }
    for starter in registration.pushToStart { place(starter, device, into: &output) }
    for activity in registration.activities where !registration.plansActivity(activity) {
      rememberRunning(activity, device)
    }
    let present = registration.plannedInstanceIDs
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !registry.instances[instance].flags.contains(.retired), !present.contains(registry.id(of: instance)) {
        retire(instance, into: &output)
      }
    }
    touch(device)
  }

  /// Takes over a tombstone: tokens and interests go at once, ledgers when they have run out.
  mutating func forget(_ id: String, into output: inout PlannerOutput) {
    guard let device = registry.device(named: id) else { return }
    // The decisions about what waits still name how the device was reached.
    registry.markForgotten(device)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !registry.instances[instance].flags.contains(.retired) { retire(instance, into: &output) }
    }
    registry.forget(device)
    pricing.forget(device)
    touch(device)
    purgeIfOver(device)
  }

  private mutating func deviceSlot(_ id: String, app: String) -> DeviceSlot {
    if let device = registry.device(named: id) { return device }
    let app = appSlot(app)
    ledgers.join(app)
    return registry.insertDevice(id, app: app)
  }

  // MARK: Placing

  private mutating func place(
    _ widget: Registration.Widget, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let instance = place(widget.id, widget.kind, .widget, device, into: &output)
    registry.set(pushEnabled: widget.pushEnabled, instance)
    registry.set(nextReload: widget.nextReload, instance)
    listen(instance, to: widget.interests)
  }

  private mutating func place(
    _ control: Registration.Control, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let instance = place(control.id, control.kind, .control, device, into: &output)
    registry.address(instance, token: control.token, isChannel: false)
    listen(instance, to: control.interests)
  }

  private mutating func place(
    _ activity: Registration.Activity, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let instance = place(activity.id, activity.kind, .activity, device, into: &output)
    switch activity.address {
    case .token(let token): registry.address(instance, token: token, isChannel: false)
    case .channel(let channel): registry.address(instance, token: channel, isChannel: true)
    }
    if var state = registry.addressed[instance] {
      let started = min(activity.startedAt, now)
      state.frequentPushes = activity.frequentPushes
      if state.isChannel {
        // A channel outlives its activities: the newest one counts.
        if started > state.startedAt, state.startedAt.microseconds != 0 { state.ended = false }
        state.startedAt = max(started, state.startedAt)
      } else {
        state.startedAt = started
      }
      if state.lastEventAt.microseconds == 0 { state.lastEventAt = now }
      registry[addressed: instance] = state
    }
    listen(instance, to: activity.interests)
    setActivityTimer(instance)
  }

  private mutating func place(
    _ starter: Registration.PushToStart, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let instance = place(
      Registration.starterID(kind: starter.kind), starter.kind, .starter, device, into: &output)
    registry.address(instance, token: starter.token, isChannel: false)
    listen(instance, to: starter.interests)
  }

  /// Finds or makes an instance; another kind or surface under the same id is another thing.
  private mutating func place(
    _ id: String, _ kindName: String, _ surface: InstanceSurface, _ device: DeviceSlot,
    into output: inout PlannerOutput
  ) -> InstanceSlot {
    guard let instance = registry.find(id, of: device) else {
      return registry.insertInstance(id, kind: kindSlot(kindName), surface: surface, device: device)
    }
    let state = registry.instances[instance]
    if rules[state.kind].name != kindName || state.surface != surface {
      endAllCauses(of: instance, .instanceRemoved, into: &output)
      if surface == .widget { setAside(addressOf: instance) } else { takeBack(addressOf: instance) }
      registry.change(instance, kind: kindSlot(kindName), surface: surface)
    }
    if registry.instances[instance].flags.contains(.retired) {
      registry.revive(instance)
      pending.clearDue(&registry[waiting: instance])
    }
    return instance
  }

  /// Makes an instance listen to just these keys. What came by a key that is gone stays pending, but no later event can
  /// supersede it by that key.
  private mutating func listen(_ instance: InstanceSlot, to keys: [String]) {
    for entry in registry.listen(instance, to: keys) {
      pending.detach(registry.instances[instance].waiting, from: entry)
    }
  }

  /// Keeps what the control or activity that had a widget's id still owes: a widget has no address and no rate of its own. It
  /// stays as a retired instance of the same id behind it, so that nothing is refilled by coming back as what it was.
  private mutating func setAside(addressOf instance: InstanceSlot) {
    guard let address = registry.takeAddress(of: instance), address.ledgerEnd > now else { return }
    let old = registry.instances[instance]
    let kept = registry.insertInstance(
      registry.id(of: instance), kind: old.kind, surface: old.surface, device: old.device, behind: instance)
    registry.markRetired(kept)
    // What was charged to its rate last may still be refused.
    ledgers.copyRefund(from: old.day, to: &registry[day: kept])
    registry[addressed: kept] = address
    setDue(kept, address.ledgerEnd)
    boundRetired(of: old.device)
  }

  /// Undoes `setAside`, if there is something left of it.
  private mutating func takeBack(addressOf instance: InstanceSlot) {
    let state = registry.instances[instance]
    guard state.surface == .widget else { return }
    var walk = registry.instances(of: state.device)
    while let other = walk.next(registry) {
      if other != instance, registry.instances[other].id == state.id, registry.instances[other].index > state.index {
        registry[addressed: instance] = registry.addressed[other]
        registry.unlink(other)
        remove(other)
        return
      }
    }
  }

  // MARK: Activities

  /// Notes that the device has handed over the activity's token, so the starts up to its own are no zombies, also once it has
  /// ended.
  private mutating func rememberRegistered(_ activity: Registration.Activity, _ device: DeviceSlot) {
    guard let starter = registry.find(Registration.starterID(kind: activity.kind), of: device),
      var started = registry.addressed[starter]?.started
    else { return }
    for place in started.indices where started[place].at <= activity.startedAt { started[place].isRegistered = true }
    registry[addressed: starter]?.started = started
  }

  /// Remembers an activity that a channel tells: it runs on the device all the same, so nothing may start another one of its
  /// subjects.
  private mutating func rememberRunning(_ activity: Registration.Activity, _ device: DeviceSlot) {
    guard let starter = registry.find(Registration.starterID(kind: activity.kind), of: device) else { return }
    for key in activity.interests {
      remember(
        AddressedState.StartedSubject(
          subject: Hash64.of(key), at: min(now, activity.startedAt), isRegistered: true), by: starter)
    }
  }

  // MARK: Going away

  private mutating func retire(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    endAllCauses(of: instance, .instanceRemoved, into: &output)
    registry.retire(instance)
    // Nothing owed: it goes with the next record, when nothing refers to it any more.
    setDue(instance, max(now, ledgerEnd(instance)))
    boundRetired(of: registry.instances[instance].device)
  }

  /// Removes the retired instance whose ledger ends first when there are too many.
  private mutating func boundRetired(of device: DeviceSlot) {
    var count = 0
    var first: InstanceSlot?
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard registry.instances[instance].flags.contains(.retired) else { continue }
      count += 1
      if first.map({ due(instance) < due($0) }) ?? true { first = instance }
    }
    guard count > bounds.retiredPerDeviceMax, let first else { return }
    ledgers.forget(&registry[day: first], of: first)
    registry[addressed: first]?.rate = RateState()
    registry[addressed: first]?.started = []
    setDue(first, now)
  }

  private func due(_ instance: InstanceSlot) -> Timestamp { pending[registry.instances[instance].waiting].due }

  /// Returns the instant at which nothing is owed to the ledgers of the instance and of its device any more.
  private func ledgerEnd(_ instance: InstanceSlot) -> Timestamp {
    let state = registry.instances[instance]
    // A newcomer's window is the day of its zone, which began at most 25 h ago: it must not begin before this one ended.
    var end = state.day.spent > 0 ? state.day.end + .hours(25) : .distantPast
    if registry.devices[state.device].flags.contains(.forgotten) { end = max(end, registry.rateEnd(of: state.device)) }
    if let address = registry.addressed[instance] { end = max(end, address.ledgerEnd) }
    if let last = ledgers.lastCharge(of: instance) { end = max(end, last + .hours(24)) }
    return end
  }

  /// Removes a retired instance whose ledger has run out, and its device with the last one.
  mutating func purge(retired instance: InstanceSlot) {
    let end = ledgerEnd(instance)
    if end > now {
      setDue(instance, end)
      return
    }
    let device = registry.instances[instance].device
    registry.unlink(instance)
    remove(instance)
    purgeIfOver(device)
  }

  /// Removes an instance that is in no chain any more, and what only it refers to.
  mutating func remove(_ instance: InstanceSlot) {
    pending.drop(&registry[waiting: instance])
    ledgers.remove(instance)
    registry.remove(instance)
  }

  /// Removes, once a day, forgotten devices whose rates had not run out when their last instance went, and apps without
  /// devices whose day had not ended then.
  mutating func purgeForgotten() {
    for device in registry.devices.slots { purgeIfOver(device) }
    for app in ledgers.apps.slots { journal.noteRemoval(ofApp: ledgers.purge(app, now: now)) }
  }

  private mutating func purgeIfOver(_ device: DeviceSlot) {
    let state = registry.devices[device]
    guard state.flags.contains(.forgotten), state.firstInstance.isAbsent, registry.rateEnd(of: device) <= now
    else { return }
    journal.noteRemoval(ofDevice: registry.id(of: device))
    registry.remove(device)
    journal.noteRemoval(ofApp: ledgers.leave(state.app, now: now))
  }

  // MARK: Names

  /// Makes the device one of this app from here on.
  private mutating func move(_ device: DeviceSlot, toApp id: String) {
    let (old, new) = (registry.devices[device].app, appSlot(id))
    if new == old { return }
    registry.set(app: new, of: device)
    ledgers.join(new)
    // A refund belongs to the app that was charged.
    registry[lastCommand: device].settle()
    journal.noteRemoval(ofApp: ledgers.leave(old, now: now))
  }

  /// Returns the slot of an app, which is made if there is none.
  mutating func appSlot(_ id: String) -> AppSlot {
    ledgers.app(id, limit: rules.appLimit(id, partition: partition, of: partitionCount))
  }

  /// Returns the slot of a kind, which is made if there is none; beyond the bound, the slot that further kinds share.
  private mutating func kindSlot(_ name: String) -> KindSlot {
    knownKindSlot(rules.countedName(name, kindsMax: bounds.kindsMax))
  }

  /// Returns the slot of a kind that the bound has let through before, which is made if there is none.
  mutating func knownKindSlot(_ name: String) -> KindSlot {
    if let kind = rules.kind(named: name) { return kind }
    let (kind, numbers) = rules.addKind(name)
    pricing.addKind(numbers)
    return kind
  }
}
