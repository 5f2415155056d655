import Domain
import JSON

/// The head of a device's record, a varint: its flags, and which parts are there. What is not is as
/// it is at the beginning; most parts of most devices are.
///
/// Instants are distances from the newest one that was written before them (`updatedAt` to begin with), in µs or, where
/// the planner keeps whole seconds, in those: a record's instants lie close together, so they take one to five bytes.
struct DeviceRecordBits: OptionSet {
  var rawValue: UInt32

  /// `DeviceState.Flags.stored`.
  static let flags = DeviceRecordBits(rawValue: 1023)
  static let tokens = DeviceRecordBits(rawValue: 1 << 10)
  static let updatedAt = DeviceRecordBits(rawValue: 1 << 11)
  static let pushTAT = DeviceRecordBits(rawValue: 1 << 12)
  static let backgroundTAT = DeviceRecordBits(rawValue: 1 << 13)
  static let command = DeviceRecordBits(rawValue: 1 << 14)
  static let events = DeviceRecordBits(rawValue: 1 << 15)
  static let startTAT = DeviceRecordBits(rawValue: 1 << 16)
  static let foregroundSince = DeviceRecordBits(rawValue: 1 << 17)

  /// - Parameter here: whether the part is there.
  mutating func note(_ part: DeviceRecordBits, _ here: Bool) { if here { insert(part) } }
}

/// The head of an instance within its device's record: like `DeviceRecordBits`, what is frequent in the lower bits.
struct InstanceRecordBits: OptionSet {
  var rawValue: UInt32

  static let pushEnabled = InstanceRecordBits(rawValue: 1)
  static let theta = InstanceRecordBits(rawValue: 1 << 1)
  /// `flow`, `flowMean`, `flowCount` and `flowAt`.
  static let flow = InstanceRecordBits(rawValue: 1 << 2)
  static let calibratedAt = InstanceRecordBits(rawValue: 1 << 3)
  static let windowEnd = InstanceRecordBits(rawValue: 1 << 4)
  static let spent = InstanceRecordBits(rawValue: 1 << 5)
  static let lastReload = InstanceRecordBits(rawValue: 1 << 6)
  static let due = InstanceRecordBits(rawValue: 1 << 7)
  static let pendingValue = InstanceRecordBits(rawValue: 1 << 8)
  /// What waits, and `pendingAt`.
  static let causes = InstanceRecordBits(rawValue: 1 << 9)
  static let held = InstanceRecordBits(rawValue: 1 << 10)
  static let chargedByLast = InstanceRecordBits(rawValue: 1 << 11)
  static let nextReload = InstanceRecordBits(rawValue: 1 << 12)
  static let retired = InstanceRecordBits(rawValue: 1 << 13)
  static let rolling = InstanceRecordBits(rawValue: 1 << 14)
  static let charges = InstanceRecordBits(rawValue: 1 << 15)
  /// It is no widget, so it has an address of its own.
  static let surface = InstanceRecordBits(rawValue: 1 << 16)
  /// It does not follow the instance before it by one.
  static let index = InstanceRecordBits(rawValue: 1 << 17)

  /// - Parameter here: whether the part is there.
  mutating func note(_ part: InstanceRecordBits, _ here: Bool) { if here { insert(part) } }
}

/// Which fingerprints stand behind an interest key, in the lowest two bits of its length.
enum FingerprintForm: UInt64 {
  case neither, current
  /// What is shown is what is current: one stands for both.
  case same
  /// `shown`, then `current`.
  case both

  init(shown: UInt64, current: UInt64) {
    self = shown == current ? (current == 0 ? .neither : .same) : shown == 0 ? .current : .both
  }
}

