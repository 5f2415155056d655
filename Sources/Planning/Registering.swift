import Domain
import Policies

extension Planner {
  /// Takes over what a device shows and how it is reached. Instances that stay keep their ledgers and what waits on them;
  /// what is gone keeps its ledger until its window ends, so that nothing is refilled by registering anew.
  mutating func register(_ registration: Registration, into output: inout PlannerOutput) {
    let slot = deviceSlot(registration.device, app: registration.app)
    guard registration.updatedAt.microseconds >= devices[slot].updatedAt else { return }
    takeOver(registration, device: slot)
    for widget in registration.widgets { place(widget, device: slot, into: &output) }
    for control in registration.controls { place(control, device: slot, into: &output) }
    for activity in registration.activities where registration.plansActivity(activity) {
      place(activity, device: slot, into: &output)
      rememberRegistered(activity, device: slot)
    }
    for starter in registration.pushToStart { place(starter, device: slot, into: &output) }
    for activity in registration.activities where !registration.plansActivity(activity) {
      rememberRunning(activity, device: slot)
    }
    let present = registration.plannedInstanceIDs
    var instance = devices[slot].firstInstance
    while instance != none {
      let next = instances[instance].next
      if !instances[instance].flags.contains(.retired), !present.contains(instanceID(instance)) {
        retire(instance, into: &output)
      }
      instance = next
    }
    touch(device: slot)
  }

  /// A tombstone: tokens and interests go at once, ledgers when they have run out.
  mutating func forget(_ id: String, into output: inout PlannerOutput) {
    guard let slot = device(named: id) else { return }
    devices[slot].flags.insert(.forgotten)
    var instance = devices[slot].firstInstance
    while instance != none {
      let next = instances[instance].next
      if !instances[instance].flags.contains(.retired) { retire(instance, into: &output) }
      instance = next
    }
    set(TokenPair(), device: slot)
    devices[slot].flags.subtract([
      .widgetsToken, .widgetsTokenDead, .backgroundToken, .backgroundTokenDead, .foreground, .developerMode,
    ])
    forgetHabits(device: slot)
    changeRare(slot) { $0.foregroundSince = 0 }
    devices[slot].updatedAt = .min
    touch(device: slot)
    purgeIfOver(device: slot)
  }

  private mutating func deviceSlot(_ id: String, app: String) -> UInt32 {
    if let slot = device(named: id) { return slot }
    var device = DeviceState()
    device.flags = [.used]
    device.app = appIndex(app)
    apps[device.app].devices += 1
    let slot = devices.insert(device)
    name(device: slot, id)
    return slot
  }

  private mutating func takeOver(_ registration: Registration, device slot: UInt32) {
    var flags = devices[slot].flags
    // A rejected token stays dead until another one comes.
    let known = tokens(slot)
    if known.widgets != registration.tokens.widgets { flags.remove(.widgetsTokenDead) }
    if known.background != registration.tokens.background { flags.remove(.backgroundTokenDead) }
    flags.remove(.forgotten)
    set(.production, registration.environment == .production, in: &flags)
    set(.developerMode, registration.developerMode, in: &flags)
    set(.widgetsToken, registration.tokens.widgets != nil, in: &flags)
    set(.backgroundToken, registration.tokens.background != nil, in: &flags)
    devices[slot].flags = flags
    move(device: slot, toApp: registration.app)
    devices[slot].zone = zoneIndex(registration.timeZone)
    devices[slot].osVersion = registration.osVersion
    // A backend whose clock runs ahead must not lock out every later registration.
    devices[slot].updatedAt = min(registration.updatedAt.microseconds, now)
    let tokens = TokenPair(widgets: registration.tokens.widgets, background: registration.tokens.background)
    if tokens != known { set(tokens, device: slot) }
  }

  private func set(_ flag: DeviceState.Flags, _ on: Bool, in flags: inout DeviceState.Flags) {
    if on { flags.insert(flag) } else { flags.remove(flag) }
  }

