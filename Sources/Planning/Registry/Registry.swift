import Domain
import Policies

/// The devices, their instances and interest keys, and the texts of all of these.
///
/// Some values of other parts stand with devices and instances, so that one look-up finds everything that a decision needs:
/// `RateState`, `DayWindow`, `LastCommand`, `DemandState`, `EntryScreen`, `ChunkPlace` and waiting slots. The registry lets other code
/// replace such a value as a whole. Only the part that it belongs to can change its content.
struct Registry {
  /// The devices, forgotten ones included.
  private(set) var devices = SlotPool<DeviceTag, DeviceState>(smallestFirst: true)
  /// The instances of all devices, retired ones included.
  private(set) var instances = SlotPool<InstanceTag, InstanceState>()
  /// The interest entries of all instances.
  private(set) var entries = SlotPool<EntryTag, InterestEntry>()
  /// The interest keys, with the entries that listen to them.
  private(set) var interests = InterestIndex()
  /// The texts: ids of devices and instances, tokens, interest keys.
  private(set) var texts = TextPool()
  /// The distinct ids of instances. Instances of several devices may share one.
  private(set) var instanceIDs = SharedTexts()
  /// The additional state of controls, activities and push-to-start tokens. It is looked up by instance, or iterated in the
  /// order of slots, because a dictionary has no fixed order.
  private(set) var addressed: [InstanceSlot: AddressedState] = [:]
  /// The state that only a few devices have. It is looked up by device and never iterated.
  private(set) var rareStates: [DeviceSlot: RareDeviceState] = [:]
  /// The instants at which timelines reload by themselves. It is looked up by instance and never iterated.
  private(set) var nextReloads: [InstanceSlot: Timestamp] = [:]
  private var deviceIndex = HashIndex()
  private var restoredKeys = RestoredKeys()

  /// The number of devices, forgotten ones included.
  var deviceCount: Int { deviceIndex.count }
  /// Asks the processor to load what the look-up of a device needs.
  func prefetchDevice(_ hash: UInt32) { deviceIndex.prefetch(hash) }
  /// The bytes that the device index takes in memory.
  var indexBytes: Int { deviceIndex.bytes }

  /// Makes room for a fleet of known size.
  mutating func reserve(_ sizes: PlannerSizes) {
    devices.reserve(sizes.devices)
    deviceIndex.reserve(sizes.devices)
    instances.reserve(sizes.instances)
    entries.reserve(sizes.interests)
    interests.reserve(sizes.keys)
    texts.reserve(sizes.textBytes)
  }

  // MARK: Values of other parts

  /// The place of a device in the chunks of `rouse.state`.
  subscript(chunkPlace device: DeviceSlot) -> ChunkPlace {
    _read { yield devices[device].chunkPlace }
    _modify { yield &devices[device].chunkPlace }
  }

  /// The last charged command of a device, which may still be refunded.
  subscript(lastCommand device: DeviceSlot) -> LastCommand {
    _read { yield devices[device].lastCommand }
    _modify { yield &devices[device].lastCommand }
  }

  /// The count of the tokens that an instance has spent in its budget day.
  subscript(day instance: InstanceSlot) -> DayWindow {
    _read { yield instances[instance].day }
    @inline(__always) _modify {
      noteChange(instance)
      yield &instances[instance].day
    }
  }

  /// The demand learnt from an instance.
  subscript(demand instance: InstanceSlot) -> DemandState {
    _read { yield instances[instance].demand }
    @inline(__always) _modify {
      noteChange(instance)
      yield &instances[instance].demand
    }
  }

  /// The slot of an instance in `Pending`.
  subscript(waiting instance: InstanceSlot) -> WaitingSlot {
    _read { yield instances[instance].waiting }
    @inline(__always) _modify {
      noteChange(instance)
      yield &instances[instance].waiting
    }
  }

  /// The content of the screen behind an entry.
  subscript(screen entry: EntrySlot) -> EntryScreen {
    _read { yield entries[entry].screen }
    @inline(__always) _modify {
      noteChange(entries[entry].instance)
      yield &entries[entry].screen
    }
  }

