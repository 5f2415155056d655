import Domain
import JSON

extension Planner {
  /// Writes the value of a device's record: the device, its instances, its ledgers, and the causes that wait.
  /// - Parameters:
  ///   - slot: The device.
  ///   - pending: The events that wait on the device, as `findPendingEvents` returns them.
  ///   - writer: The record.
  func write(_ slot: DeviceSlot, pending: [EventSlot], to writer: inout BinaryWriter) {
    let device = registry.devices[slot]
    let rare = registry.rare(slot)
    let last = device.lastCommand
    var bits = DeviceRecordBits(rawValue: UInt32(device.flags.intersection(.stored).rawValue))
    bits.note(.tokens, !device.tokens.isAbsent)
    bits.note(.updatedAt, device.updatedAt != .distantPast)
    bits.note(.pushTAT, !device.pushRate.isFull)
    bits.note(.backgroundTAT, !device.backgroundRate.isFull)
    bits.note(.command, last != LastCommand())
    bits.note(.events, !pending.isEmpty)
    bits.note(.startTAT, !rare.startRate.isFull)
    bits.note(.foregroundSince, rare.foregroundSince.microseconds != 0)
    let (app, zone) = (ledgers.apps[device.app].id, zones.id(of: device.zone))
    let tokens = registry.texts.bytes.span.extracting(
      bits.contains(.tokens) ? registry.texts.range(of: device.tokens) : 0..<0)
    var base: Int64 = 0
    let names = app.utf8.count + zone.utf8.count + tokens.count
    writer.piece(ofAtMost: 15 * OutputSpan<UInt8>.varintMax + names) { room in
      room.append(varint: UInt64(slot.number))
      room.append(varint: UInt64(bits.rawValue))
      room.append(lengthAnd: app.utf8.span)
      room.append(lengthAnd: zone.utf8.span)
      room.append(varint: UInt64(device.osVersion.major))
      room.append(varint: UInt64(device.osVersion.minor))
      if bits.contains(.tokens) { room.append(lengthAnd: tokens) }
      if bits.contains(.updatedAt) { room.append(instant: device.updatedAt.microseconds, since: &base) }
      if bits.contains(.pushTAT) { room.append(instant: device.pushRate.tat.microseconds, since: &base) }
      if bits.contains(.backgroundTAT) { room.append(zigzag: device.backgroundRate.tat.microseconds &- base) }
      if bits.contains(.startTAT) { room.append(zigzag: rare.startRate.tat.microseconds &- base) }
      if bits.contains(.foregroundSince) { room.append(zigzag: rare.foregroundSince.microseconds &- base) }
      if bits.contains(.command) {
        room.append(last.rate.rawValue)
        room.append(zigzag: last.offset)
        room.append(varint: UInt64(last.ordinal))
      }
    }
    if bits.contains(.events) { write(events: pending, to: &writer) }
    write(instancesOf: slot, pending: pending, since: &base, to: &writer)
    habits(of: slot)?.write(to: &writer)
  }

  private func write(events: [EventSlot], to writer: inout BinaryWriter) {
    writer.count(events.count)
    for event in events {
      writer.string(pending.events[event].id.text)
      writer.optionalString(pending.events[event].traceparent)
    }
  }

