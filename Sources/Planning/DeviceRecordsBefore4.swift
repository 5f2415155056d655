import Domain

extension Planner {
  /// Like `restore(device:hash:at:from:sharing:)`, from a record of format version 2 or 3, which had every part.
  mutating func restore(
    device id: Span<UInt8>, hash: UInt32, at slot: UInt32, version: UInt8, from reader: inout BinaryReader,
    sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: try reader.integer("device flags")).intersection(.stored)
    device.app = appIndex(try reader.string("an app"))
    device.zone = zoneIndex(try reader.string("a time zone"))
    device.osVersion = OSVersion(major: try reader.integer("a version"), minor: try reader.integer("a version"))
    let widgets = try reader.optionalString("a token")
    let tokens = TokenPair(widgets: widgets, background: try reader.optionalString("a token"))
    device.pushTAT = try reader.zigzag("a push TAT")
    device.backgroundTAT = try reader.zigzag("a background TAT")
    var rare = RareDeviceState()
    rare.startTAT = try reader.zigzag("a start TAT")
    device.commandRoute = try reader.uint8("a route")
    rare.foregroundSince = try reader.zigzag("an instant")
    device.commandOffset = try reader.zigzag("an offset")
    device.commandOrdinal = try reader.integer("an ordinal")
    device.updatedAt = try reader.zigzag("an instant")
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    apps[device.app].devices += 1
    device.id = texts.insert(id)
    deviceIndex.insert(slot, hash: hash)
    devices.place(device, at: slot, empty: DeviceState())
    set(tokens, device: slot)
    changeRare(slot) { $0 = rare }
    let pending = try restoreEvents(from: &reader, sharing: &tables)
    var previous = none
    for _ in 0..<(try reader.count("instances")) {
      let instance = try restoreInstance(device: slot, version: version, from: &reader, pending: pending)
      if previous == none {
        devices[slot].firstInstance = instance
      } else {
        guard instances[previous].index < instances[instance].index else {
          throw .corrupt(offset: reader.offset, what: "instances by rising index")
        }
        instances[previous].next = instance
      }
      previous = instance
    }
    guard pending.allSatisfy({ events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if device.flags.contains(.habits) { viewHabits[slot] = try ViewHabits(before4: &reader) }
    try reader.end()
  }

  private mutating func restoreInstance(
    device slot: UInt32, version: UInt8, from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) -> UInt32 {
    let id = try reader.text("an instance id")
    var state = InstanceState()
    state.device = slot
    let kind = knownKindIndex(try reader.string("a kind"))
    guard let kind = UInt16(exactly: kind) else { throw .corrupt(offset: reader.offset, what: "a known kind") }
    state.kind = kind
    state.index = try reader.integer("an index")
    let surface = try reader.uint8("a surface")
    guard let kindOfInstance = InstanceSurface(rawValue: surface) else {
      throw .corrupt(offset: reader.offset - 1, what: "a surface")
    }
    state.surface = kindOfInstance
    state.held = try reader.uint8("a reason")
    state.flags = InstanceState.Flags(rawValue: try reader.uint8("instance flags")).intersection(.stored)
    state.spent = try reader.integer("tokens spent")
    state.theta = try reader.float("θ")
    var waiting = Waiting()
    waiting.pendingValue = try reader.float("a value")
    waiting.pendingAt = try reader.zigzag("an instant")
    state.calibratedAt = try reader.integer("an instant")
    state.flow = try reader.float("a flow")
    state.flowMean = try reader.float("a mean flow")
    state.flowCount = try reader.integer("arrivals")
    state.flowAt = try reader.integer("an instant")
    state.windowEnd = try reader.zigzag("an instant")
    state.lastReload = try reader.zigzag("an instant")
    let nextReload = try reader.zigzag("an instant")
    waiting.due = try reader.zigzag("an instant")
    var charges: [Int64] = []
    for _ in 0..<(try reader.count("charges")) { charges.append(try reader.zigzag("an instant")) }
    state.id = instanceIDs.retain(reader.bytes.span.extracting(id), in: &texts)
    let instance = instances.insert(state)
    set(nextReload: nextReload, instance)
    waitings[waitingSlot(instance)] = waiting
    if kindOfInstance != .widget { addressed[instance] = try AddressedState(before4: &reader, version: version) }
    if !charges.isEmpty { rollingCharges[instance] = charges }
    let chain = try restoreEntries(instance, from: &reader)
    try restoreCauses(instance, chain: chain, from: &reader, pending: pending)
    settle(instance)
    return instance
  }

  private mutating func restoreEntries(
    _ instance: UInt32, from reader: inout BinaryReader
  ) throws(BinaryError) -> [UInt32] {
    var chain: [UInt32] = []
    for _ in 0..<(try reader.count("interests")) {
      let key = try reader.text("an interest key")
      let interest = interests.intern(reader.bytes.span.extracting(key), in: &texts)
      var entry = InterestEntry(interest: interest, instance: instance)
      entry.shown = UInt64(bitPattern: try reader.int64("a fingerprint"))
      entry.current = UInt64(bitPattern: try reader.int64("a fingerprint"))
      let slot = entries.insert(entry)
      if let last = chain.last { entries[last].next = slot } else { instances[instance].firstEntry = slot }
      chain.append(slot)
    }
    return chain
  }

  private mutating func restoreCauses(
    _ instance: UInt32, chain: [UInt32], from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) {
    for _ in 0..<(try reader.count("causes")) {
      let place: Int = try reader.integer("an interest")
      guard place <= chain.count else { throw .corrupt(offset: reader.offset, what: "an interest of the instance") }
      let event: Int = try reader.integer("an event")
      guard event < pending.count, event >= 0 else {
        throw .corrupt(offset: reader.offset, what: "an event of the device")
      }
      var cause = Cause(event: pending[event], entry: place == 0 ? none : chain[place - 1])
      cause.signedRelevance = try reader.float("a relevance")
      cause.at = try reader.zigzag("an instant")
      cause.expires = try reader.zigzag("an instant")
      append(cause, to: waitingSlot(instance))
    }
  }
}

extension AddressedState {
  fileprivate init(before4 reader: inout BinaryReader, version: UInt8) throws(BinaryError) {
    token = try reader.string("a token")
    isChannel = try reader.bool("whether it is a channel")
    tokenDead = try reader.bool("whether the token is dead")
    frequentPushes = try reader.bool("whether frequent pushes are allowed")
    ended = try reader.bool("whether it has ended")
    tat = try reader.zigzag("a TAT")
    timestamp = try reader.zigzag("a timestamp")
    startedAt = try reader.zigzag("an instant")
    lastEventAt = try reader.zigzag("an instant")
    for _ in 0..<(try reader.count("starts")) {
      let subject = UInt64(bitPattern: try reader.int64("a hash"))
      let at = try reader.zigzag("an instant")
      let isRegistered = try reader.bool("whether it is registered")
      let name = version < 3 ? "" : try reader.string("a subject")
      started.append(StartedSubject(subject: subject, name: name, at: at, isRegistered: isRegistered))
    }
  }
}
