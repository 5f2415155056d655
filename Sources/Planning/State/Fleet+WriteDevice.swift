import Domain
import JSON
import Policies

extension Fleet {
  /// Writes a device whole: the device, its instances, its ledgers, and the causes that wait.
  /// - Parameters:
  ///   - slot: The device.
  ///   - pending: The events that wait on the device, as `findPendingEvents` returns them.
  ///   - writer: The record.
  func write(_ slot: DeviceSlot, pending: [EventSlot], to writer: inout BinaryWriter) {
    var (device, rare) = (registry.devices[slot], registry.rare(slot))
    var parts = device.parts(rare, .whole)
    parts.note(.events, !pending.isEmpty)
    parts.note(.shownBefore, !rare.shownBefore.isEmpty)
    parts.note(.refunds, !rare.refunds.isEmpty)
    let (app, zone) = (ledgers.apps[device.app].id, zones.id(of: device.zone))
    let tokens = registry.texts.bytes.span.extracting(
      parts.contains(.tokens) ? registry.texts.range(of: device.tokens) : 0..<0)
    var base: Int64 = 0
    let names = app.utf8.count + zone.utf8.count + tokens.count
    writer.piece(ofAtMost: 24 * OutputSpan<UInt8>.varintMax + names) { room in
      room.append(varint: UInt64(slot.number))
      room.append(varint: UInt64(parts.rawValue))
      room.append(lengthAnd: app.utf8.span)
      room.append(lengthAnd: zone.utf8.span)
      if parts.contains(.tokens) { room.append(lengthAnd: tokens) }
      device.registeredNumbers(&parts, since: &base, &room)
      device.numbers(&rare, &parts, since: &base, &room)
    }
    if parts.contains(.events) { write(events: pending, to: &writer) }
    write(instancesOf: slot, .whole, pending: pending, since: &base, to: &writer)
    habits(of: slot)?.write(to: &writer)
    if parts.contains(.shownBefore) { write(rare.shownBefore, since: base, to: &writer) }
    if parts.contains(.refunds) { write(rare.refunds, to: &writer) }
  }

  /// Writes what has changed of a device since the last commit that wrote it (`DeviceForm.addition`).
  /// - Parameters:
  ///   - slot: The device, which is not `rebuilt`.
  ///   - chunk: The number of the chunk with its newest version.
  ///   - pending: The events that wait on its changed instances, as `findPendingEvents` returns them.
  ///   - writer: Receives the bytes.
  func write(additionTo slot: DeviceSlot, in chunk: Int64, pending: [EventSlot], to writer: inout BinaryWriter) {
    var (device, rare) = (registry.devices[slot], registry.rare(slot))
    var parts = device.parts(rare, .addition)
    parts.note(.events, !pending.isEmpty)
    parts.note(.shownBefore, !rare.shownBefore.isEmpty)
    parts.note(.refunds, !rare.refunds.isEmpty)
    parts.note(.habitsChanged, device.flags.contains(.habitsChanged))
    var base = device.additionBase
    writer.piece(ofAtMost: 24 * OutputSpan<UInt8>.varintMax) { room in
      room.append(varint: UInt64(slot.number))
      room.append(varint: UInt64(chunk))
      room.append(varint: UInt64(parts.rawValue))
      device.numbers(&rare, &parts, since: &base, &room)
    }
    if parts.contains(.events) { write(events: pending, to: &writer) }
    write(instancesOf: slot, .addition, pending: pending, since: &base, to: &writer)
    if parts.contains(.habitsChanged) { habits(of: slot)?.write(to: &writer) }
    if parts.contains(.shownBefore) { write(rare.shownBefore, since: base, to: &writer) }
    if parts.contains(.refunds) { write(rare.refunds, to: &writer) }
  }

  private func write(_ refunds: [Timestamp], to writer: inout BinaryWriter) {
    writer.count(refunds.count)
    var base: Int64 = 0
    for refund in refunds { writer.instant(refund.microseconds, since: &base) }
  }

  private func write(_ changes: [ShownBefore], since base: Int64, to writer: inout BinaryWriter) {
    var base = base
    writer.count(changes.count)
    for change in changes {
      let instance = registry.entries[change.entry].instance
      writer.varint(UInt64(registry.instances[instance].index))
      writer.varint(UInt64(entryPlace(change.entry, of: instance)))
      writer.instant(change.at.microseconds, since: &base)
      writer.uint8(change.isWorthPush ? 1 : 0)
      switch change.content {
      case .fields(let values, let head):
        writer.count(values.count)
        writer.int64(Int64(bitPattern: head))
        for value in values { writer.write(value) }
      case .fingerprint(let shown):
        writer.count(0)
        for half in [shown.low, shown.high] { writer.int64(Int64(bitPattern: half)) }
      }
    }
  }

  private func write(events: [EventSlot], to writer: inout BinaryWriter) {
    writer.count(events.count)
    for event in events {
      writer.zigzag(pending.events[event].offset)
      writer.string(pending.events[event].id.text)
      writer.optionalString(pending.events[event].traceparent)
    }
  }

  /// Returns whether a form of a device's record has an instance.
  private func has(_ form: DeviceForm, _ instance: InstanceSlot) -> Bool {
    form == .whole || registry.instances[instance].flags.contains(.changed)
  }