  private mutating func place(_ widget: Registration.Widget, device slot: UInt32, into output: inout PlannerOutput) {
    let instance = place(widget.id, kind: widget.kind, surface: .widget, device: slot, into: &output)
    if widget.pushEnabled {
      instances[instance].flags.insert(.pushEnabled)
    } else {
      instances[instance].flags.remove(.pushEnabled)
    }
    set(nextReload: widget.nextReload?.microseconds ?? .min, instance)
    listen(instance, to: widget.interests)
  }

  private mutating func place(_ control: Registration.Control, device slot: UInt32, into output: inout PlannerOutput) {
    let instance = place(control.id, kind: control.kind, surface: .control, device: slot, into: &output)
    address(instance, token: control.token, isChannel: false)
    listen(instance, to: control.interests)
  }

  private mutating func place(_ activity: Registration.Activity, device slot: UInt32, into output: inout PlannerOutput)
  {
    let instance = place(activity.id, kind: activity.kind, surface: .activity, device: slot, into: &output)
    switch activity.address {
    case .token(let token): address(instance, token: token, isChannel: false)
    case .channel(let channel): address(instance, token: channel, isChannel: true)
    }
    let started = min(activity.startedAt.microseconds, now)
    addressed[instance]?.frequentPushes = activity.frequentPushes
    if let known = addressed[instance], known.isChannel {
      // A channel outlives its activities: the newest one counts.
      if started > known.startedAt, known.startedAt != 0 { addressed[instance]?.ended = false }
      addressed[instance]?.startedAt = max(started, known.startedAt)
    } else {
      addressed[instance]?.startedAt = started
    }
    if addressed[instance]?.lastEventAt == 0 { addressed[instance]?.lastEventAt = now }
    listen(instance, to: activity.interests)
    setActivityTimer(instance)
  }

  private mutating func place(
    _ starter: Registration.PushToStart, device slot: UInt32, into output: inout PlannerOutput
  ) {
    let instance = place(
      Registration.starterID(kind: starter.kind), kind: starter.kind, surface: .starter, device: slot, into: &output)
    address(instance, token: starter.token, isChannel: false)
    listen(instance, to: starter.interests)
  }

  /// The activity has handed over its token, so the starts up to its own are no zombies, also once it has ended.
  private mutating func rememberRegistered(_ activity: Registration.Activity, device slot: UInt32) {
    guard let starter = find(instance: Registration.starterID(kind: activity.kind), device: slot),
      let started = addressed[starter]?.started
    else { return }
    for place in started.indices where started[place].at <= activity.startedAt.microseconds {
      addressed[starter]?.started[place].isRegistered = true
    }
  }

  /// An activity that a channel tells runs on the device all the same: nothing may start another one of its subjects.
  private mutating func rememberRunning(_ activity: Registration.Activity, device slot: UInt32) {
    guard let starter = find(instance: Registration.starterID(kind: activity.kind), device: slot) else { return }
    for key in activity.interests {
      var hash = Hash64()
      hash.add(key)
      remember(
        AddressedState.StartedSubject(
          subject: hash.value, at: min(now, activity.startedAt.microseconds), isRegistered: true), by: starter)
    }
  }

  private mutating func address(_ instance: UInt32, token: String, isChannel: Bool) {
    var state = addressed[instance] ?? AddressedState()
    if state.token != token { state.tokenDead = false }
    state.token = token
    state.isChannel = isChannel
    addressed[instance] = state
  }

  /// Finds or makes an instance; another kind or surface under the same id is another thing.
  private mutating func place(
    _ id: String, kind: String, surface: InstanceSurface, device slot: UInt32, into output: inout PlannerOutput
  ) -> UInt32 {
    let instance: UInt32
    if let known = find(instance: id, device: slot) {
      instance = known
      if kinds[Int(instances[known].kind)].name != kind || instances[known].surface != surface {
        endAllCauses(of: known, reason: .instanceRemoved, into: &output)
        if surface == .widget { setAside(addressOf: known) } else { takeBack(addressOf: known) }
        instances[known].kind = UInt16(kindIndex(kind))
        instances[known].surface = surface
      }
    } else {
      instance = insertInstance(id: id, kind: kindIndex(kind), device: slot)
      instances[instance].surface = surface
    }
    if instances[instance].flags.contains(.retired) {
      instances[instance].flags.remove(.retired)
      clearDue(instance)
    }
    return instance
  }

