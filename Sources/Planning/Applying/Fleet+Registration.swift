import Domain
import Policies

extension Fleet {
  /// Applies a registration. Instances that stay keep their ledgers and waiting causes. The ledger of an instance that is no
  /// longer registered is kept until its budget window ends, so that registering the instance again refills nothing.
  mutating func register(_ registration: Registration, into output: inout PlannerOutput) {
    let device = deviceSlot(registration.device, app: registration.app)
    guard registration.updatedAt >= registry.devices[device].updatedAt else {
      // Thousands of devices announce one channel, in any order.
      if !registration.device.hasPrefix(Registration.channelPrefix) { outcomes.noteOutdatedRegistration() }
      noteOutdated(registration, device)
      return
    }
    let isNew = registry.devices[device].firstInstance.isAbsent
    noteOwnReloads(of: device, into: &output)
    countInstances(of: device, by: -1)
    var repaired = unreachableInstances(of: device)
    let before = registry.pushTokens(of: device)
    let isMoved = isMoved(device, by: registration)
    if isMoved {
      registry.forgetRejections(of: device)
      noteNewTokens(of: device)
    }
    move(device, toApp: registration.app)
    let zone = zones.zone(registration.timeZone, now: now)
    if registry.takeOver(registration, device, zone: zone, now: now) { repaired += registry.widgets(of: device) }
    for widget in registration.widgets { place(widget, device, into: &output) }
    for control in registration.controls { place(control, device, into: &output) }
    for activity in registration.activities where registration.plansActivity(activity) {
      place(activity, device, on: registration.platform, isMoved: isMoved, into: &output)
    }
    for starter in registration.pushToStart { place(starter, device, on: registration.platform, into: &output) }
    for activity in registration.activities { noteRunning(activity, device) }
    if !isNew { retireLeftOut(of: registration, device, into: &output) }
    noteLeftOut(of: registration, device)
    settleTokens(of: device, before: before, isMoved: isMoved)
    for instance in repaired where !registry.instances[instance].flags.contains(.retired) {
      if case .unreachable = route(of: instance, device: device) { continue }
      catchUpAfterRegistration(instance)
    }
    countInstances(of: device, by: 1)
    touch(device)
  }