  private func write(
    instancesOf device: DeviceSlot, _ form: DeviceForm, pending: [EventSlot], since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    var count = 0
    var counting = registry.instances(of: device)
    while let instance = counting.next(registry) { if has(form, instance) { count += 1 } }
    writer.count(count)
    var index = 0
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !has(form, instance) { continue }
      write(instance, form, expectedAt: index, pending: pending, since: &base, to: &writer)
      index = Int(registry.instances[instance].index) + 1
    }
  }

  /// Finds the events that wait on a device.
  /// - Parameters:
  ///   - device: The device.
  ///   - form: The form of the record. An addition needs only the events that wait on changed instances.
  ///   - events: Receives the slot of each event once, in the order of instances and causes.
  func findPendingEvents(of device: DeviceSlot, _ form: DeviceForm, _ events: inout [EventSlot]) {
    events.removeAll(keepingCapacity: true)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if !has(form, instance) { continue }
      var causes = pending.causes(of: registry.instances[instance].waiting)
      while let cause = causes.next(pending) {
        let event = pending.causes[cause].event
        if !events.contains(event) { events.append(event) }
      }
    }
  }

  private func write(
    _ slot: InstanceSlot, _ form: DeviceForm, expectedAt index: Int, pending events: [EventSlot],
    since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    var instance = registry.instances[slot]
    let waiting = pending[instance.waiting]
    let charges = ledgers.rolling[slot] ?? []
    var (reload, due) = (registry.nextReload(slot) ?? .distantPast, waiting.due)
    var parts = instance.parts(expectedAt: index, due: due)
    parts.note(.charges, !charges.isEmpty)
    parts.note(.pendingValue, waiting.value.bitPattern != 0)
    parts.note(.causes, !waiting.isEmpty)
    if form == .whole { writeNames(of: slot, to: &writer) }
    var newest = base
    writer.piece(ofAtMost: 16 * OutputSpan<UInt8>.varintMax) { room in
      room.append(varint: UInt64(parts.rawValue))
      instance.numbers(expectedAt: index, nextReload: &reload, due: &due, &parts, since: &newest, &room)
    }
    base = newest
    if parts.contains(.charges) {
      writer.count(charges.count)
      for charge in charges { writer.instant(charge.microseconds, since: &base) }
    }
    if parts.contains(.surface) { (registry.addressed[slot] ?? AddressedState()).write(since: base, to: &writer) }
    writeEntries(of: slot, form, to: &writer)
    if parts.contains(.pendingValue) { writer.float(waiting.value) }
    if parts.contains(.causes) { write(causesOf: slot, waiting, pending: events, since: &base, to: &writer) }
  }

  private func writeNames(of instance: InstanceSlot, to writer: inout BinaryWriter) {
    let id = registry.texts.bytes.span.extracting(registry.idRange(of: instance))
    let kind = rules[registry.instances[instance].kind].name
    writer.piece(ofAtMost: 2 * OutputSpan<UInt8>.varintMax + id.count + kind.utf8.count) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: kind.utf8.span)
    }
  }

  private func writeEntries(of instance: InstanceSlot, _ form: DeviceForm, to writer: inout BinaryWriter) {
    if form == .whole { writer.count(entryPlace(.absent, of: instance)) }
    var walk = registry.entries(of: instance)
    while let slot = walk.next(registry) {
      let entry = registry.entries[slot]
      let key = form == .whole ? registry.texts.range(of: registry.interests.key(of: entry.interest)) : 0..<0
      let screen = entry.screen
      let fingerprints = FingerprintForm(shown: screen.shown, current: screen.current)
      let text = registry.texts.bytes.span.extracting(key)
      let hasRow = !screen.row.isAbsent
      writer.piece(ofAtMost: OutputSpan<UInt8>.varintMax + text.count + 32) { room in
        room.append(varint: UInt64(text.count) << 3 | (hasRow ? 4 : 0) | fingerprints.rawValue)
        room.append(text)
        if fingerprints == .both {
          room.append(fixed: screen.shown.low)
          room.append(fixed: screen.shown.high)
        }
        if fingerprints != .neither {
          room.append(fixed: screen.current.low)
          room.append(fixed: screen.current.high)
        }
      }
      if hasRow { write(screen.row, distance: screen.distance, to: &writer) }
    }
  }

  private func write(_ row: ShownRow, distance: Float, to writer: inout BinaryWriter) {
    let head = screens.head(row) | screens.scale(row)
    writer.int64(Int64(bitPattern: head))
    for field in 0..<Screens.count(head) { writer.write(screens[row, field]) }
    writer.float(distance)
  }

  private func write(
    causesOf instance: InstanceSlot, _ waiting: Waiting, pending events: [EventSlot], since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    writer.instant(waiting.valueAt.microseconds, since: &base)
    writer.count(Int(waiting.causes))
    var walk = pending.causes(of: registry.instances[instance].waiting)
    while let slot = walk.next(pending) {
      let cause = pending.causes[slot]
      // The entry is absent when the instance no longer subscribes to the key.
      var record = CauseRecord(
        interest: cause.entry.isAbsent ? 0 : entryPlace(cause.entry, of: instance) + 1,
        event: events.firstIndex(of: cause.event) ?? 0, relevance: Float(bitPattern: cause.relevanceBits),
        at: cause.at, expires: cause.expires)
      record.fields(since: &base, &writer)
    }
  }

  /// Returns the index of an interest entry among the entries of its instance; the number of entries when it is absent.
  private func entryPlace(_ entry: EntrySlot, of instance: InstanceSlot) -> Int {
    var place = 0
    var walk = registry.entries(of: instance)
    while let other = walk.next(registry), other != entry { place += 1 }
    return place
  }
}

extension BinaryWriter {
  /// Appends an instant relative to `base`, and makes it the new `base`. µs.
  fileprivate mutating func instant(_ instant: Int64, since base: inout Int64) {
    zigzag(instant &- base)
    base = instant
  }
}