extension Planner {
  func write(device slot: UInt32, pending: [UInt32], to writer: inout BinaryWriter) {
    let device = devices[slot]
    let rare = rare(slot)
    var bits = DeviceRecordBits(rawValue: UInt32(device.flags.intersection(.stored).rawValue))
    bits.note(.tokens, device.tokens != TextPool.noText)
    bits.note(.updatedAt, device.updatedAt != .min)
    bits.note(.pushTAT, device.pushTAT != 0)
    bits.note(.backgroundTAT, device.backgroundTAT != 0)
    bits.note(.command, device.commandOffset != -1 || device.commandOrdinal != 0 || device.commandRoute != 0)
    bits.note(.events, !pending.isEmpty)
    bits.note(.startTAT, rare.startTAT != 0)
    bits.note(.foregroundSince, rare.foregroundSince != 0)
    let (app, zone) = (apps[device.app].id, zones[Int(device.zone)].id)
    let tokens = texts.bytes.span.extracting(bits.contains(.tokens) ? texts.range(of: device.tokens) : 0..<0)
    var base: Int64 = 0
    let names = app.utf8.count + zone.utf8.count + tokens.count
    writer.piece(ofAtMost: 15 * OutputSpan<UInt8>.varintMax + names) { room in
      room.append(varint: UInt64(slot))
      room.append(varint: UInt64(bits.rawValue))
      room.append(lengthAnd: app.utf8.span)
      room.append(lengthAnd: zone.utf8.span)
      room.append(varint: UInt64(device.osVersion.major))
      room.append(varint: UInt64(device.osVersion.minor))
      if bits.contains(.tokens) { room.append(lengthAnd: tokens) }
      if bits.contains(.updatedAt) { room.append(instant: device.updatedAt, since: &base) }
      if bits.contains(.pushTAT) { room.append(instant: device.pushTAT, since: &base) }
      if bits.contains(.backgroundTAT) { room.append(zigzag: device.backgroundTAT &- base) }
      if bits.contains(.startTAT) { room.append(zigzag: rare.startTAT &- base) }
      if bits.contains(.foregroundSince) { room.append(zigzag: rare.foregroundSince &- base) }
      if bits.contains(.command) {
        room.append(device.commandRoute)
        room.append(zigzag: device.commandOffset)
        room.append(varint: UInt64(device.commandOrdinal))
      }
    }
    if bits.contains(.events) { write(events: pending, to: &writer) }
    write(instancesOf: slot, pending: pending, since: &base, to: &writer)
    habits(of: slot)?.write(to: &writer)
  }

  private func write(events pending: [UInt32], to writer: inout BinaryWriter) {
    writer.count(pending.count)
    for event in pending {
      writer.string(events[event].id)
      writer.optionalString(events[event].traceparent)
    }
  }

  private func write(
    instancesOf slot: UInt32, pending: [UInt32], since base: inout Int64, to writer: inout BinaryWriter
  ) {
    var count = 0
    var instance = devices[slot].firstInstance
    while instance != none {
      count += 1
      instance = instances[instance].next
    }
    writer.count(count)
    var index = 0
    instance = devices[slot].firstInstance
    while instance != none {
      write(instance: instance, expectedAt: index, pending: pending, since: &base, to: &writer)
      index = Int(instances[instance].index) + 1
      instance = instances[instance].next
    }
  }

  /// Slots of the events that wait on the device, each once, in the order of instances and causes.
  func findPendingEvents(device slot: UInt32, _ pending: inout [UInt32]) {
    pending.removeAll(keepingCapacity: true)
    var instance = devices[slot].firstInstance
    while instance != none {
      var cause = waiting(instance).firstCause
      while cause != none {
        if !pending.contains(causes[cause].event) { pending.append(causes[cause].event) }
        cause = causes[cause].next
      }
      instance = instances[instance].next
    }
  }

  private func bits(_ instance: InstanceState, _ waiting: Waiting, expectedAt index: Int) -> InstanceRecordBits {
    var bits: InstanceRecordBits = []
    bits.note(.pushEnabled, instance.flags.contains(.pushEnabled))
    bits.note(.retired, instance.flags.contains(.retired))
    bits.note(.chargedByLast, instance.flags.contains(.chargedByLast))
    bits.note(.rolling, instance.flags.contains(.rolling))
    bits.note(.theta, instance.theta.bitPattern != 0)
    bits.note(
      .flow,
      instance.flow.bitPattern != 0 || instance.flowMean.bitPattern != 0 || instance.flowCount != 0
        || instance.flowAt != 0)
    bits.note(.calibratedAt, instance.calibratedAt != 0)
    bits.note(.windowEnd, instance.windowEnd != 0)
    bits.note(.spent, instance.spent != 0)
    bits.note(.lastReload, instance.lastReload != .min)
    bits.note(.due, waiting.due != .max)
    bits.note(.pendingValue, waiting.pendingValue.bitPattern != 0)
    bits.note(.causes, waiting.firstCause != none)
    bits.note(.held, instance.held != 0)
    bits.note(.nextReload, instance.flags.contains(.reloads))
    bits.note(.surface, instance.surface != .widget)
    bits.note(.index, Int(instance.index) != index)
    return bits
  }

