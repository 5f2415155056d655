import Domain

extension Fleet {
  /// The bound on the sizes that `reserve` accepts. Larger ones come from damaged data and would only take memory.
  private static let reserveMax = 1 << 28

  /// Reserves room in the tables for a fleet of known size.
  /// - Parameter sizes: The approximate sizes; larger ones than `reserveMax` are cut.
  mutating func reserve(_ sizes: PlannerSizes) {
    registry.reserve(
      PlannerSizes(
        devices: min(sizes.devices, Self.reserveMax), instances: min(sizes.instances, Self.reserveMax),
        interests: min(sizes.interests, Self.reserveMax), keys: min(sizes.keys, Self.reserveMax),
        textBytes: min(sizes.textBytes, 64 * Self.reserveMax)))
  }

  /// Returns whether a device already has this slot.
  func isTaken(_ device: DeviceSlot) -> Bool {
    device.index < registry.devices.capacity && registry.isUsed(device)
  }

  /// Removes a device that a restore has added, with everything that belongs to it.
  /// - Returns: The events that nothing refers to any more.
  mutating func unplace(_ device: DeviceSlot) -> [EventSlot] {
    var unused: [EventSlot] = []
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      registry.unplaceEntries(of: instance, screens: &screens)
      unused += pending.unplace(registry.instances[instance].waiting)
      remove(instance)
    }
    pricing.forget(device)
    // The app stays until all records are read, because records of other devices may name it.
    ledgers.apps.unjoin(registry.devices[device].app)
    registry.unplace(device)
    return unused
  }

  /// Reads the record `p/clock`: log time, the counters of the planner's parts, and the hash key.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func readClock(_ reader: inout BinaryReader) throws(BinaryError) {
    let time = Timestamp(microseconds: try reader.int64("log time"))
    let period = try reader.int64("a period of ten minutes")
    let generation = try reader.zigzag("a generation")
    // A clock beyond these would overflow what is computed from it.
    let periods = Self.latestTime.microseconds / Pricing.period.microseconds
    guard time <= Self.latestTime, period == .min || (-periods...periods).contains(period),
      (0..<(1 << 30)).contains(generation)
    else { throw .corrupt(offset: reader.offset, what: "a clock before the year 10000") }
    now = time
    pricing.restore(period: period)
    subjects.restore(generation: generation)
    rules.restore(offset: try reader.zigzag("an offset"))
    firstOffsetNow = try reader.zigzag("an offset")
    let key = try reader.hash("a hash key")
    rules.restore(hashKey: HashKey(low: key.low, high: key.high))
    // `PlannerRestore` has read what follows.
    guard reader.remaining == StateExtent.bytesCount else {
      throw .corrupt(offset: reader.offset, what: "the size of the state, and no more")
    }
  }

  /// Builds the list of the chunks that hold devices, after `finishRestore`.
  /// - Parameters:
  ///   - replay: The chunks that were read, and the versions of the devices.
  ///   - range: The numbers of the chunks that count, each of which was read.
  mutating func restore(_ replay: ChunkReplay<DeviceTag>, _ range: Range<Int64>) {
    var used: ContiguousArray<DeviceSlot> = []
    used.reserveCapacity(registry.deviceCount)
    for device in registry.devices.slots where registry.isUsed(device) { used.append(device) }
    deviceChunks = ChunkLog(replay, range, used) { device, place in
      if place.isEntry { registry[chunkPlace: device] = place } else { touch(device) }
    }
  }

  /// Reads the record of a kind.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func restore(kind name: Identifier, from reader: inout BinaryReader) throws(BinaryError) {
    let kind = knownKindSlot(name)
    rules.restore(era: try reader.varint("an era"), of: kind)
    try pricing.restore(kind, from: &reader)
  }

  /// Reads the record of an app.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func restore(app id: Identifier, from reader: inout BinaryReader) throws(BinaryError) {
    let spent: Int = try reader.integer("tokens spent")
    let day = try reader.zigzag("a day")
    let firstCharge = try reader.zigzag("an offset")
    let refunded: Int = try reader.integer("refunds")
    let refundDay = try reader.zigzag("a day")
    ledgers.apps.restore(
      appSlot(id), spent: spent, day: day, firstCharge: firstCharge, refunded: refunded, refundDay: refundDay)
  }

  /// Finishes a restore after the last record: builds the tables that follow from all devices, such as the interest index
  /// and the timers.
  mutating func finishRestore() {
    registry.finishDevices()
    registry.finishInterests()
    indexTokens()
    var waiting: [(waiting: WaitingSlot, instance: InstanceSlot, order: UInt64)] = []
    for instance in registry.instances.slots where !registry.instances[instance].waiting.isAbsent {
      waiting.append((registry.instances[instance].waiting, instance, registry.instances[instance].order))
    }
    pending.restoreTimers(waiting, now: now)
    for device in registry.devices.slots where registry.isUsed(device) { registry.noteWritten(device) }
    for instance in registry.instances.slots where registry.isUsed(instance) {
      let state = registry.instances[instance]
      if !registry.isInDeveloperMode(state.device), registry.isCounted(instance, device: state.device) {
        pricing.restorePopulation(state.kind, registry.devices[state.device].zone)
      }
    }
    pricing.untouchKinds()
    // Removes the apps of devices that were removed again. An app with a record stays until its day is over, because its
    // record has to be removed with it.
    for app in ledgers.apps.slots where ledgers.apps[app].day == nil { _ = ledgers.apps.purge(app, now: now) }
    journal.clear()
  }
}
