import Domain

/// The head of a device's record (format version 4), a varint: its flags, and which parts are there. What is not is as
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
    writer.varint(UInt64(slot))
    writer.varint(UInt64(bits.rawValue))
    writer.string(apps[Int(device.app)].id)
    writer.string(zones[Int(device.zone)].id)
    writer.varint(UInt64(device.osVersion.major))
    writer.varint(UInt64(device.osVersion.minor))
    if bits.contains(.tokens) {
      writer.string(utf8: texts.bytes.span.extracting(texts.range(of: device.tokens)))
    }
    var base: Int64 = 0
    if bits.contains(.updatedAt) { writer.instant(device.updatedAt, since: &base) }
    if bits.contains(.pushTAT) { writer.instant(device.pushTAT, since: &base) }
    if bits.contains(.backgroundTAT) { writer.zigzag(device.backgroundTAT &- base) }
    if bits.contains(.startTAT) { writer.zigzag(rare.startTAT &- base) }
    if bits.contains(.foregroundSince) { writer.zigzag(rare.foregroundSince &- base) }
    if bits.contains(.command) {
      writer.uint8(device.commandRoute)
      writer.zigzag(device.commandOffset)
      writer.varint(UInt64(device.commandOrdinal))
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
    writer.string(utf8: texts.bytes.span.extracting(texts.range(of: instanceIDs.handle(instance.id))))
    writer.string(kinds[Int(instance.kind)].name)
    writer.varint(UInt64(bits.rawValue))
    if bits.contains(.index) { writer.varint(UInt64(instance.index)) }
    if bits.contains(.surface) { writer.uint8(instance.surface.rawValue) }
    if bits.contains(.held) { writer.uint8(instance.held) }
    if bits.contains(.spent) { writer.varint(UInt64(instance.spent)) }
    if bits.contains(.theta) { writer.float(instance.theta) }
    if bits.contains(.lastReload) { writer.instant(instance.lastReload, since: &base) }
    if bits.contains(.windowEnd) { writer.zigzag(instance.windowEnd / 1_000_000 &- base / 1_000_000) }
    if bits.contains(.calibratedAt) { writer.seconds(instance.calibratedAt, since: base) }
    if bits.contains(.flow) {
      writer.float(instance.flow)
      writer.float(instance.flowMean)
      writer.varint(UInt64(instance.flowCount))
      writer.seconds(instance.flowAt, since: base)
    }
    if bits.contains(.nextReload) { writer.zigzag(nextReload(slot) &- base) }
    if bits.contains(.due) { writer.zigzag(waiting.due &- base) }
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
      writer.varint(UInt64(key.count) << 2 | form.rawValue)
      writer.text(utf8: texts.bytes.span.extracting(key))
      if form == .both { writer.int64(Int64(bitPattern: entry.shown)) }
      if form != .neither { writer.int64(Int64(bitPattern: entry.current)) }
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

  /// An instant in whole seconds that wrap.
  fileprivate mutating func seconds(_ seconds: UInt32, since base: Int64) {
    zigzag(Int64(Int32(bitPattern: seconds &- UInt32(truncatingIfNeeded: base / 1_000_000))))
  }
}
