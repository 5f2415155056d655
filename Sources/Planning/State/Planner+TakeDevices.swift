import Domain

extension Planner {
  /// Hands over the devices that changed or were removed since the last call as chunks, moves what lives in the oldest chunks to
  /// new ones as far as `ChunkLog` says, and removes the chunks in which nothing lives any more.
  /// - Parameter body: Receives each record.
  mutating func takeDevices(_ body: StateRecordSink) {
    let (begun, before) = (deviceChunks.next, deviceChunks.liveBytes)
    var (writer, version) = (ChunkWriter(.devices, bytesMax: bounds.stateChunkBytesMax), StateRecordWriter())
    // A loop of its own, so that the waits for memory overlap.
    for place in journal.former { deviceChunks.drop(place) }
    for place in journal.devices.indices {
      if place % Self.hintsMax == 0 { prefetch(devices: journal.devices[place...].prefix(Self.hintsMax)) }
      let device = journal.devices[place]
      if registry[chunkPlace: device] == .changed { append(device, to: &writer, &version, body) }
    }
    for removal in journal.removedDevices {
      deviceChunks.drop(removal.place)
      // A device may have been removed and registered again since the last call.
      if registry.device(named: removal.id) == nil {
        writer.appendRemoval(of: removal.id.utf8.span, &deviceChunks, body)
      }
    }
    let first = deviceChunks.first
    let allowance = ChunkAllowance(
      begun: begun, deviceChunks, bytes: writer.bytes, shrunk: max(0, before - deviceChunks.liveBytes),
      spareBytes: bounds.stateSpareBytes)
    moveOldest(allowance, to: &writer, &version, body)
    writer.end(&deviceChunks, body)
    for number in first..<deviceChunks.first { body(StateKey.chunk(number, of: .devices)[...], nil) }
  }

  private mutating func append(
    _ device: DeviceSlot, to writer: inout ChunkWriter, _ version: inout StateRecordWriter, _ body: StateRecordSink
  ) {
    version.binary.reset()
    findPendingEvents(of: device, &version.pending)
    write(device, pending: version.pending, to: &version.binary)
    // Shared for the call, not copied: nothing changes the texts meanwhile.
    let (texts, id) = (registry.texts.bytes, registry.idRange(of: device))
    registry[chunkPlace: device] = writer.append(
      device, id: texts.span.extracting(id), version.binary.bytes.span, &deviceChunks, body)
  }

  /// Passes the entries of the oldest chunks, as many as the new ones pay for.
  /// - Parameters:
  ///   - allowance: The allowance of this commit.
  ///   - writer: Receives what still lives.
  ///   - version: Room for one device.
  ///   - body: Receives each record.
  private mutating func moveOldest(
    _ allowance: ChunkAllowance, to writer: inout ChunkWriter, _ version: inout StateRecordWriter,
    _ body: StateRecordSink
  ) {
    var allowance = allowance
    var (ahead, living) = (0, ContiguousArray<DeviceSlot>())
    while let oldest = allowance.oldest(&deviceChunks) {
      if ahead == 0 {
        ahead = Self.hintsMax
        prefetchOldest(&living)
      }
      ahead -= 1
      if registry[chunkPlace: oldest.slot] == oldest.place {
        guard allowance.moves(deviceChunks, writer) else { return }
        let written = writer.bytes
        deviceChunks.drop(oldest.place)
        append(oldest.slot, to: &writer, &version, body)
        allowance.note(moved: writer.bytes - written)
      } else if !allowance.passes(oldest.bytes) {
        return
      }
      deviceChunks.pass()
    }
  }

  /// Loads what the next of the oldest entries need into the processor's caches.
  /// - Parameter living: Room for the devices that live in them.
  private borrowing func prefetchOldest(_ living: inout ContiguousArray<DeviceSlot>) {
    living.removeAll(keepingCapacity: true)
    for distance in 0..<Self.hintsMax {
      guard let entry = deviceChunks.entry(distance) else { break }
      if registry[chunkPlace: entry.slot] == entry.place { living.append(entry.slot) }
    }
    prefetch(devices: living[...])
  }

  /// Checks that each device lives in the chunk entry that it names, unless the next commit writes it. For tests.
  func checkChunks() {
    let changed = Set(journal.devices)
    // Between the change of a device and the commit, `former` has its place.
    var places: [DeviceSlot: ChunkPlace] = [:]
    for (device, former) in zip(journal.devices, journal.former) where former.isEntry { places[device] = former }
    for device in registry.devices.slots where registry.isUsed(device) {
      let place = registry[chunkPlace: device]
      precondition(place == .changed ? changed.contains(device) : place.isEntry, "a device that no commit writes")
    }
    guard journal.removedDevices.isEmpty else { return }
    deviceChunks.checkInvariants(registry.devices.slots) { device in
      let place = registry[chunkPlace: device]
      return place == .changed ? places[device] ?? place : place
    }
  }
}