  /// The tokens spent of the rate that a push by a route is charged to.
  subscript(rate route: Route, device: DeviceSlot) -> RateState {
    @inline(__always) get {
      switch route.rate {
      case .widgetPushes: devices[device].pushRate
      case .backgroundPushes: devices[device].backgroundRate
      case .controlPushes: self[ownRate: route.target]
      }
    }
    set {
      switch route.rate {
      case .widgetPushes: devices[device].pushRate = newValue
      case .backgroundPushes: devices[device].backgroundRate = newValue
      case .controlPushes: self[ownRate: route.target] = newValue
      }
    }
  }

  /// The tokens spent of the rate of a control, or of an activity's priority-10 pushes.
  subscript(ownRate instance: InstanceSlot) -> RateState {
    get { addressed[instance]?.rate ?? RateState() }
    set {
      noteChange(instance)
      addressed[instance]?.rate = newValue
    }
  }

  /// Adds the surplus of a push, in looks, to the memory of a device.
  mutating func note(surplus: Double, _ rate: ChargedRate, _ device: DeviceSlot, now: Timestamp) {
    devices[device].surplus.add(surplus, rate, now: now)
  }

  /// Takes the surplus of a device's newest push out of its memory, because the push was refunded.
  mutating func refundSurplus(_ rate: ChargedRate, _ device: DeviceSlot) { devices[device].surplus.refund(rate) }

  /// The tokens spent of the rate of Live Activity starts on a device.
  subscript(startRate device: DeviceSlot) -> RateState {
    get { rare(device).startRate }
    set { changeRare(device) { $0.startRate = newValue } }
  }

  /// Notes that the charges of a device's last command were given back.
  mutating func noteRefund(_ device: DeviceSlot, now: Timestamp) {
    changeRare(device) { $0.refunds = Array($0.refunds(now: now)) + [now] }
  }

  /// The additional state of an instance with a push token of its own; nil if it has none.
  subscript(addressed instance: InstanceSlot) -> AddressedState? {
    _read { yield addressed[instance] }
    @inline(__always) _modify {
      noteChange(instance)
      yield &addressed[instance]
    }
  }

  // MARK: Changes since the last commit

  /// Notes that an instance has changed, so that the next commit that writes its device writes the instance, too.
  private mutating func noteChange(_ instance: InstanceSlot) { instances[instance].flags.insert(.changed) }

  /// Notes that the next commit must write a device.
  /// - Returns: Whether that was not noted yet.
  @inline(__always)
  mutating func noteChange(of device: DeviceSlot) -> Bool {
    if devices[device].flags.contains(.changed) { return false }
    devices[device].flags.insert(.changed)
    return true
  }

  /// Notes that a device and its instances were written, so that they have not changed since.
  mutating func noteWritten(_ device: DeviceSlot) {
    devices[device].flags.subtract([.changed, .rebuilt, .habitsChanged])
    var instance = devices[device].firstInstance
    while !instance.isAbsent {
      instances[instance].flags.remove(.changed)
      instance = instances[instance].next
    }
  }

  // MARK: Devices

  /// Returns the slot of a device; nil if it is not known.
  /// - Parameters:
  ///   - id: The id as UTF-8.
  ///   - hash: The `HashIndex.hash` of it.
  func device(named id: Span<UInt8>, hash: UInt32) -> DeviceSlot? {
    deviceIndex.find(hash) { texts.isEqual(devices[DeviceSlot($0)].id, id) }.map { DeviceSlot($0) }
  }

  /// Adds a device without instances.
  /// - Parameters:
  ///   - id: The device's id, which no other device has.
  ///   - app: The app.
  /// - Returns: The device's slot, the smallest that is free.
  mutating func insertDevice(_ id: Identifier, app: AppSlot) -> DeviceSlot {
    var device = DeviceState()
    device.flags = [.used, .rebuilt]
    device.app = app
    device.id = texts.insert(id.utf8.span)
    let slot = devices.insert(device)
    deviceIndex.insert(slot.number, hash: HashIndex.hash(id.utf8.span))
    return slot
  }

  /// Puts a device without instances into a given slot, for a restore. When all devices are restored, call `finishDevices`.
  /// - Parameters:
  ///   - state: The state; its `id` is set here.
  ///   - slot: The slot that the device had.
  ///   - id: The device's id, which no other device has.
  ///   - hash: The hash of `id`.
  mutating func restore(_ state: DeviceState, id: Span<UInt8>, hash: UInt32, at slot: DeviceSlot) {
    var state = state
    state.id = texts.insert(id)
    state.firstInstance = .absent
    deviceIndex.insert(slot.number, hash: hash)
    devices.place(state, at: slot, empty: DeviceState())
  }