  /// A widget has no address and no rate of its own. Where the control or activity that had its id still owes something,
  /// that stays as a retired instance of the same id behind it, so that nothing is refilled by coming back as what it was.
  private mutating func setAside(addressOf instance: UInt32) {
    guard let state = addressed.removeValue(forKey: instance), state.ledgerEnd > now else { return }
    let old = instances[instance]
    let kept = insertInstance(
      id: instanceID(instance), kind: UInt32(old.kind), device: old.device, behind: instance)
    instances[kept].surface = old.surface
    instances[kept].flags.insert(.retired)
    // What was charged to its rate last may still be refused.
    if old.flags.contains(.chargedByLast) { instances[kept].flags.insert(.chargedByLast) }
    addressed[kept] = state
    setDue(kept, state.ledgerEnd)
    boundRetired(device: old.device)
  }

  /// Undoes `setAside`, if there is something left of it.
  private mutating func takeBack(addressOf instance: UInt32) {
    guard instances[instance].surface == .widget else { return }
    var previous = instance
    while instances[previous].next != none {
      let next = instances[previous].next
      if instances[next].id == instances[instance].id {
        addressed[instance] = addressed[next]
        instances[previous].next = instances[next].next
        remove(next)
        return
      }
      previous = next
    }
  }

  func find(instance id: String, device slot: UInt32) -> UInt32? {
    guard let wanted = instanceIDs.number(of: id, in: texts) else { return nil }
    var instance = devices[slot].firstInstance
    while instance != none {
      if instances[instance].id == wanted { return instance }
      instance = instances[instance].next
    }
    return nil
  }

  /// Gives a new instance the smallest free index of its device and its place in the chain.
  /// - Parameter first: an instance of the device that it comes behind: who looks for an id finds that one first.
  private mutating func insertInstance(
    id: String, kind: UInt32, device slot: UInt32, behind first: UInt32 = none
  ) -> UInt32 {
    var index: UInt16 = first == none ? 0 : instances[first].index + 1
    var previous = first
    var next = first == none ? devices[slot].firstInstance : instances[first].next
    while next != none, instances[next].index == index {
      previous = next
      next = instances[next].next
      index += 1
    }
    var state = InstanceState()
    state.device = slot
    state.kind = UInt16(kind)
    state.id = instanceIDs.retain(id.utf8.span, in: &texts)
    state.index = index
    state.flags = [.used]
    state.next = next
    let instance = instances.insert(state)
    if previous == none {
      devices[slot].firstInstance = instance
    } else {
      instances[previous].next = instance
    }
    return instance
  }

  /// Makes the instance listen to just these keys; entries that stay keep what they show.
  private mutating func listen(_ instance: UInt32, to keys: [String]) {
    var kept: [(key: String, shown: UInt64, current: UInt64, entry: UInt32)] = []
    var entry = instances[instance].firstEntry
    var unchanged = true
    var place = 0
    while entry != none {
      let key = texts.string(interests.key(of: entries[entry].interest))
      if place >= keys.count || keys[place] != key { unchanged = false }
      kept.append((key, entries[entry].shown, entries[entry].current, entry))
      entry = entries[entry].next
      place += 1
    }
    if unchanged, place == keys.count { return }
    // Pending causes name their entry; entries of keys that stay must keep their slot.
    var chain: [UInt32] = []
    var seen: Set<String> = []
    for key in keys where seen.insert(key).inserted {
      if let old = kept.first(where: { $0.key == key }) {
        chain.append(old.entry)
      } else {
        chain.append(insertEntry(key, instance: instance))
      }
    }
    for old in kept where !seen.contains(old.key) {
      detachCauses(of: instance, from: old.entry)
      removeEntry(old.entry)
    }
    instances[instance].firstEntry = chain.first ?? none
    for (i, entry) in chain.enumerated() { entries[entry].next = i + 1 < chain.count ? chain[i + 1] : none }
  }

