import Domain

/// Reads what `write(device:pending:to:)` wrote.
extension Planner {
  /// Puts a device into a free slot.
  /// - Parameters:
  ///   - id: of the device, which no other has.
  ///   - hash: of `id`.
  mutating func restore(
    device id: Span<UInt8>, hash: UInt32, at slot: UInt32, from reader: inout BinaryReader,
    sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    let bits = DeviceRecordBits(rawValue: try reader.integer("device flags"))
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: UInt16(truncatingIfNeeded: bits.intersection(.flags).rawValue))
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    let app = try reader.text("an app")
    device.app = tables.apps.number(of: reader.bytes.span.extracting(app)) { appIndex($0) }
    let zone = try reader.text("a time zone")
    device.zone = UInt16(
      truncatingIfNeeded: tables.zones.number(of: reader.bytes.span.extracting(zone)) { UInt32(zoneIndex($0)) })
    device.osVersion = OSVersion(major: try reader.integer("a version"), minor: try reader.integer("a version"))
    if bits.contains(.tokens) { device.tokens = try restoreTokens(from: &reader) }
    var base: Int64 = 0
    if bits.contains(.updatedAt) { device.updatedAt = try reader.instant(since: &base) }
    if bits.contains(.pushTAT) { device.pushTAT = try reader.instant(since: &base) }
    if bits.contains(.backgroundTAT) { device.backgroundTAT = try reader.zigzag("a background TAT") &+ base }
    var rare = RareDeviceState()
    if bits.contains(.startTAT) { rare.startTAT = try reader.zigzag("a start TAT") &+ base }
    if bits.contains(.foregroundSince) { rare.foregroundSince = try reader.zigzag("an instant") &+ base }
    if bits.contains(.command) {
      device.commandRoute = try reader.uint8("a route")
      device.commandOffset = try reader.zigzag("an offset")
      device.commandOrdinal = try reader.integer("an ordinal")
    }
    apps[device.app].devices += 1
    device.id = texts.insert(id)
    deviceIndex.insert(slot, hash: hash)
    devices.place(device, at: slot, empty: DeviceState())
    if bits.contains(.startTAT) || bits.contains(.foregroundSince) { changeRare(slot) { $0 = rare } }
    var pending: [UInt32] = []
    if bits.contains(.events) { pending = try restoreEvents(from: &reader, sharing: &tables) }
    try restoreInstances(of: slot, since: &base, from: &reader, pending: pending, sharing: &tables)
    guard pending.allSatisfy({ events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if device.flags.contains(.habits) { viewHabits[slot] = try ViewHabits(from: &reader) }
    try reader.end()
  }

  private mutating func restoreTokens(from reader: inout BinaryReader) throws(BinaryError) -> UInt32 {
    let place = try reader.blobPlace("tokens")
    let tokens = reader.bytes.span.extracting(place)
    guard TokenPair.isWellFormed(tokens) else { throw .corrupt(offset: reader.offset, what: "tokens") }
    return texts.insert(tokens)
  }

  /// The slots of the events that wait on a device.
  mutating func restoreEvents(
    from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) -> [UInt32] {
    var pending: [UInt32] = []
    for _ in 0..<(try reader.count("events")) {
      let event = RestoredEvent(id: try reader.string("an event id"), traceparent: try reader.optionalString("a trace"))
      let place = tables.events[event] ?? events.insert(EventEntry(id: event.id, traceparent: event.traceparent))
      tables.events[event] = place
      pending.append(place)
    }
    return pending
  }

  private mutating func restoreInstances(
    of device: UInt32, since base: inout Int64, from reader: inout BinaryReader, pending: [UInt32],
    sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    var previous = none
    var index = 0
    for _ in 0..<(try reader.count("instances")) {
      let instance = try restoreInstance(
        device: device, expectedAt: index, since: &base, from: &reader, pending: pending, sharing: &tables)
      guard instances[instance].index >= index else {
        throw .corrupt(offset: reader.offset, what: "instances by rising index")
      }
      index = Int(instances[instance].index) + 1
      if previous == none { devices[device].firstInstance = instance } else { instances[previous].next = instance }
      previous = instance
    }
  }

  private mutating func restoreInstance(
    device: UInt32, expectedAt index: Int, since base: inout Int64, from reader: inout BinaryReader,
    pending: [UInt32], sharing tables: inout RestoreTables
  ) throws(BinaryError) -> UInt32 {
    let id = try reader.text("an instance id")
    var state = InstanceState()
    state.device = device
    state.kind = try restoreKind(from: &reader, sharing: &tables)
    let bits = InstanceRecordBits(rawValue: try reader.integer("instance flags"))
    state.flags = bits.flags
    state.index = bits.contains(.index) ? try reader.integer("an index") : UInt16(truncatingIfNeeded: index)
    if bits.contains(.surface) {
      guard let surface = InstanceSurface(rawValue: try reader.uint8("a surface")) else {
        throw .corrupt(offset: reader.offset - 1, what: "a surface")
      }
      state.surface = surface
    }
    if bits.contains(.held) { state.held = try reader.uint8("a reason") }
    if bits.contains(.spent) { state.spent = try reader.integer("tokens spent") }
    if bits.contains(.theta) { state.theta = try reader.float("θ") }
    if bits.contains(.lastReload) { state.lastReload = try reader.instant(since: &base) }
    if bits.contains(.windowEnd) {
      state.windowEnd = (try reader.zigzag("an instant") &+ base / 1_000_000) &* 1_000_000
    }
    if bits.contains(.calibratedAt) { state.calibratedAt = try reader.seconds(since: base) }
    if bits.contains(.flow) {
      state.flow = try reader.float("a flow")
      state.flowMean = try reader.float("a mean flow")
      state.flowCount = try reader.integer("arrivals")
      state.flowAt = try reader.seconds(since: base)
    }
    let nextReload = bits.contains(.nextReload) ? try reader.zigzag("an instant") &+ base : .min
    let due = bits.contains(.due) ? try reader.zigzag("an instant") &+ base : .max
    state.id = instanceIDs.retain(reader.bytes.span.extracting(id), in: &texts)
    let instance = instances.insert(state)
    if bits.contains(.nextReload) { set(nextReload: nextReload, instance) }
    if bits.contains(.charges) {
      var charges: [Int64] = []
      for _ in 0..<(try reader.count("charges")) { charges.append(try reader.instant(since: &base)) }
      rollingCharges[instance] = charges
    }
    if state.surface != .widget { addressed[instance] = try AddressedState(since: base, from: &reader) }
    try restoreEntries(instance, from: &reader)
    guard bits.contains(.due) || bits.contains(.pendingValue) || bits.contains(.causes) else { return instance }
    let waiting = waitingSlot(instance)
    waitings[waiting].due = due
    if bits.contains(.pendingValue) { waitings[waiting].pendingValue = try reader.float("a value") }
    if bits.contains(.causes) { try restoreCauses(instance, since: &base, from: &reader, pending: pending) }
    settle(instance)
    return instance
  }

  private mutating func restoreKind(
    from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) -> UInt16 {
    let name = try reader.text("a kind")
    let kind = tables.kinds.number(of: reader.bytes.span.extracting(name)) { knownKindIndex($0) }
    guard let kind = UInt16(exactly: kind) else { throw .corrupt(offset: reader.offset, what: "a known kind") }
    return kind
  }

  private mutating func restoreEntries(_ instance: UInt32, from reader: inout BinaryReader) throws(BinaryError) {
    var last = none
    for _ in 0..<(try reader.count("interests")) {
      let head = try reader.varint("an interest key")
      let key = try reader.text(count: head >> 2, "an interest key")
      let interest = interests.intern(reader.bytes.span.extracting(key), in: &texts)
      var entry = InterestEntry(interest: interest, instance: instance)
      let form = FingerprintForm(rawValue: head & 3)
      if form == .both { entry.shown = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form != .neither { entry.current = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form == .same { entry.shown = entry.current }
      let slot = entries.insert(entry)
      if last == none { instances[instance].firstEntry = slot } else { entries[last].next = slot }
      last = slot
    }
  }

  private mutating func restoreCauses(
    _ instance: UInt32, since base: inout Int64, from reader: inout BinaryReader, pending: [UInt32]
  ) throws(BinaryError) {
    let waiting = waitingSlot(instance)
    waitings[waiting].pendingAt = try reader.instant(since: &base)
    for _ in 0..<(try reader.count("causes")) {
      let place: Int = try reader.integer("an interest")
      let event: Int = try reader.integer("an event")
      guard event < pending.count else { throw .corrupt(offset: reader.offset, what: "an event of the device") }
      let entry = try self.entry(place, of: instance, reader)
      var cause = Cause(event: pending[event], entry: entry)
      cause.signedRelevance = try reader.float("a relevance")
      cause.at = try reader.instant(since: &base)
      cause.expires = try reader.zigzag("an instant") &+ base
      append(cause, to: waiting)
    }
  }

  /// The interest entry at a place counted from 1; `none` for 0.
  private func entry(_ place: Int, of instance: UInt32, _ reader: BinaryReader) throws(BinaryError) -> UInt32 {
    if place == 0 { return none }
    var entry = instances[instance].firstEntry
    var left = place - 1
    while left > 0, entry != none {
      entry = entries[entry].next
      left -= 1
    }
    guard entry != none else { throw .corrupt(offset: reader.offset, what: "an interest of the instance") }
    return entry
  }

  /// Restore: a cause that came after all others of the instance.
  mutating func append(_ cause: Cause, to waiting: UInt32) {
    events[cause.event].references += 1
    let inserted = causes.insert(cause)
    if waitings[waiting].lastCause == none {
      waitings[waiting].firstCause = inserted
    } else {
      causes[waitings[waiting].lastCause].next = inserted
    }
    waitings[waiting].lastCause = inserted
    waitings[waiting].causes += 1
  }
}

extension InstanceRecordBits {
  /// Those of the instance's own flags that stand among the bits.
  fileprivate var flags: InstanceState.Flags {
    var flags: InstanceState.Flags = [.used]
    if contains(.pushEnabled) { flags.insert(.pushEnabled) }
    if contains(.retired) { flags.insert(.retired) }
    if contains(.chargedByLast) { flags.insert(.chargedByLast) }
    if contains(.rolling) { flags.insert(.rolling) }
    return flags
  }
}

extension BinaryReader {
  /// An instant that was written as a distance from the one before, whose place it takes.
  fileprivate mutating func instant(since base: inout Int64) throws(BinaryError) -> Int64 {
    base &+= try zigzag("an instant")
    return base
  }

  /// An instant in whole seconds that wrap.
  fileprivate mutating func seconds(since base: Int64) throws(BinaryError) -> UInt32 {
    UInt32(truncatingIfNeeded: try zigzag("an instant") &+ base / 1_000_000)
  }
}