  /// Stores the bytes of a `TokenPair`, for a restore.
  mutating func restore(tokens: Span<UInt8>) -> TextHandle { texts.insert(tokens) }

  /// Frees the slots that no record has filled, after a restore.
  mutating func finishDevices() { devices.freeUnused { $0.flags.contains(.used) } }

  /// Removes a device. Its instances must have been removed.
  mutating func remove(_ device: DeviceSlot) {
    dropTexts(of: device)
    dropRare(device)
    devices.remove(device, leaving: DeviceState())
  }

  /// Undoes the `restore` of a device, whose instances must have been removed. Its slot is not free until `finishDevices`.
  mutating func unplace(_ device: DeviceSlot) {
    dropTexts(of: device)
    dropRare(device)
    devices[device] = DeviceState()
  }

  private mutating func dropTexts(of device: DeviceSlot) {
    let id = devices[device].id
    deviceIndex.remove(device.number, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: id))))
    texts.remove(id)
    set(TokenPair(), of: device)
  }

  /// Takes over the facts of a registration about the device itself, not those about its instances.
  /// - Parameters:
  ///   - registration: The registration.
  ///   - device: The device.
  ///   - zone: The zone of the registration.
  ///   - now: Log time. A later `updatedAt` is replaced by it, because a backend whose clock runs ahead must not lock out every
  ///     later registration.
  /// - Returns: Whether the tokens of the device are others than before.
  @discardableResult
  mutating func takeOver(
    _ registration: Registration, _ device: DeviceSlot, zone: ZoneSlot, now: Timestamp
  ) -> Bool {
    var flags = devices[device].flags
    // A rejected token stays dead until another one comes.
    let known = tokens(of: device)
    let tokens = TokenPair(
      widgets: registration.tokens.widgets.map { TokenPair.lowercased($0) },
      background: registration.tokens.background.map { TokenPair.lowercased($0) })
    if flags.contains(.widgetsTokenDead), known.widgets != tokens.widgets { flags.remove(.widgetsTokenDead) }
    if flags.contains(.backgroundTokenDead), known.background != tokens.background {
      flags.remove(.backgroundTokenDead)
    }
    flags.remove(.forgotten)
    flags.insert(.rebuilt)
    flags.set(.production, registration.environment == .production)
    flags.set(.developerMode, registration.developerMode)
    flags.set(.widgetsToken, registration.tokens.widgets != nil)
    flags.set(.backgroundToken, registration.tokens.background != nil)
    devices[device].flags = flags
    devices[device].zone = zone
    devices[device].osVersion = registration.osVersion
    devices[device].updatedAt = min(registration.updatedAt, now)
    if tokens == known { return false }
    set(tokens, of: device)
    return true
  }

  /// Sets the app of a device.
  mutating func set(app: AppSlot, of device: DeviceSlot) {
    devices[device].app = app
    devices[device].flags.insert(.rebuilt)
  }

  /// Marks a device that a tombstone has removed.
  mutating func markForgotten(_ device: DeviceSlot) { devices[device].flags.insert(.forgotten) }

  /// Removes everything from a device that a tombstone removes at once: tokens, the flag that view habits are known, and
  /// whether the app is in the foreground. Ledgers stay.
  mutating func forget(_ device: DeviceSlot) {
    set(TokenPair(), of: device)
    devices[device].flags.subtract([
      .widgetsToken, .widgetsTokenDead, .backgroundToken, .backgroundTokenDead, .foreground, .developerMode, .habits,
    ])
    changeRare(device) {
      $0.foregroundSince = Timestamp(microseconds: 0)
      $0.shownBefore = []
    }
    devices[device].updatedAt = .distantPast
    devices[device].flags.insert(.rebuilt)
  }

  /// Notes that `Pricing` holds habits of a device, which have changed.
  mutating func noteHabits(_ device: DeviceSlot) { devices[device].flags.formUnion([.habits, .habitsChanged]) }

  // MARK: Tokens and signals

  private mutating func set(_ tokens: TokenPair, of device: DeviceSlot) {
    if !devices[device].tokens.isAbsent { texts.remove(devices[device].tokens) }
    devices[device].tokens = tokens.bytes.isEmpty ? .absent : texts.insert(tokens.bytes.span)
    devices[device].flags.insert(.rebuilt)
  }

  /// Marks a token that APNs has refused for good, in the device and in all its instances.
  mutating func reject(token: String, of device: DeviceSlot) {
    let (known, rejected) = (tokens(of: device), TokenPair.lowercased(token))
    if known.widgets == rejected { devices[device].flags.insert(.widgetsTokenDead) }
    if known.background == rejected { devices[device].flags.insert(.backgroundTokenDead) }
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      guard let state = addressed[instance] else { continue }
      if state.token == (state.isChannel ? token : rejected) { self[addressed: instance]?.reject() }
    }
  }

  /// Forgets which tokens of a device APNs has refused, because they belong to another environment or app from now on.
  mutating func forgetRejections(of device: DeviceSlot) {
    devices[device].flags.subtract([.widgetsTokenDead, .backgroundTokenDead])
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      if addressed[instance]?.isChannel == false { self[addressed: instance]?.forgetRejection() }
    }
  }

  /// Takes a token away from a device, because another install has it now.
  /// - Parameters:
  ///   - token: The token, in lower case.
  ///   - device: The device.
  mutating func remove(token: String, of device: DeviceSlot) {
    let known = tokens(of: device)
    let (losesWidgets, losesBackground) = (known.widgets == token, known.background == token)
    if losesWidgets { devices[device].flags.subtract([.widgetsToken, .widgetsTokenDead]) }
    if losesBackground { devices[device].flags.subtract([.backgroundToken, .backgroundTokenDead]) }
    if losesWidgets || losesBackground {
      set(
        TokenPair(
          widgets: losesWidgets ? nil : known.widgets, background: losesBackground ? nil : known.background),
        of: device)
    }
    devices[device].flags.insert(.rebuilt)
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      if let state = addressed[instance], !state.isChannel, state.token == token {
        self[addressed: instance]?.loseToken()
      }
    }
  }

  /// Notes that the app came to the foreground, or that it left the foreground.
  /// - Parameters:
  ///   - instant: The log time at which it came; nil if it left.
  ///   - device: The device.
  mutating func set(foregroundSince instant: Timestamp?, of device: DeviceSlot) {
    devices[device].flags.set(.foreground, instant != nil)
    changeRare(device) { $0.foregroundSince = instant ?? Timestamp(microseconds: 0) }
  }

  // MARK: Rare state

  /// Returns the rare state of a device; the initial state if none is stored.
  func rare(_ device: DeviceSlot) -> RareDeviceState {
    devices[device].flags.contains(.rare) ? rareStates[device] ?? RareDeviceState() : RareDeviceState()
  }

  /// Changes the rare state of a device. A state that equals the initial one is not stored.
  private mutating func changeRare(_ device: DeviceSlot, _ change: (inout RareDeviceState) -> Void) {
    var state = rare(device)
    change(&state)
    restore(state, of: device)
  }

  /// Sets the rare state of a device. A state that equals the initial one is not stored.
  mutating func restore(_ state: RareDeviceState, of device: DeviceSlot) {
    if state.isEmpty {
      dropRare(device)
    } else {
      rareStates[device] = state
      devices[device].flags.insert(.rare)
    }
  }

  private mutating func dropRare(_ device: DeviceSlot) {
    guard devices[device].flags.contains(.rare) else { return }
    rareStates[device] = nil
    devices[device].flags.remove(.rare)
  }

  // MARK: Instances

  /// Adds an instance without interest keys to a device. It gets the smallest free index.
  /// - Parameters:
  ///   - id: The instance's id.
  ///   - kind: The kind.
  ///   - surface: The sort of thing that the instance is.
  ///   - device: The device.
  ///   - first: An instance of the device after which the new one must come; absent if none. If both have the same id, a
  ///     look-up of that id finds `first`.
  mutating func insertInstance(
    _ id: Identifier, kind: KindSlot, surface: InstanceSurface, device: DeviceSlot, behind first: InstanceSlot = .absent
  ) -> InstanceSlot {
    var index: UInt16 = first.isAbsent ? 0 : instances[first].index + 1
    var previous = first
    var next = first.isAbsent ? devices[device].firstInstance : instances[first].next
    while !next.isAbsent, instances[next].index == index {
      previous = next
      next = instances[next].next
      index += 1
    }
    var state = InstanceState()
    state.device = device
    state.kind = kind
    state.surface = surface
    state.id = instanceIDs.retain(id.utf8.span, in: &texts)
    state.index = index
    state.flags = [.used]
    state.next = next
    let instance = instances.insert(state)
    link(instance, behind: previous)
    devices[device].flags.insert(.rebuilt)
    return instance
  }

  private mutating func link(_ instance: InstanceSlot, behind previous: InstanceSlot) {
    if previous.isAbsent {
      devices[instances[instance].device].firstInstance = instance
    } else {
      instances[previous].next = instance
    }
  }

  /// Puts an instance behind the others of its device, for a restore.
  /// - Parameters:
  ///   - state: The state, with the device and the index; its `id` is set here.
  ///   - id: The instance's id as UTF-8.
  ///   - previous: The last instance of the device so far; absent if there is none.
  mutating func restore(_ state: InstanceState, id: Span<UInt8>, behind previous: InstanceSlot) -> InstanceSlot {
    var state = state
    state.id = instanceIDs.retain(id, in: &texts)
    let instance = instances.insert(state)
    link(instance, behind: previous)
    return instance
  }

  /// Puts a state in the place of that of an instance, for a restore. The device, the id, and the places in chains stay.
  mutating func restore(_ state: InstanceState, in instance: InstanceSlot) {
    var state = state
    let known = instances[instance]
    (state.device, state.id, state.kind) = (known.device, known.id, known.kind)
    (state.next, state.firstEntry, state.waiting) = (known.next, known.firstEntry, known.waiting)
    instances[instance] = state
  }

  /// Puts a state in the place of that of a device, for a restore.
  mutating func restore(_ state: DeviceState, in device: DeviceSlot) { devices[device] = state }

  /// Sets the additional state of an instance with a push token of its own.
  mutating func restore(_ state: AddressedState, of instance: InstanceSlot) { addressed[instance] = state }

  /// Takes an instance out of the chain of its device. Call `remove` next.
  mutating func unlink(_ instance: InstanceSlot) {
    let (device, next) = (instances[instance].device, instances[instance].next)
    devices[device].flags.insert(.rebuilt)
    if devices[device].firstInstance == instance {
      devices[device].firstInstance = next
      return
    }
    var previous = devices[device].firstInstance
    while instances[previous].next != instance { previous = instances[previous].next }
    instances[previous].next = next
  }

  /// Removes an instance that is in no chain any more. Its interest entries must have been removed.
  mutating func remove(_ instance: InstanceSlot) {
    instanceIDs.release(instances[instance].id, in: &texts)
    set(nextReload: nil, instance)
    instances.remove(instance, leaving: InstanceState())
    addressed[instance] = nil
  }

  /// Changes the kind or the surface of an instance that was registered anew under the same id. From then
  /// on it is unknown what the instance shows.
  mutating func change(
    _ instance: InstanceSlot, kind: KindSlot, surface: InstanceSurface, screens: inout Screens
  ) {
    var walk = entries(of: instance)
    while let entry = walk.next(self) {
      screens.forgetRow(&self[screen: entry])
      self[screen: entry].shown = .none
      forgetShownBefore(entry)
    }
    instances[instance].kind = kind
    instances[instance].surface = surface
    devices[instances[instance].device].flags.insert(.rebuilt)
    if surface == .widget { return }
    // Only widgets have push handlers and timelines.
    set(pushEnabled: false, instance)
    set(nextReload: nil, instance)
  }

  /// Sets whether a WidgetKit push reloads an instance.
  mutating func set(pushEnabled: Bool, _ instance: InstanceSlot) {
    noteChange(instance)
    instances[instance].flags.set(.pushEnabled, pushEnabled)
  }

  /// Notes the reason for which the pending events of an instance are held back.
  mutating func set(heldFor reason: HeldReason, _ instance: InstanceSlot) {
    noteChange(instance)
    instances[instance].heldFor = reason
  }

  /// Notes that an instance is no longer registered: removes its interest entries, but keeps its ledger.
  mutating func retire(_ instance: InstanceSlot, screens: inout Screens) {
    var walk = entries(of: instance)
    while let entry = walk.next(self) { removeEntry(entry, &screens) }
    instances[instance].firstEntry = .absent
    devices[instances[instance].device].flags.insert(.rebuilt)
    instances[instance].flags.insert(.retired)
    instances[instance].flags.remove(.pushEnabled)
  }

  /// Notes that a retired instance is registered again.
  mutating func revive(_ instance: InstanceSlot) {
    noteChange(instance)
    instances[instance].flags.remove(.retired)
  }

  /// Marks an instance without interest entries as retired.
  mutating func markRetired(_ instance: InstanceSlot) {
    noteChange(instance)
    instances[instance].flags.insert(.retired)
  }

  /// Gives an instance a push token of its own. A rejected token stays dead until another one comes.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - token: The token, or the id of a broadcast channel.
  ///   - isChannel: Whether `token` is the id of a broadcast channel.
  @discardableResult
  mutating func address(_ instance: InstanceSlot, token: String, isChannel: Bool) -> Bool {
    noteChange(instance)
    return addressed[instance, default: AddressedState()].address(token: token, isChannel: isChannel)
  }

  /// Removes the additional state of an instance and returns it, for another instance that takes it over.
  mutating func takeAddress(of instance: InstanceSlot) -> AddressedState? {
    noteChange(instance)
    return addressed.removeValue(forKey: instance)
  }

  /// Copies the additional state, such as the token and the rate, of one instance to another.
  mutating func copyAddress(of other: InstanceSlot, to instance: InstanceSlot) {
    noteChange(instance)
    addressed[instance] = addressed[other]
  }

  // MARK: Reloads

  /// Notes that an instance shows the newest content, whether a push or something else has reloaded it.
  mutating func markFresh(_ instance: InstanceSlot) {
    noteChange(instance)
    var walk = entries(of: instance)
    while let entry = walk.next(self) { entries[entry].screen.shown = entries[entry].screen.current }
  }

  /// Sets the log time of an instance's last reload.
  @inline(__always)
  mutating func noteReload(_ instance: InstanceSlot, at instant: Timestamp) {
    noteChange(instance)
    instances[instance].lastReload = instant
  }

  /// Notes whether the fetch of a reload that was charged, a push or one of the timeline, is still to be told.
  /// - Parameters:
  ///   - fetch: `awaitsPush` or `awaitsTimeline`.
  ///   - isAwaited: Whether it is.
  ///   - instance: The instance.
  @inline(__always)
  mutating func set(_ fetch: InstanceState.Flags, _ isAwaited: Bool, _ instance: InstanceSlot) {
    noteChange(instance)
    instances[instance].flags.set(fetch, isAwaited)
  }

  /// Sets the log time of an instance's last reload, unless a later reload is known.
  mutating func noteReload(_ instance: InstanceSlot, notBefore instant: Timestamp) {
    noteChange(instance)
    instances[instance].lastReload = max(instances[instance].lastReload, instant)
  }

  /// Gives back the minimum interval that a push began, because it did not reload the instance. The interval before it had ended when the
  /// push was made, so it is enough that the last reload lies an interval before the push.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - second: The log time of the push, in seconds since 1970, wrapped. After a later reload, nothing changes.
  ///   - minInterval: The minimum interval of the instance's kind.
  mutating func refundInterval(_ instance: InstanceSlot, pushedAt second: UInt32, _ minInterval: TimeSpan) {
    guard UInt32(truncatingIfNeeded: instances[instance].lastReload.microseconds / 1_000_000) == second else { return }
    noteChange(instance)
    instances[instance].lastReload = instances[instance].lastReload - minInterval
  }

  /// Returns the instant at which the timeline of an instance reloads by itself; nil if it is not known.
  @inline(__always)
  func nextReload(_ instance: InstanceSlot) -> Timestamp? {
    instances[instance].flags.contains(.reloads) ? nextReloads[instance] : nil
  }

  /// Sets the instant at which the timeline of an instance reloads by itself; nil if it is not known.
  mutating func set(nextReload instant: Timestamp?, _ instance: InstanceSlot) {
    noteChange(instance)
    if let instant {
      nextReloads[instance] = instant
      instances[instance].flags.insert(.reloads)
    } else if instances[instance].flags.contains(.reloads) {
      nextReloads[instance] = nil
      instances[instance].flags.remove(.reloads)
    }
  }

  // MARK: Interests

  /// Makes an instance listen to these keys and no others. Entries of keys that stay keep their slots and fingerprints.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - keys: The keys in the order of the registration; repeated ones count once.
  ///   - screens: The screens; what those of removed entries show is forgotten.
  /// - Returns: The slots of the entries that were removed. The caller must detach the causes that came by them.
  mutating func listen(
    _ instance: InstanceSlot, to keys: [Identifier], screens: inout Screens
  ) -> [EntrySlot] {
    var kept: [(key: Identifier, entry: EntrySlot)] = []
    var walk = entries(of: instance)
    while let entry = walk.next(self) { kept.append((key(of: entry), entry)) }
    if kept.count == keys.count, zip(kept, keys).allSatisfy({ $0.key == $1 }) { return [] }
    devices[instances[instance].device].flags.insert(.rebuilt)
    var chain: [EntrySlot] = []
    var seen: Set<Identifier> = []
    for key in keys where seen.insert(key).inserted {
      chain.append(kept.first { $0.key == key }?.entry ?? insertEntry(key, instance))
    }
    let gone = kept.filter { !seen.contains($0.key) }.map(\.entry)
    for entry in gone { removeEntry(entry, &screens) }
    instances[instance].firstEntry = chain.first ?? .absent
    for (place, entry) in chain.enumerated() {
      entries[entry].next = place + 1 < chain.count ? chain[place + 1] : .absent
    }
    return gone
  }

  private mutating func insertEntry(_ key: Identifier, _ instance: InstanceSlot) -> EntrySlot {
    let interest = interests.intern(key.utf8.span, in: &texts)
    let entry = entries.insert(InterestEntry(interest: interest, instance: instance))
    interests.insert(entry, into: interest, by: entryOrder)
    return entry
  }

  private mutating func removeEntry(_ entry: EntrySlot, _ screens: inout Screens) {
    forgetShownBefore(entry)
    screens.forgetRow(&entries[entry].screen)
    interests.remove(entry, from: entries[entry].interest, by: entryOrder, in: &texts)
    entries.remove(entry, leaving: InterestEntry())
  }

  /// Puts an entry behind the others of its instance, for a restore. Its key does not find it until `finishInterests`.
  /// - Parameters:
  ///   - key: The interest key as UTF-8.
  ///   - shown: The fingerprint that the instance shows; 0 if it is not known.
  ///   - current: The fingerprint that it would show after a reload; 0 if no event came yet.
  ///   - instance: The instance.
  ///   - last: The last entry of the instance so far; absent if there is none.
  mutating func restoreEntry(
    key: Span<UInt8>, shown: KeyedHash, current: KeyedHash, of instance: InstanceSlot, behind last: EntrySlot
  ) -> EntrySlot {
    var entry = InterestEntry(interest: .absent, instance: instance)
    entry.screen.shown = shown
    entry.screen.current = current
    let slot = entries.insert(entry)
    entries[slot].interest = restoredKeys.add(key, of: slot)
    if restoredKeys.isFull { restoredKeys.intern(into: &interests, &texts, for: &entries) }
    if last.isAbsent { instances[instance].firstEntry = slot } else { entries[last].next = slot }
    return slot
  }

  /// Removes the entries of an instance before `finishInterests`, for a restore that takes a device out again.
  mutating func unplaceEntries(of instance: InstanceSlot, screens: inout Screens) {
    var walk = entries(of: instance)
    while let entry = walk.next(self) {
      screens.forgetRow(&entries[entry].screen)
      entries.remove(entry, leaving: InterestEntry())
    }
  }

  /// Adds all entries to the lists of their keys, after a restore. Devices and instances are walked in their order, so the
  /// lists are sorted.
  mutating func finishInterests() {
    restoredKeys.intern(into: &interests, &texts, for: &entries)
    restoredKeys = RestoredKeys()
    for device in devices.slots {
      var walk = instances(of: device)
      while let instance = walk.next(self) {
        var entryWalk = entries(of: instance)
        while let entry = entryWalk.next(self) { interests.append(entry, into: entries[entry].interest) }
      }
    }
    interests.removeUnused(in: &texts)
  }
}

extension OptionSet where Element == Self {
  /// Inserts or removes a flag.
  fileprivate mutating func set(_ flag: Self, _ on: Bool) {
    if on { insert(flag) } else { remove(flag) }
  }
}