  /// What came by a key that is no longer listened to stays pending, but nothing can supersede it by that key.
  private mutating func detachCauses(of instance: UInt32, from entry: UInt32) {
    var cause = waiting(instance).firstCause
    while cause != none {
      if causes[cause].entry == entry { causes[cause].entry = none }
      cause = causes[cause].next
    }
  }

  private mutating func insertEntry(_ key: String, instance: UInt32) -> UInt32 {
    let interest = interests.intern(key.utf8.span, in: &texts)
    let entry = entries.insert(InterestEntry(interest: interest, instance: instance))
    interests.insert(entry, into: interest, by: EntryOrder(entries: entries, instances: instances))
    return entry
  }

  private mutating func removeEntry(_ entry: UInt32) {
    interests.remove(
      entry, from: entries[entry].interest, by: EntryOrder(entries: entries, instances: instances), in: &texts)
    entries.remove(entry, leaving: InterestEntry())
  }

  // MARK: Going away

  private mutating func retire(_ instance: UInt32, into output: inout PlannerOutput) {
    endAllCauses(of: instance, reason: .instanceRemoved, into: &output)
    var entry = instances[instance].firstEntry
    while entry != none {
      let next = entries[entry].next
      removeEntry(entry)
      entry = next
    }
    instances[instance].firstEntry = none
    instances[instance].flags.insert(.retired)
    instances[instance].flags.remove(.pushEnabled)
    // Nothing owed: it goes with the next record, when nothing refers to it any more.
    setDue(instance, max(now, ledgerEnd(instance)))
    boundRetired(device: instances[instance].device)
  }

  /// Lets go of the retired instance whose ledger ends first when there are too many.
  private mutating func boundRetired(device slot: UInt32) {
    var count = 0
    var first = none
    var instance = devices[slot].firstInstance
    while instance != none {
      if instances[instance].flags.contains(.retired) {
        count += 1
        if first == none || waiting(instance).due < waiting(first).due { first = instance }
      }
      instance = instances[instance].next
    }
    guard count > bounds.retiredPerDeviceMax, first != none else { return }
    instances[first].spent = 0
    rollingCharges[first] = nil
    addressed[first]?.tat = 0
    addressed[first]?.started = []
    setDue(first, now)
  }

  /// When nothing is owed to the ledgers of the instance and of its device any more.
  private func ledgerEnd(_ instance: UInt32) -> Int64 {
    let device = instances[instance].device
    // A newcomer's window is the day of its zone, which began at most 25 h ago: it must not begin before this one ended.
    var end = instances[instance].spent > 0 ? instances[instance].windowEnd &+ 25 * LocalZone.hour : .min
    if devices[device].flags.contains(.forgotten) {
      end = max(end, devices[device].pushTAT, devices[device].backgroundTAT)
    }
    if devices[device].flags.contains(.forgotten) { end = max(end, rare(device).startTAT) }
    end = max(end, addressed[instance]?.ledgerEnd ?? .min)
    if let last = rollingCharges[instance]?.last { end = max(end, last &+ LocalZone.day) }
    return end
  }

  /// The ledger of a retired instance has run out: it goes, and its device with the last one.
  mutating func purge(retired instance: UInt32) {
    let end = ledgerEnd(instance)
    if end > now {
      setDue(instance, end)
      return
    }
    let device = instances[instance].device
    let next = instances[instance].next
    if devices[device].firstInstance == instance {
      devices[device].firstInstance = next
    } else {
      var previous = devices[device].firstInstance
      while instances[previous].next != instance { previous = instances[previous].next }
      instances[previous].next = next
    }
    remove(instance)
    purgeIfOver(device: device)
  }

