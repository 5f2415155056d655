import Domain

extension Planner {
  /// Reads the value of a device's record and puts the device into a free slot.
  /// - Parameters:
  ///   - id: The device's id, which no other device has.
  ///   - hash: The hash of `id`.
  ///   - slot: The slot that the device had in the planner that wrote the record.
  ///   - reader: The record, from the byte after the slot on.
  ///   - tables: The tables that the records of one restore share.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt. The planner is then unusable.
  mutating func restore(
    device id: Span<UInt8>, hash: UInt32, at slot: DeviceSlot, from reader: inout BinaryReader,
    sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    let bits = DeviceRecordBits(rawValue: try reader.integer("device flags"))
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: UInt16(truncatingIfNeeded: bits.intersection(.flags).rawValue))
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    try restoreNames(&device, from: &reader, sharing: &tables)
    device.osVersion = OSVersion(major: try reader.integer("a version"), minor: try reader.integer("a version"))
    if bits.contains(.tokens) { device.tokens = try restoreTokens(from: &reader) }
    var base: Int64 = 0
    if bits.contains(.updatedAt) { device.updatedAt = try reader.instant(since: &base) }
    if bits.contains(.pushTAT) { device.pushRate = RateState(tat: try reader.instant(since: &base)) }
    if bits.contains(.backgroundTAT) {
      device.backgroundRate = RateState(tat: try reader.instant("a background TAT", after: base))
    }
    var rare = RareDeviceState()
    if bits.contains(.startTAT) { rare.startRate = RateState(tat: try reader.instant("a start TAT", after: base)) }
    if bits.contains(.foregroundSince) { rare.foregroundSince = try reader.instant("an instant", after: base) }
    if bits.contains(.command) { device.lastCommand = try LastCommand(from: &reader) }
    ledgers.join(device.app)
    registry.restore(device, id: id, hash: hash, at: slot)
    registry.restore(rare, of: slot)
    var events: [EventSlot] = []
    if bits.contains(.events) { events = try restoreEvents(from: &reader, sharing: &tables) }
    try restoreInstances(of: slot, since: &base, from: &reader, pending: events, sharing: &tables)
    guard events.allSatisfy({ pending.events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if device.flags.contains(.habits) { pricing.restore(try ViewHabits(from: &reader), of: slot) }
    try reader.end()
  }

  private mutating func restoreNames(
    _ device: inout DeviceState, from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    let app = try reader.text("an app")
    device.app = AppSlot(
      tables.apps.number(of: reader.bytes.span.extracting(app)) { appSlot($0).number })
    let zone = try reader.text("a time zone")
    device.zone = ZoneSlot(
      tables.zones.number(of: reader.bytes.span.extracting(zone)) { zones.zone($0.text, now: now).number })
  }

  private mutating func restoreTokens(from reader: inout BinaryReader) throws(BinaryError) -> TextHandle {
    let place = try reader.blobPlace("tokens")
    let tokens = reader.bytes.span.extracting(place)
    guard TokenPair.isWellFormed(tokens) else { throw .corrupt(offset: reader.offset, what: "tokens") }
    return registry.restore(tokens: tokens)
  }

  /// Returns the events that wait on a device.
  private mutating func restoreEvents(
    from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) -> [EventSlot] {
    var events: [EventSlot] = []
    for _ in 0..<(try reader.count("events")) {
      let event = RestoredEvent(
        id: Identifier(try reader.string("an event id")),
        traceparent: try reader.optionalString("a trace").map { Identifier($0) })
      let slot = tables.events[event] ?? pending.restore(event: event.id, traceparent: event.traceparent.text)
      tables.events[event] = slot
      events.append(slot)
    }
    return events
  }

  private mutating func restoreInstances(
    of device: DeviceSlot, since base: inout Int64, from reader: inout BinaryReader, pending events: [EventSlot],
    sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    var previous = InstanceSlot.absent
    var index = 0
    for _ in 0..<(try reader.count("instances")) {
      previous = try restoreInstance(
        device, expectedAt: index, behind: previous, since: &base, from: &reader, pending: events, sharing: &tables)
      index = Int(registry.instances[previous].index) + 1
    }
  }

  private mutating func restoreInstance(
    _ device: DeviceSlot, expectedAt index: Int, behind previous: InstanceSlot, since base: inout Int64,
    from reader: inout BinaryReader, pending events: [EventSlot], sharing tables: inout RestoreTables
  ) throws(BinaryError) -> InstanceSlot {
    let id = try reader.text("an instance id")
    var state = InstanceState()
    state.device = device
    state.kind = try restoreKind(from: &reader, sharing: &tables)
    let bits = InstanceRecordBits(rawValue: try reader.integer("instance flags"))
    try state.restore(bits, expectedAt: index, since: &base, from: &reader)
    let nextReload = bits.contains(.nextReload) ? try reader.instant("an instant", after: base) : nil
    let due = bits.contains(.due) ? try reader.instant("an instant", after: base) : .distantFuture
    let instance = registry.restore(state, id: reader.bytes.span.extracting(id), behind: previous)
    registry.set(nextReload: nextReload, instance)
    if bits.contains(.charges) {
      var charges: [Timestamp] = []
      for _ in 0..<(try reader.count("charges")) { charges.append(try reader.instant(since: &base)) }
      ledgers.restore(charges, of: instance)
    } else if state.day.isRolling {
      ledgers.restore([], of: instance)
    }
    if state.surface != .widget {
      registry.restore(try AddressedState(since: base, from: &reader), of: instance)
    }
    try restoreEntries(instance, from: &reader)
    let value = bits.contains(.pendingValue) ? try reader.float("a value") : 0
    var valueAt = Timestamp(microseconds: 0)
    if bits.contains(.causes) {
      valueAt = try reader.instant(since: &base)
      try restoreCauses(instance, since: &base, from: &reader, pending: events)
    }
    if bits.contains(.due) || bits.contains(.pendingValue) || bits.contains(.causes) {
      pending.restore(&registry[waiting: instance], due: due, value: value, valueAt: valueAt)
    }
    return instance
  }

  private mutating func restoreKind(
    from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) -> KindSlot {
    let name = try reader.text("a kind")
    let kind = tables.kinds.number(of: reader.bytes.span.extracting(name)) { knownKindSlot($0).number }
    guard kind < UInt16.max else { throw .corrupt(offset: reader.offset, what: "a known kind") }
    return KindSlot(kind)
  }

  private mutating func restoreEntries(
    _ instance: InstanceSlot, from reader: inout BinaryReader
  ) throws(BinaryError) {
    var last = EntrySlot.absent
    for _ in 0..<(try reader.count("interests")) {
      let head = try reader.varint("an interest key")
      let key = try reader.text(count: head >> 2, "an interest key")
      var (shown, current): (UInt64, UInt64) = (0, 0)
      let form = FingerprintForm(rawValue: head & 3)
      if form == .both { shown = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form != .neither { current = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form == .same { shown = current }
      last = registry.restoreEntry(
        key: reader.bytes.span.extracting(key), shown: shown, current: current, of: instance, behind: last)
    }
  }

  private mutating func restoreCauses(
    _ instance: InstanceSlot, since base: inout Int64, from reader: inout BinaryReader, pending events: [EventSlot]
  ) throws(BinaryError) {
    let count = try reader.count("causes")
    guard count <= UInt16.max else { throw .corrupt(offset: reader.offset, what: "at most \(UInt16.max) causes") }
    for _ in 0..<count {
      let place: Int = try reader.integer("an interest")
      let event: Int = try reader.integer("an event")
      guard event < events.count else { throw .corrupt(offset: reader.offset, what: "an event of the device") }
      let entry = try entry(place, of: instance, reader)
      let relevance = try reader.float("a relevance")
      let at = try reader.instant(since: &base)
      let expires = try reader.instant("an instant", after: base)
      pending.restore(
        Cause(event: events[event], entry: entry, signedRelevance: relevance, at: at, expires: expires),
        to: &registry[waiting: instance])
    }
  }

  /// Returns the interest entry at a place counted from 1; absent for 0.
  private func entry(_ place: Int, of instance: InstanceSlot, _ reader: BinaryReader) throws(BinaryError) -> EntrySlot {
    if place == 0 { return .absent }
    var walk = registry.entries(of: instance)
    var left = place
    while let entry = walk.next(registry) {
      left -= 1
      if left == 0 { return entry }
    }
    throw .corrupt(offset: reader.offset, what: "an interest of the instance")
  }
}

extension InstanceState {
  /// The largest index in a record. A device has far fewer instances, retired ones included, and new ones get larger indices.
  private static let indexMax: UInt16 = .max / 2

  /// Reads the parts of the record that `InstanceState` itself holds.
  fileprivate mutating func restore(
    _ bits: InstanceRecordBits, expectedAt expected: Int, since base: inout Int64, from reader: inout BinaryReader
  ) throws(BinaryError) {
    flags = [.used]
    if bits.contains(.pushEnabled) { flags.insert(.pushEnabled) }
    if bits.contains(.retired) { flags.insert(.retired) }
    index = bits.contains(.index) ? try reader.integer("an index") : UInt16(truncatingIfNeeded: expected)
    guard index >= expected, index <= Self.indexMax else {
      throw .corrupt(offset: reader.offset, what: "instances by rising index")
    }
    if bits.contains(.surface) {
      guard let known = InstanceSurface(rawValue: try reader.uint8("a surface")) else {
        throw .corrupt(offset: reader.offset - 1, what: "a surface")
      }
      surface = known
    }
    if bits.contains(.held) { heldFor = HeldReason(number: try reader.uint8("a reason")) }
    let spent: UInt16 = bits.contains(.spent) ? try reader.integer("tokens spent") : 0
    let theta = bits.contains(.theta) ? try reader.float("θ") : 0
    if bits.contains(.lastReload) { lastReload = try reader.instant(since: &base) }
    var end = Timestamp(microseconds: 0)
    if bits.contains(.windowEnd) {
      end = Timestamp(microseconds: 0) + .seconds(try reader.zigzag("an instant") &+ base / 1_000_000)
    }
    day = DayWindow(
      end: end, spent: spent, isRolling: bits.contains(.rolling), chargedByLast: bits.contains(.chargedByLast))
    let calibratedAt = bits.contains(.calibratedAt) ? try reader.seconds(since: base) : 0
    var (flow, mean, count, flowAt): (Float, Float, UInt8, UInt32) = (0, 0, 0, 0)
    if bits.contains(.flow) {
      flow = try reader.float("a flow")
      mean = try reader.float("a mean flow")
      count = try reader.integer("arrivals")
      flowAt = try reader.seconds(since: base)
    }
    price = PriceState(
      theta: theta, calibratedAt: calibratedAt, flow: flow, flowMean: mean, flowCount: count, flowAt: flowAt)
  }
}

extension LastCommand {
  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    guard let rate = ChargedRate(rawValue: try reader.uint8("a rate")) else {
      throw .corrupt(offset: reader.offset - 1, what: "a rate")
    }
    let offset = try reader.zigzag("an offset")
    self.init(offset: offset, ordinal: try reader.integer("an ordinal"), rate: rate)
  }
}

extension BinaryReader {
  /// Reads an instant relative to `base`, and makes it the new `base`. µs.
  fileprivate mutating func instant(since base: inout Int64) throws(BinaryError) -> Timestamp {
    base &+= try zigzag("an instant")
    return Timestamp(microseconds: base)
  }

  /// Reads a 32-bit count of seconds since 1970, which may have wrapped, relative to `base` in µs.
  fileprivate mutating func seconds(since base: Int64) throws(BinaryError) -> UInt32 {
    UInt32(truncatingIfNeeded: try zigzag("an instant") &+ base / 1_000_000)
  }
}
