import Domain
import Policies

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
    var parts = DeviceRecordBits(rawValue: try reader.integer("device flags"))
    var device = DeviceState()
    device.flags = DeviceState.Flags(rawValue: UInt16(truncatingIfNeeded: parts.intersection(.flags).rawValue))
    guard device.flags.contains(.used) else { throw .corrupt(offset: reader.offset, what: "a device in use") }
    try restoreNames(&device, from: &reader, sharing: &tables)
    if parts.contains(.tokens) { device.tokens = try restoreTokens(from: &reader) }
    var rare = RareDeviceState()
    var base: Int64 = 0
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
    if parts.contains(.charges) {
      var charges: [Timestamp] = []
      for _ in 0..<(try reader.count("charges")) { charges.append(try reader.instant(since: &base)) }
      ledgers.rolling.set(charges, of: instance)
    } else if state.day.isRolling {
      ledgers.rolling.set([], of: instance)
    }
    if state.surface != .widget {
      registry.restore(try AddressedState(since: base, from: &reader), of: instance)
    }
    try restoreEntries(instance, from: &reader)
    let value = parts.contains(.pendingValue) ? try reader.float("a value") : 0
    var valueAt = Timestamp(microseconds: 0)
    if parts.contains(.causes) {
      valueAt = try reader.instant(since: &base)
      try restoreCauses(instance, since: &base, from: &reader, pending: events)
    }
    if parts.contains(.due) || parts.contains(.pendingValue) || parts.contains(.causes) {
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
      let key = try reader.text(count: head >> 3, "an interest key")
      var (shown, current): (UInt64, UInt64) = (0, 0)
      let form = FingerprintForm(rawValue: head & 3)
      if form == .both { shown = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form != .neither { current = UInt64(bitPattern: try reader.int64("a fingerprint")) }
      if form == .same { shown = current }
      last = registry.restoreEntry(
        key: reader.bytes.span.extracting(key), shown: shown, current: current, of: instance, behind: last)
      if head & 4 != 0 { try restoreRow(last, from: &reader) }
    }
  }

  private mutating func restoreRow(_ entry: EntrySlot, from reader: inout BinaryReader) throws(BinaryError) {
    let head = UInt64(bitPattern: try reader.int64("displayed fields"))
    var values: [DisplayedValue] = []
    for _ in 0..<ShownFields.count(head) {
      values.append(DisplayedValue(bits: UInt64(bitPattern: try reader.int64("a value"))))
    }
    let distance = try reader.float("a distance")
    guard distance >= 0, distance <= 1 else { throw .corrupt(offset: reader.offset, what: "a distance of 0 to 1") }
    registry.show(values.span, head: head, distance: distance, entry)
    // A screen that is right is right by all weights.
    if distance == 0 { return }
    rules.note(scale: head & ShownFields.scaleBits, of: registry.instances[registry.entries[entry].instance].kind)
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
      let head = UInt64(bitPattern: try reader.int64("displayed fields"))
      var values: [DisplayedValue] = []
      for _ in 0..<fields { values.append(DisplayedValue(bits: UInt64(bitPattern: try reader.int64("a value")))) }
      guard fields == 0 || fields == ShownFields.count(head) else {
        throw .corrupt(offset: reader.offset, what: "a value of each field")
      }
      registry.note(
        ShownBefore(
          entry: entry, at: at, isWorthPush: isWorthPush,
          content: fields == 0 ? .fingerprint(head) : .fields(values, head: head)), device)
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
  fileprivate static let indexMax: UInt16 = .max / 2
}

extension BinaryReader {
  /// Reads an instant relative to `base`, and makes it the new `base`. µs.
  fileprivate mutating func instant(since base: inout Int64) throws(BinaryError) -> Timestamp {
    base &+= try zigzag("an instant")
    return Timestamp(microseconds: base)
  }
}