  private func write(
    instance slot: UInt32, expectedAt index: Int, pending: [UInt32], since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    let instance = instances[slot]
    let waiting = waiting(slot)
    let charges = rollingCharges.isEmpty ? [] : rollingCharges[slot] ?? []
    var bits = bits(instance, waiting, expectedAt: index)
    bits.note(.charges, !charges.isEmpty)
    let id = texts.bytes.span.extracting(texts.range(of: instanceIDs.handle(instance.id)))
    let kind = kinds[Int(instance.kind)].name
    let reload = bits.contains(.nextReload) ? nextReload(slot) : 0
    var newest = base
    writer.piece(ofAtMost: 16 * OutputSpan<UInt8>.varintMax + id.count + kind.utf8.count) { room in
      room.append(lengthAnd: id)
      room.append(lengthAnd: kind.utf8.span)
      room.append(varint: UInt64(bits.rawValue))
      if bits.contains(.index) { room.append(varint: UInt64(instance.index)) }
      if bits.contains(.surface) { room.append(instance.surface.rawValue) }
      if bits.contains(.held) { room.append(instance.held) }
      if bits.contains(.spent) { room.append(varint: UInt64(instance.spent)) }
      if bits.contains(.theta) { room.append(float: instance.theta) }
      if bits.contains(.lastReload) { room.append(instant: instance.lastReload, since: &newest) }
      if bits.contains(.windowEnd) { room.append(zigzag: instance.windowEnd / 1_000_000 &- newest / 1_000_000) }
      if bits.contains(.calibratedAt) { room.append(seconds: instance.calibratedAt, since: newest) }
      if bits.contains(.flow) {
        room.append(float: instance.flow)
        room.append(float: instance.flowMean)
        room.append(varint: UInt64(instance.flowCount))
        room.append(seconds: instance.flowAt, since: newest)
      }
      if bits.contains(.nextReload) { room.append(zigzag: reload &- newest) }
      if bits.contains(.due) { room.append(zigzag: waiting.due &- newest) }
    }
    base = newest
    if bits.contains(.charges) {
      writer.count(charges.count)
      for charge in charges { writer.instant(charge, since: &base) }
    }
    if bits.contains(.surface) { (addressed[slot] ?? AddressedState()).write(since: base, to: &writer) }
    writeEntries(of: slot, to: &writer)
    if bits.contains(.pendingValue) { writer.float(waiting.pendingValue) }
    if bits.contains(.causes) { write(causesOf: slot, waiting, pending: pending, since: &base, to: &writer) }
  }

  private func writeEntries(of instance: UInt32, to writer: inout BinaryWriter) {
    writer.count(entryPlace(none, of: instance))
    var slot = instances[instance].firstEntry
    while slot != none {
      let entry = entries[slot]
      let key = texts.range(of: interests.key(of: entry.interest))
      let form = FingerprintForm(shown: entry.shown, current: entry.current)
      let text = texts.bytes.span.extracting(key)
      writer.piece(ofAtMost: OutputSpan<UInt8>.varintMax + text.count + 16) { room in
        room.append(varint: UInt64(text.count) << 2 | form.rawValue)
        room.append(text)
        if form == .both { room.append(fixed: entry.shown) }
        if form != .neither { room.append(fixed: entry.current) }
      }
      slot = entry.next
    }
  }

  private func write(
    causesOf instance: UInt32, _ waiting: Waiting, pending: [UInt32], since base: inout Int64,
    to writer: inout BinaryWriter
  ) {
    writer.instant(waiting.pendingAt, since: &base)
    writer.count(Int(waiting.causes))
    var slot = waiting.firstCause
    while slot != none {
      let cause = causes[slot]
      // A key that the instance no longer listens to has no entry any more.
      writer.count(cause.entry == none ? 0 : entryPlace(cause.entry, of: instance) + 1)
      writer.count(pending.firstIndex(of: cause.event) ?? 0)
      writer.float(cause.signedRelevance)
      writer.instant(cause.at, since: &base)
      writer.zigzag(cause.expires &- base)
      slot = cause.next
    }
  }

  /// The place of an interest entry among those of its instance; for `none` their count.
  private func entryPlace(_ entry: UInt32, of instance: UInt32) -> Int {
    var place = 0
    var other = instances[instance].firstEntry
    while other != entry, other != none {
      place += 1
      other = entries[other].next
    }
    return place
  }
}

extension BinaryWriter {
  /// An instant, as a distance from the one before, whose place it takes.
  fileprivate mutating func instant(_ instant: Int64, since base: inout Int64) {
    zigzag(instant &- base)
    base = instant
  }
}

extension OutputSpan<UInt8> {
  /// Length and bytes.
  @inline(__always)
  fileprivate mutating func append(lengthAnd text: Span<UInt8>) {
    append(varint: UInt64(text.count))
    append(text)
  }

  /// An instant, as a distance from the one before, whose place it takes.
  @inline(__always)
  fileprivate mutating func append(instant: Int64, since base: inout Int64) {
    append(zigzag: instant &- base)
    base = instant
  }

  /// An instant in whole seconds that wrap.
  @inline(__always)
  fileprivate mutating func append(seconds: UInt32, since base: Int64) {
    append(zigzag: Int64(Int32(bitPattern: seconds &- UInt32(truncatingIfNeeded: base / 1_000_000))))
  }
}