  /// Lets go of an instance that is in no chain any more, and of what only it refers to.
  mutating func remove(_ instance: UInt32) {
    dropWaiting(instance)
    instanceIDs.release(instances[instance].id, in: &texts)
    set(nextReload: .min, instance)
    instances.remove(instance, leaving: InstanceState())
    addressed[instance] = nil
    rollingCharges[instance] = nil
  }

  /// Once a day: forgotten devices whose rates had not run out when their last instance went, and apps of nobody whose day
  /// had not ended then.
  mutating func purgeForgotten() {
    for slot in 0..<UInt32(devices.capacity) { purgeIfOver(device: slot) }
    for slot in 0..<UInt32(apps.capacity) { purgeIfOver(app: slot) }
  }

  private mutating func purgeIfOver(device slot: UInt32) {
    guard devices[slot].flags.contains(.forgotten), devices[slot].firstInstance == none,
      max(devices[slot].pushTAT, devices[slot].backgroundTAT, rare(slot).startTAT) <= now
    else { return }
    changes.removedDevices.append(deviceID(slot))
    removeTexts(ofDevice: slot)
    dropRare(slot)
    let app = devices[slot].app
    devices.remove(slot, leaving: DeviceState())
    leave(app: app)
  }

  // MARK: Interning

  mutating func kindIndex(_ name: String) -> UInt32 {
    if let index = kindByName[name] { return index }
    if kinds.count >= min(bounds.kindsMax, Self.kindsMax), name != Self.otherKinds,
      !policy.kinds.contains(where: { $0.name == name })
    {
      return kindIndex(Self.otherKinds)
    }
    return addKind(name)
  }

  /// Restore: like `kindIndex`, for a name that the bound has let through before.
  mutating func knownKindIndex(_ name: String) -> UInt32 { kindByName[name] ?? addKind(name) }

  private mutating func addKind(_ name: String) -> UInt32 {
    let index = UInt32(kinds.count)
    var kind = KindState(name: name)
    kind.configure(policy)
    kinds.append(kind)
    kindByName[name] = index
    touch(kind: index)
    rules.removeAll()
    return index
  }

  /// An instance holds the index of its kind in 16 bits; the kinds of a policy come on top.
  static let kindsMax = 60_000

  /// Stands for kinds beyond `PlannerBounds.kindsMax`.
  static let otherKinds = "(other kinds)"

  mutating func zoneIndex(_ id: String) -> UInt16 {
    if let index = zoneByID[id] { return index }
    // There are some 600 zones; spellings of offsets beyond any use are taken as GMT.
    if zones.count >= Int(UInt16.max) { return 0 }
    let index = UInt16(zones.count)
    var zone = LocalZone(id: id)
    if now != .min { zone.refresh(now: now, offsets: offsets) }
    zones.append(zone)
    zoneByID[id] = index
    return index
  }

  /// A policy record. One that does not parse (a newer version wrote it) changes nothing.
  mutating func activate(document: String) {
    do throws(PolicyError) {
      activate(try PolicyDocument(yaml: document, file: "rouse.log").policy)
      policyDocument = document
      refusedPolicy = nil
    } catch {
      refusedPolicy = error
    }
  }

  /// Another policy is in force from here on. What is pending stays and is weighed by it; what was spent stays spent.
  mutating func activate(_ policy: Policy) {
    use(policy)
    for kind in kinds.indices { kinds[kind].touched = true }
    policyOffset = offset
    changes.policy = true
  }

  /// Takes over a policy's numbers.
  mutating func use(_ policy: Policy) {
    self.policy = policy
    pushRate = RateLedger(policy.profile.devicePushes)
    backgroundRate = RateLedger(policy.profile.backgroundPushes)
    controlRate = RateLedger(policy.profile.controlPushes)
    activityRate = RateLedger(policy.profile.activityPushes)
    frequentActivityRate = RateLedger(policy.profile.frequentActivityPushes)
    startRate = RateLedger(policy.profile.activityStarts)
    for kind in kinds.indices { kinds[kind].configure(policy) }
    rules.removeAll()
    for app in 0..<UInt32(apps.capacity) { apps[app].limit = appLimit(apps[app].id) }
  }
}
