import Domain
import Policies

extension Fleet {
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
    var parts = DeviceRecordBits(rawValue: try reader.integer("device flags"))
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: UInt16(truncatingIfNeeded: parts.intersection(.flags).rawValue))
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    try restoreNames(&device, from: &reader, sharing: &tables)
    if parts.contains(.tokens) { device.tokens = try restoreTokens(from: &reader) }
    var rare = RareDeviceState()
    var base: Int64 = 0
    try device.registeredNumbers(&parts, since: &base, &reader)
    try device.numbers(&rare, &parts, since: &base, &reader)
    ledgers.apps.join(device.app)
    registry.restore(device, id: id, hash: hash, at: slot)
    registry.restore(rare, of: slot)
    var events: [EventSlot] = []
    if parts.contains(.events) { events = try restoreEvents(from: &reader, sharing: &tables) }
    try restoreInstances(of: slot, since: &base, from: &reader, pending: events, sharing: &tables)
    guard events.allSatisfy({ pending.events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if device.flags.contains(.habits) { pricing.restore(try ViewHabits(from: &reader), of: slot) }
    if parts.contains(.shownBefore) { try restoreShownBefore(slot, since: base, from: &reader) }
    if parts.contains(.refunds) { try restoreRefunds(slot, from: &reader) }
    try reader.end()
  }

  /// Reads an addition to the version of a device that the planner holds (`DeviceForm`).
  /// - Parameters:
  ///   - slot: The device.
  ///   - reader: The addition, from the byte after the number of the chunk on.
  ///   - tables: The tables that the records of one restore share.
  /// - Throws: `BinaryError` for an addition that is cut off or corrupt. The planner is then unusable.
  mutating func restore(
    additionTo slot: DeviceSlot, from reader: inout BinaryReader, sharing tables: inout RestoreTables
  ) throws(BinaryError) {
    var parts = DeviceRecordBits(rawValue: try reader.integer("device flags"))
    var device = registry.devices[slot].withoutNumbers
    device.flags = DeviceState.Flags(rawValue: UInt16(truncatingIfNeeded: parts.intersection(.flags).rawValue))
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    if registry.devices[slot].flags.contains(.rare) { device.flags.insert(.rare) }
    var (rare, base) = (RareDeviceState(), device.additionBase)
    try device.numbers(&rare, &parts, since: &base, &reader)
    registry.restore(device, in: slot)
    registry.restore(rare, of: slot)
    var events: [EventSlot] = []
    if parts.contains(.events) { events = try restoreEvents(from: &reader, sharing: &tables) }
    var (unused, index): ([EventSlot], Int) = ([], 0)
    for _ in 0..<(try reader.count("instances")) {
      let instance = try restoreChanged(
        slot, expectedAt: index, since: &base, from: &reader, pending: events, unused: &unused)
      index = Int(registry.instances[instance].index) + 1
    }
    // Several instances may have waited for one event, so it can be there twice.
    for event in Set(unused) where pending.events[event].references == 0 {
      tables.events[pending.events[event].offset] = nil
      pending.forget(event)
    }
    guard events.allSatisfy({ pending.events[$0].references > 0 }) else {
      throw .corrupt(offset: reader.offset, what: "events that wait on an instance")
    }
    if parts.contains(.habitsChanged) { pricing.restore(try ViewHabits(from: &reader), of: slot) }
    if parts.contains(.shownBefore) { try restoreShownBefore(slot, since: base, from: &reader) }
    if parts.contains(.refunds) { try restoreRefunds(slot, from: &reader) }
    try reader.end()
  }

  private mutating func restoreRefunds(
    _ device: DeviceSlot, from reader: inout BinaryReader
  ) throws(BinaryError) {
    var (rare, base) = (registry.rare(device), Int64(0))
    rare.refunds = []
    for _ in 0..<(try reader.count("refunds")) { rare.refunds.append(try reader.instant(since: &base)) }
    registry.restore(rare, of: device)
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
      let offset = try reader.zigzag("the offset of an event")
      let id = Identifier(try reader.string("an event id"))
      let traceparent = try reader.optionalString("a trace")
      let slot = tables.events[offset] ?? pending.restore(event: id, traceparent: traceparent, offset: offset)
      tables.events[offset] = slot
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
    var parts = InstanceRecordBits(rawValue: try reader.integer("instance flags"))
    state.flags = [.used]
    state.index = UInt16(truncatingIfNeeded: index)
    var (nextReload, due) = (Timestamp.distantPast, Timestamp.distantFuture)
    try state.numbers(expectedAt: index, nextReload: &nextReload, due: &due, &parts, since: &base, &reader)
    guard state.index >= index, state.index <= InstanceState.indexMax else {
      throw .corrupt(offset: reader.offset, what: "instances by rising index")
    }
    let instance = registry.restore(state, id: reader.bytes.span.extracting(id), behind: previous)
    registry.set(nextReload: parts.contains(.nextReload) ? nextReload : nil, instance)
    try restoreLedgers(instance, parts, since: &base, from: &reader)
    try restoreEntries(instance, from: &reader)
    try restoreWaiting(instance, parts, due: due, since: &base, from: &reader, pending: events)
    return instance
  }

  /// Reads an instance of an addition.
  /// - Parameters:
  ///   - unused: Receives the events that waited on it and that nothing refers to meanwhile.
  private mutating func restoreChanged(
    _ device: DeviceSlot, expectedAt index: Int, since base: inout Int64, from reader: inout BinaryReader,
    pending events: [EventSlot], unused: inout [EventSlot]
  ) throws(BinaryError) -> InstanceSlot {
    var state = InstanceState()
    var parts = InstanceRecordBits(rawValue: try reader.integer("instance flags"))
    state.flags = [.used]
    state.index = UInt16(truncatingIfNeeded: index)
    var (nextReload, due) = (Timestamp.distantPast, Timestamp.distantFuture)
    try state.numbers(expectedAt: index, nextReload: &nextReload, due: &due, &parts, since: &base, &reader)
    guard state.index >= index, let instance = registry.instance(at: state.index, of: device),
      registry.instances[instance].surface == state.surface
    else { throw .corrupt(offset: reader.offset, what: "an instance of the device") }
    registry.set(nextReload: nil, instance)
    registry.restore(state, in: instance)
    registry.set(nextReload: parts.contains(.nextReload) ? nextReload : nil, instance)
    unused += pending.unplace(registry.instances[instance].waiting)
    pending.drop(&registry[waiting: instance])
    ledgers.rolling.remove(instance)
    try restoreLedgers(instance, parts, since: &base, from: &reader)
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      let head = try reader.varint("what a screen shows")
      let (shown, current) = try Self.fingerprints(head, from: &reader)
      guard head >> 3 == 0 else { throw .corrupt(offset: reader.offset, what: "an entry without its key") }
      registry[screen: entry].shown = shown
      registry[screen: entry].current = current
      screens.forgetRow(&registry[screen: entry])
      if head & 4 != 0 { try restoreRow(entry, from: &reader) }
    }
    try restoreWaiting(instance, parts, due: due, since: &base, from: &reader, pending: events)
    return instance
  }

  /// Reads the charges of a rolling window, and the ledger of an instance with a push token of its own.
  private mutating func restoreLedgers(
    _ instance: InstanceSlot, _ parts: InstanceRecordBits, since base: inout Int64, from reader: inout BinaryReader
  ) throws(BinaryError) {
    if parts.contains(.charges) {
      var charges: [Timestamp] = []
      for _ in 0..<(try reader.count("charges")) { charges.append(try reader.instant(since: &base)) }
      ledgers.rolling.set(charges, of: instance)
    } else if registry.instances[instance].day.isRolling {
      ledgers.rolling.set([], of: instance)
    }
    if registry.instances[instance].surface == .widget { return }
    registry.restore(try AddressedState(since: base, from: &reader), of: instance)
  }

  /// Reads what waits on an instance.
  private mutating func restoreWaiting(
    _ instance: InstanceSlot, _ parts: InstanceRecordBits, due: Timestamp, since base: inout Int64,
    from reader: inout BinaryReader, pending events: [EventSlot]
  ) throws(BinaryError) {
    let value = parts.contains(.pendingValue) ? try reader.float("a value") : 0
    var valueAt = Timestamp(microseconds: 0)
    if parts.contains(.causes) {
      valueAt = try reader.instant(since: &base)
      try restoreCauses(instance, since: &base, from: &reader, pending: events)
    }
    if parts.contains(.due) || parts.contains(.pendingValue) || parts.contains(.causes) {
      pending.restore(&registry[waiting: instance], due: due, value: value, valueAt: valueAt)
    }
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
      let key = try reader.text(count: head >> 3, "an interest key")
      let (shown, current) = try Self.fingerprints(head, from: &reader)
      last = registry.restoreEntry(
        key: reader.bytes.span.extracting(key), shown: shown, current: current, of: instance, behind: last)
      if head & 4 != 0 { try restoreRow(last, from: &reader) }
    }
  }

  private static func fingerprints(
    _ head: UInt64, from reader: inout BinaryReader
  ) throws(BinaryError) -> (shown: KeyedHash, current: KeyedHash) {
    var (shown, current) = (KeyedHash.none, KeyedHash.none)
    let form = FingerprintForm(rawValue: head & 3)
    if form == .both { shown = try reader.hash("a fingerprint") }
    if form != .neither { current = try reader.hash("a fingerprint") }
    return (form == .same ? current : shown, current)
  }

  private mutating func restoreRow(_ entry: EntrySlot, from reader: inout BinaryReader) throws(BinaryError) {
    let head = UInt64(bitPattern: try reader.int64("displayed fields"))
    var values: [DisplayedValue] = []
    for _ in 0..<Screens.count(head) { values.append(try reader.displayedValue()) }
    let distance = try reader.float("a distance")
    guard distance >= 0, distance <= 1 else { throw .corrupt(offset: reader.offset, what: "a distance of 0 to 1") }
    screens.show(values.span, head: head, distance: distance, &registry[screen: entry])
    // A screen that is right is right by all weights.
    if distance == 0 { return }
    rules.note(scale: head & Screens.scaleBits, of: registry.instances[registry.entries[entry].instance].kind)
  }

  private mutating func restoreCauses(
    _ instance: InstanceSlot, since base: inout Int64, from reader: inout BinaryReader, pending events: [EventSlot]
  ) throws(BinaryError) {
    let count = try reader.count("causes")
    guard count <= UInt16.max else { throw .corrupt(offset: reader.offset, what: "at most \(UInt16.max) causes") }
    for _ in 0..<count {
      var cause = CauseRecord()
      try cause.fields(since: &base, &reader)
      guard cause.event < events.count else {
        throw .corrupt(offset: reader.offset, what: "an event of the device")
      }
      let entry = try entry(cause.interest, of: instance, reader)
      pending.restore(
        Cause(
          event: events[cause.event], entry: entry, relevanceBits: cause.relevance.bitPattern, at: cause.at,
          expires: cause.expires),
        to: &registry[waiting: instance])
    }
  }

  private mutating func restoreShownBefore(
    _ device: DeviceSlot, since base: Int64, from reader: inout BinaryReader
  ) throws(BinaryError) {
    var base = base
    let count = try reader.count("changes")
    guard count <= ShownBefore.changesMax else {
      throw .corrupt(offset: reader.offset, what: "at most \(ShownBefore.changesMax) changes")
    }
    for _ in 0..<count {
      let index: UInt16 = try reader.integer("an index")
      let place: Int = try reader.integer("an interest")
      guard place < Int(Int32.max), let instance = registry.instance(at: index, of: device) else {
        throw .corrupt(offset: reader.offset, what: "an instance of the device")
      }
      let entry = try entry(place + 1, of: instance, reader)
      let at = try reader.instant(since: &base)
      let isWorthPush = try reader.uint8("a flag") != 0
      let fields = try reader.count("values")
      let content = try Self.content(ofFields: fields, from: &reader)
      registry.note(ShownBefore(entry: entry, at: at, isWorthPush: isWorthPush, content: content), device)
    }
  }

  /// Reads what a screen showed before a change.
  /// - Parameters:
  ///   - count: The number of fields; 0 if the content is a fingerprint.
  ///   - reader: The record.
  private static func content(
    ofFields count: Int, from reader: inout BinaryReader
  ) throws(BinaryError) -> ShownBefore.Content {
    if count == 0 { return .fingerprint(try reader.hash("a fingerprint")) }
    let head = UInt64(bitPattern: try reader.int64("displayed fields"))
    var values: [DisplayedValue] = []
    for _ in 0..<count { values.append(try reader.displayedValue()) }
    guard count == Screens.count(head) else {
      throw .corrupt(offset: reader.offset, what: "a value of each field")
    }
    return .fields(values, head: head)
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
  fileprivate static let indexMax: UInt16 = .max / 2
}

extension BinaryReader {
  /// Reads an instant relative to `base`, and makes it the new `base`. µs.
  fileprivate mutating func instant(since base: inout Int64) throws(BinaryError) -> Timestamp {
    base &+= try zigzag("an instant")
    return Timestamp(microseconds: base)
  }
}