  /// Retires the instances of a device that its registration does not list any more.
  private mutating func retireLeftOut(
    of registration: Registration, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let present = registration.plannedInstanceIDs
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !registry.instances[instance].flags.contains(.retired), !present.contains(registry.id(of: instance)) {
        retire(instance, into: &output)
      }
    }
  }

  /// Returns whether a registration moves a device to another app or environment, where its tokens are other ones.
  private func isMoved(_ device: DeviceSlot, by registration: Registration) -> Bool {
    let state = registry.devices[device]
    return state.flags.contains(.production) != (registration.environment == .production)
      || ledgers.apps[state.app].id != registration.app
  }

  /// Notes that the tokens of a device's activities are those of another environment or app, even if they have the same digits.
  private mutating func noteNewTokens(of device: DeviceSlot) {
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      // An activity whose token another install has taken has none.
      guard let state = registry.addressed[instance], !state.isChannel, !state.token.isEmpty else { continue }
      registry[addressed: instance]?.noteNewToken()
    }
  }

  /// Returns the instances of a device that no push can reach now.
  private func unreachableInstances(of device: DeviceSlot) -> [InstanceSlot] {
    var found: [InstanceSlot] = []
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard !registry.instances[instance].surface.isActivity else { continue }
      if case .unreachable = route(of: instance, device: device) { found.append(instance) }
    }
    return found
  }

  /// Applies the reloads of the widgets' timelines whose times have passed, before other ones are named.
  private mutating func noteOwnReloads(of device: DeviceSlot, into output: inout PlannerOutput) {
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !registry.instances[instance].flags.contains(.retired) { noteOwnReload(instance, into: &output) }
    }
  }

  /// Applies a tombstone: removes tokens and interests at once, and each ledger when it is full again.
  mutating func forget(_ id: Identifier, into output: inout PlannerOutput) {
    guard let device = registry.device(named: id) else { return }
    noteOwnReloads(of: device, into: &output)
    countInstances(of: device, by: -1)
    tokenOwners.remove(registry.pushTokens(of: device), of: device)
    // The causes end before the tokens are removed, because the decisions name the device's surface.
    registry.markForgotten(device)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !registry.instances[instance].flags.contains(.retired) { retire(instance, into: &output) }
    }
    registry.forget(device)
    registry.forgetRejections(of: device)
    pricing.forget(device)
    touch(device)
    purgeIfOver(device)
  }

  private mutating func deviceSlot(_ id: Identifier, app: Identifier) -> DeviceSlot {
    if let device = registry.device(named: id) { return device }
    let app = appSlot(app)
    ledgers.apps.join(app)
    return registry.insertDevice(id, app: app)
  }

  // MARK: Placing

  private mutating func place(
    _ widget: Registration.Widget, _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let instance = place(widget.id, widget.kind, .widget, device, into: &output)
    registry.set(pushEnabled: widget.pushEnabled, instance)
    // The widget has reloaded since an earlier time, so no reload is to come.
    let isToCome = widget.nextReload.map { $0 > registry.instances[instance].lastReload } ?? false
    registry.set(nextReload: isToCome ? widget.nextReload : nil, instance)
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
    _ activity: Registration.Activity, _ device: DeviceSlot, on platform: String, isMoved: Bool,
    into output: inout PlannerOutput
  ) {
    let isBack = isLeftOut(activity.id, of: device)
    let instance = place(activity.id, activity.kind, .activity, device, into: &output)
    if let state = registry.addressed[instance], !state.isChannel, isBack || !state.life.isOnScreen,
      min(activity.startedAt, now) - ActivityTimes.clockError > state.startedAt
    {
      registry[addressed: instance]?.beginAnew()
    }
    let isNewToken: Bool
    switch activity.address {
    case .token(let token): isNewToken = registry.address(instance, token: token, isChannel: false)
    case .channel(let channel):
      registry.address(instance, token: channel.text, isChannel: true)
      isNewToken = false
    }
    if case .token = activity.address { registry[addressed: instance]?.note(platform: platform) }
    let isNew = registry.addressed[instance]?.lastEventAt.microseconds == 0
    let wasEnded = registry.addressed[instance]?.ended == true
    registry[addressed: instance]?.register(
      startedAt: activity.startedAt, frequentPushes: activity.frequentPushes, now: now)
    // A channel that another session uses: its cards show what their starts told.
    let isAnother = wasEnded && registry.addressed[instance]?.ended == false
    listen(instance, to: activity.interests)
    // Nothing was heard, and nothing sent, while it was not registered.
    if isBack { registry[addressed: instance]?.hear(at: now) }
    if isNew { hearOfStart(instance) }
    if isNewToken || isBack || isMoved || isAnother { oweAnswer(to: instance) }
    setActivityTimer(instance)
  }

  private mutating func place(
    _ starter: Registration.PushToStart, _ device: DeviceSlot, on platform: String,
    into output: inout PlannerOutput
  ) {
    let id = Registration.starterID(kind: starter.kind)
    let isBack = isLeftOut(id, of: device)
    let instance = place(id, starter.kind, .starter, device, into: &output)
    registry.address(instance, token: starter.token, isChannel: false)
    registry[addressed: instance]?.note(platform: platform)
    if listen(instance, to: starter.interests) || isBack { registry[addressed: instance]?.listensSince = now }
  }

  /// Returns whether an instance with an id is known that the device has left out of its registration.
  private func isLeftOut(_ id: Identifier, of device: DeviceSlot) -> Bool {
    registry.find(id, of: device).map { registry.instances[$0].flags.contains(.retired) } ?? false
  }

  /// Returns the instance with an id, and makes it if there is none. If the id had another kind or surface before, the waiting
  /// causes end and the demand begins anew, but the day's ledger stays.
  private mutating func place(
    _ id: Identifier, _ kindName: Identifier, _ surface: InstanceSurface, _ device: DeviceSlot,
    into output: inout PlannerOutput
  ) -> InstanceSlot {
    guard let instance = registry.find(id, of: device) else {
      let instance = registry.insertInstance(id, kind: kindSlot(kindName), surface: surface, device: device)
      beginDemand(of: instance)
      return instance
    }
    let state = registry.instances[instance]
    if state.surface != surface || !isCounted(kindName, as: state.kind) {
      endAllCauses(of: instance, .instanceRemoved, into: &output)
      if surface == .widget { setAside(addressOf: instance) } else { takeBack(addressOf: instance) }
      registry.change(instance, kind: kindSlot(kindName), surface: surface, screens: &screens)
      beginDemand(of: instance)
    }
    if registry.instances[instance].flags.contains(.retired) {
      registry.revive(instance)
      pending.clearDue(&registry[waiting: instance])
    }
    return instance
  }

  /// Begins to learn the demand of a new instance, and begins its budget window, so that the first day of both ends at the same
  /// time.
  private mutating func beginDemand(of instance: InstanceSlot) {
    bringDayUpToDate(instance)
    let state = registry.instances[instance]
    registry[demand: instance] = pricing.newcomer(
      state.kind, zones.timeOfDay(registry.devices[state.device].zone, now))
  }

  /// Sets the interest keys of an instance. Causes that came by a removed key keep waiting, but no later event can supersede them
  /// by that key.
  /// - Returns: Whether a key was removed.
  @discardableResult
  private mutating func listen(_ instance: InstanceSlot, to keys: [Identifier]) -> Bool {
    let removed = registry.listen(instance, to: keys, screens: &screens)
    for entry in removed { pending.detach(registry.instances[instance].waiting, from: entry) }
    return !removed.isEmpty
  }

  /// Keeps the rate of a control or activity when a widget takes over its id, because a widget has no address and no rate of its
  /// own. The rate stays with a retired instance of the same id, so that it is not refilled when the control comes back.
  private mutating func setAside(addressOf instance: InstanceSlot) {
    guard let address = registry.takeAddress(of: instance), address.ledgerEnd > now else { return }
    let old = registry.instances[instance]
    let kept = registry.insertInstance(
      registry.id(of: instance), kind: old.kind, surface: old.surface, device: old.device, behind: instance)
    registry.markRetired(kept)
    // APNs may still refuse the last push that was charged to its rate.
    ledgers.copyRefund(from: old.day, to: &registry[day: kept])
    registry.restore(address, of: kept)
    setDue(kept, address.ledgerEnd)
    boundRetired(of: old.device)
  }

  /// Makes a push-to-start token for the kind of an activity, as one that the device has left out, if there is none: what the device says of
  /// the activity counts for a token that it may register later, too.
  mutating func keepStarter(of activity: InstanceSlot) {
    let (kind, device) = (registry.instances[activity].kind, registry.instances[activity].device)
    let id = Registration.starterID(kind: rules[kind].name)
    guard rules.activity(kind)?.attributesType != nil, registry.find(id, of: device) == nil else { return }
    let starter = registry.insertInstance(id, kind: kind, surface: .starter, device: device)
    registry.address(starter, token: "", isChannel: false)
    registry.markRetired(starter)
    setDue(starter, now + ActivityTimes.startMemory)
    boundRetired(of: device)
  }

  /// Restores the rate that `setAside` kept, if it still exists.
  private mutating func takeBack(addressOf instance: InstanceSlot) {
    let state = registry.instances[instance]
    guard state.surface == .widget else { return }
    var walk = registry.instances(of: state.device)
    while let other = walk.next(registry) {
      if other != instance, registry.instances[other].id == state.id, registry.instances[other].index > state.index {
        registry.copyAddress(of: other, to: instance)
        registry.unlink(other)
        remove(other)
        return
      }
    }
  }

  // MARK: Going away

  private mutating func retire(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    endAllCauses(of: instance, .instanceRemoved, into: &output)
    registry.retire(instance, screens: &screens)
    // An instance that owes nothing is removed with the next record, when no decision refers to it any more.
    setDue(instance, max(now, ledgerEnd(instance)))
    boundRetired(of: registry.instances[instance].device)
  }

  /// Removes the retired instance whose ledger ends first, if the device has more than `retiredPerDeviceMax`.
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
    registry[addressed: first]?.forgetLedger()
    setDue(first, now)
  }

  private func due(_ instance: InstanceSlot) -> Timestamp { pending[registry.instances[instance].waiting].due }

  /// Returns the time at which the ledgers of an instance, and those of its device if it is forgotten, are full again.
  private func ledgerEnd(_ instance: InstanceSlot) -> Timestamp {
    let state = registry.instances[instance]
    // The window of a new instance is the current day of its zone, which began at most 25 h ago. It must not begin before this
    // window has ended.
    var end = state.day.spent > 0 ? state.day.end + .hours(25) : .distantPast
    if registry.devices[state.device].flags.contains(.forgotten) { end = max(end, registry.rateEnd(of: state.device)) }
    if let address = registry.addressed[instance] {
      end = max(end, address.ledgerEnd)
      // A person may remove it from the screen when another one of its subject is there.
      if state.surface == .activity, !address.isChannel {
        end = max(end, address.startedAt + ActivityTimes.startMemory)
      }
    }
    if let last = ledgers.rolling[instance]?.last { end = max(end, last + .hours(24)) }
    return end
  }

  /// Removes a retired instance whose ledger is full again, and a forgotten device with its last instance.
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

  /// Removes an instance that is in no chain any more, with everything to which only it refers.
  mutating func remove(_ instance: InstanceSlot) {
    pending.drop(&registry[waiting: instance])
    ledgers.rolling.remove(instance)
    registry.remove(instance)
  }

  /// Removes, once a day, forgotten devices whose rates were not full when their last instance was removed, and apps without
  /// devices whose day had not ended then.
  mutating func purgeForgotten() {
    for device in registry.devices.slots { purgeIfOver(device) }
    for app in ledgers.apps.slots { journal.noteRemoval(ofApp: ledgers.apps.purge(app, now: now)) }
  }

  private mutating func purgeIfOver(_ device: DeviceSlot) {
    let state = registry.devices[device]
    guard state.flags.contains(.forgotten), state.firstInstance.isAbsent, registry.rateEnd(of: device) <= now,
      registry.rare(device).refunds(now: now).isEmpty
    else { return }
    journal.noteRemoval(ofDevice: registry.id(of: device), at: state.chunkPlace)
    registry.remove(device)
    journal.noteRemoval(ofApp: ledgers.apps.leave(state.app, now: now))
  }

  // MARK: Names

  /// Moves a device to another app.
  private mutating func move(_ device: DeviceSlot, toApp id: Identifier) {
    let (old, new) = (registry.devices[device].app, appSlot(id))
    if new == old { return }
    registry.set(app: new, of: device)
    ledgers.apps.join(new)
    // The last command can no longer be refunded, because another app was charged for it.
    registry[lastCommand: device].settle()
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) { registry[addressed: instance]?.forgetAppCharges() }
    journal.noteRemoval(ofApp: ledgers.apps.leave(old, now: now))
  }

  /// Returns the slot of an app, and makes the app if there is none.
  mutating func appSlot(_ id: Identifier) -> AppSlot {
    if let slot = ledgers.apps.slotByID[id] { return slot }
    let limit = rules.appLimit(id, partition: partition, of: partitionCount)
    return ledgers.apps.slot(id, limit: limit)
  }

  /// Returns the slot of a kind, and makes the kind if there is none. Beyond `kindsMax`, returns the slot that further kinds
  /// share.
  private mutating func kindSlot(_ name: Identifier) -> KindSlot {
    let counted = countedName(name)
    if counted != name { outcomes.noteInstanceOfOtherKind() }
    return knownKindSlot(counted)
  }

  private func countedName(_ name: Identifier) -> Identifier { rules.countedName(name, kindsMax: bounds.kindsMax) }

  /// Returns whether an instance of a named kind is one of a known kind, which may be the one that further kinds share.
  private func isCounted(_ name: Identifier, as kind: KindSlot) -> Bool {
    let known = rules[kind].name
    return known == name || known == countedName(name)
  }

  /// Returns the slot of a kind that is within `kindsMax`, and makes the kind if there is none.
  mutating func knownKindSlot(_ name: Identifier) -> KindSlot {
    if let kind = rules.kind(named: name) { return kind }
    let (kind, numbers) = rules.addKind(name)
    pricing.addKind(numbers)
    return kind
  }
}
