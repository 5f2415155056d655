import Domain

extension Planner {
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
      registry.unplaceEntries(of: instance)
      unused += pending.unplace(registry.instances[instance].waiting)
      remove(instance)
    }
    pricing.forget(device)
    // The app stays until all records are read, because records of other devices may name it.
    ledgers.apps.unjoin(registry.devices[device].app)
    registry.unplace(device)
    return unused
  }

  /// Reads the record `p/clock`: log time, and the counters of the planner's parts.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func readClock(_ reader: inout BinaryReader) throws(BinaryError) {
    let time = Timestamp(microseconds: try reader.int64("log time"))
    let period = try reader.int64("a period of ten minutes")
    let generation = try reader.zigzag("a generation")
    // A clock beyond these would overflow what is computed from it.
    let periods = Self.latestTime.microseconds / Pricing.period.microseconds
    guard time <= Self.latestTime, period == .min || (-periods...periods).contains(period),
      (0..<(1 << 62)).contains(generation)
    else { throw .corrupt(offset: reader.offset, what: "a clock before the year 10000") }
    now = time
    pricing.restore(period: period)
    subjects.restore(generation: generation)
    rules.restore(offset: try reader.zigzag("an offset"))
    firstOffsetNow = try reader.zigzag("an offset")
    _ = try Self.readChunkRange(&reader)
    try reader.end()
  }

  /// Reads the end of the record `p/clock`: the numbers of the chunks that hold devices.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  static func readChunkRange(_ reader: inout BinaryReader) throws(BinaryError) -> Range<Int64> {
    let first = try reader.int64("the number of a chunk")
    let next = try reader.int64("the number of a chunk")
    guard first >= 0, next >= first, next < 1 << 62, next - first < 1 << 31 else {
      throw .corrupt(offset: reader.offset, what: "chunks in the order of writing")
    }
    return first..<next
  }

  /// Builds the list of the chunks that hold devices, after `finishRestore`. Only the entries that live are known; the others are
  /// of no use.
  /// - Parameters:
  ///   - replay: The chunks that were read, and the versions of the devices.
  ///   - range: The numbers of the chunks that count, each of which was read.
  mutating func restore(_ replay: ChunkReplay, _ range: Range<Int64>) {
    var starts = ContiguousArray(repeating: 0, count: range.count + 1)
    for device in registry.devices.slots where registry.isUsed(device) {
      switch replay.life(of: device, in: range) {
      case .living(let chunk): starts[chunk + 1] += 1
      case .replaced, .uncommitted: touch(device)
      }
    }
    for chunk in 0..<range.count { starts[chunk + 1] += starts[chunk] }
    var devices = ContiguousArray(repeating: DeviceSlot.absent, count: starts[range.count])
    var ends = starts
    for device in registry.devices.slots where registry.isUsed(device) {
      guard case .living(let chunk) = replay.life(of: device, in: range) else { continue }
      devices[ends[chunk]] = device
      ends[chunk] += 1
    }
    deviceChunks = ChunkLog(first: range.lowerBound)
    for (chunk, number) in range.enumerated() {
      for device in devices[starts[chunk]..<starts[chunk + 1]] {
        registry[chunkPlace: device] = deviceChunks.append(device, replay.size(of: device))
      }
      deviceChunks.end(bytes: replay.known[number]?.bytes ?? 0)
    }
  }

  /// Reads the record of a kind.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func restore(kind name: Identifier, from reader: inout BinaryReader) throws(BinaryError) {
    try pricing.restore(knownKindSlot(name), from: &reader)
  }

  /// Reads the record of an app.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func restore(app id: Identifier, from reader: inout BinaryReader) throws(BinaryError) {
    let spent: Int = try reader.integer("tokens spent")
    let day = try reader.zigzag("a day")
    ledgers.apps.restore(appSlot(id), spent: spent, day: day, firstCharge: try reader.zigzag("an offset"))
  }

  /// Finishes a restore after the last record: builds the tables that follow from all devices, such as the interest index
  /// and the timers.
  mutating func finishRestore() {
    registry.finishDevices()
    registry.finishInterests()
    var waiting: [(waiting: WaitingSlot, instance: InstanceSlot, order: UInt64)] = []
    for instance in registry.instances.slots where !registry.instances[instance].waiting.isAbsent {
      waiting.append((registry.instances[instance].waiting, instance, registry.instances[instance].order))
    }
    pending.restoreTimers(waiting)
    for instance in registry.instances.slots where registry.isUsed(instance) {
      let state = registry.instances[instance]
      if !isInDeveloperMode(state.device), isCounted(instance, device: state.device) {
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