  private func write(
    instancesOf device: DeviceSlot, pending: [EventSlot], since base: inout Int64, to writer: inout BinaryWriter
  ) {
    var count = 0
    var counting = registry.instances(of: device)
    while counting.next(registry) != nil { count += 1 }
    writer.count(count)
    var index = 0
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      write(instance, expectedAt: index, pending: pending, since: &base, to: &writer)
      index = Int(registry.instances[instance].index) + 1
    }
  }

  /// Finds the events that wait on a device.
  /// - Parameters:
  ///   - device: The device.
  ///   - events: Receives the slot of each event once, in the order of instances and causes.
  func findPendingEvents(of device: DeviceSlot, _ events: inout [EventSlot]) {
    events.removeAll(keepingCapacity: true)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      var causes = pending.causes(of: registry.instances[instance].waiting)
      while let cause = causes.next(pending) {
        let event = pending.causes[cause].event
        if !events.contains(event) { events.append(event) }
      }
    }
  }

  private func bits(_ instance: InstanceState, _ waiting: Waiting, expectedAt index: Int) -> InstanceRecordBits {
    var bits: InstanceRecordBits = []
    bits.note(.pushEnabled, instance.flags.contains(.pushEnabled))
    bits.note(.retired, instance.flags.contains(.retired))
    bits.note(.chargedByLast, instance.day.chargedByLast)
    bits.note(.rolling, instance.day.isRolling)
    bits.note(.theta, instance.price.theta.bitPattern != 0)
    bits.note(
      .flow,
      instance.price.flow.bitPattern != 0 || instance.price.flowMean.bitPattern != 0 || instance.price.flowCount != 0
        || instance.price.flowAt != 0)
    bits.note(.calibratedAt, instance.price.calibratedAt != 0)
    bits.note(.windowEnd, instance.day.end.microseconds != 0)
    bits.note(.spent, instance.day.spent != 0)
    bits.note(.lastReload, instance.lastReload != .distantPast)
    bits.note(.due, waiting.due != .distantFuture)
    bits.note(.pendingValue, waiting.value.bitPattern != 0)
    bits.note(.causes, !waiting.isEmpty)
    bits.note(.held, instance.heldFor != .none)
    bits.note(.nextReload, instance.flags.contains(.reloads))
    bits.note(.surface, instance.surface != .widget)
    bits.note(.index, Int(instance.index) != index)
    return bits
  }

  private func write(
    _ slot: InstanceSlot, expectedAt index: Int, pending events: [EventSlot], since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    let instance = registry.instances[slot]
    let waiting = pending[instance.waiting]
    let charges = ledgers.rollingCharges.isEmpty ? [] : ledgers.rollingCharges[slot] ?? []
    var bits = bits(instance, waiting, expectedAt: index)
    bits.note(.charges, !charges.isEmpty)
    let id = registry.texts.bytes.span.extracting(registry.idRange(of: slot))
    let kind = rules[instance.kind].name
    let reload = registry.nextReload(slot)?.microseconds ?? 0
    let price = instance.price
    var newest = base
    writer.piece(ofAtMost: 16 * OutputSpan<UInt8>.varintMax + id.count + kind.utf8.count) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: kind.utf8.span)
      room.append(varint: UInt64(bits.rawValue))
      if bits.contains(.index) { room.append(varint: UInt64(instance.index)) }
      if bits.contains(.surface) { room.append(instance.surface.rawValue) }
      if bits.contains(.held) { room.append(instance.heldFor.number) }
      if bits.contains(.spent) { room.append(varint: UInt64(instance.day.spent)) }
      if bits.contains(.theta) { room.append(float: price.theta) }
      if bits.contains(.lastReload) { room.append(instant: instance.lastReload.microseconds, since: &newest) }
      if bits.contains(.windowEnd) {
        room.append(zigzag: instance.day.end.microseconds / 1_000_000 &- newest / 1_000_000)
      }
      if bits.contains(.calibratedAt) { room.append(seconds: price.calibratedAt, since: newest) }
      if bits.contains(.flow) {
        room.append(float: price.flow)
        room.append(float: price.flowMean)
        room.append(varint: UInt64(price.flowCount))
        room.append(seconds: price.flowAt, since: newest)
      }
      if bits.contains(.nextReload) { room.append(zigzag: reload &- newest) }
      if bits.contains(.due) { room.append(zigzag: waiting.due.microseconds &- newest) }
    }
    base = newest
    if bits.contains(.charges) {
      writer.count(charges.count)
      for charge in charges { writer.instant(charge.microseconds, since: &base) }
    }
    if bits.contains(.surface) { (registry.addressed[slot] ?? AddressedState()).write(since: base, to: &writer) }
    writeEntries(of: slot, to: &writer)
    if bits.contains(.pendingValue) { writer.float(waiting.value) }
    if bits.contains(.causes) { write(causesOf: slot, waiting, pending: events, since: &base, to: &writer) }
  }

  private func writeEntries(of instance: InstanceSlot, to writer: inout BinaryWriter) {
    writer.count(entryPlace(.absent, of: instance))
    var walk = registry.entries(of: instance)
    while let slot = walk.next(registry) {
      let entry = registry.entries[slot]
      let key = registry.texts.range(of: registry.interests.key(of: entry.interest))
      let form = FingerprintForm(shown: entry.shown, current: entry.current)
      let text = registry.texts.bytes.span.extracting(key)
      writer.piece(ofAtMost: OutputSpan<UInt8>.varintMax + text.count + 16) { room in
        room.append(varint: UInt64(text.count) << 2 | form.rawValue)
        room.append(text)
        if form == .both { room.append(fixed: entry.shown) }
        if form != .neither { room.append(fixed: entry.current) }
      }
    }
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
      writer.count(cause.entry.isAbsent ? 0 : entryPlace(cause.entry, of: instance) + 1)
      writer.count(events.firstIndex(of: cause.event) ?? 0)
      writer.float(cause.signedRelevance)
      writer.instant(cause.at.microseconds, since: &base)
      writer.zigzag(cause.expires.microseconds &- base)
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

extension OutputSpan<UInt8> {
  /// Appends the length of a text as a varint, then the text.
  @inline(__always)
  fileprivate mutating func append(lengthAnd text: Span<UInt8>) {
    append(varint: UInt64(text.count))
    append(text)
  }

  /// Appends an instant relative to `base`, and makes it the new `base`. µs.
  @inline(__always)
  fileprivate mutating func append(instant: Int64, since base: inout Int64) {
    append(zigzag: instant &- base)
    base = instant
  }

  /// Appends a 32-bit count of seconds since 1970, which may wrap, relative to `base` in µs.
  @inline(__always)
  fileprivate mutating func append(seconds: UInt32, since base: Int64) {
    append(zigzag: Int64(Int32(bitPattern: seconds &- UInt32(truncatingIfNeeded: base / 1_000_000))))
  }
}
