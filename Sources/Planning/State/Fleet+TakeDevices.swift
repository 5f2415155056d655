import Domain

extension Fleet {
  /// Hands over the devices that changed or were removed since the last call as chunks, moves what lives in the oldest chunks to
  /// new ones as far as `ChunkLog` says, and removes the chunks in which nothing lives any more.
  /// - Parameter body: Receives each record.
  mutating func takeDevices(_ body: StateRecordSink) {
    let begun = deviceChunks.next
    var (writer, version) = (ChunkWriter(.devices, bytesMax: bounds.stateChunkBytesMax), StateRecordWriter())
    for place in journal.devices.indices {
      if place % Self.prefetchMax == 0 { prefetch(devices: journal.devices[place...].prefix(Self.prefetchMax)) }
      let device = journal.devices[place]
      if registry.devices[device].flags.contains(.changed) { write(device, to: &writer, &version, body) }
    }
    for removal in journal.removedDevices {
      deviceChunks.drop(removal.place)
      // A device may have been removed and registered again since the last call.
      if registry.device(named: removal.id) == nil {
        writer.appendRemoval(of: removal.id.utf8.span, &deviceChunks, body)
      }
    }
    let first = deviceChunks.first
    let shrunk = deviceChunks.takeShrunk()
    let allowance = ChunkAllowance(
      begun: begun, deviceChunks, bytes: writer.bytes, shrunk: shrunk, spareBytes: bounds.stateSpareBytes)
    moveOldest(allowance, to: &writer, &version, body)
    writer.end(&deviceChunks, body)
    for number in first..<deviceChunks.first { body(StateKey.chunk(number, of: .devices)[...], nil) }
  }

  /// Writes a device that has changed: what has changed, or a new version.
  private mutating func write(
    _ device: DeviceSlot, to writer: inout ChunkWriter, _ version: inout StateRecordWriter, _ body: StateRecordSink
  ) {
    let place = registry[chunkPlace: device]
    if place.isEntry, !registry.devices[device].flags.contains(.rebuilt) {
      version.binary.reset()
      findPendingEvents(of: device, .addition, &version.pending)
      write(
        additionTo: device, in: deviceChunks.chunk(of: place), pending: version.pending, to: &version.binary)
      if writer.appendAddition(id: Span(), version.binary.bytes.span, &deviceChunks, body) {
        return registry.noteWritten(device)
      }
    }
    append(device, to: &writer, &version, body)
  }

  /// Appends a new version of a device.
  private mutating func append(
    _ device: DeviceSlot, to writer: inout ChunkWriter, _ version: inout StateRecordWriter, _ body: StateRecordSink
  ) {
    deviceChunks.drop(registry[chunkPlace: device])
    version.binary.reset()
    findPendingEvents(of: device, .whole, &version.pending)
    write(device, pending: version.pending, to: &version.binary)
    // Shared for the call, not copied: nothing changes the texts meanwhile.
    let (texts, id) = (registry.texts.bytes, registry.idRange(of: device))
    registry[chunkPlace: device] = writer.append(
      device, id: texts.span.extracting(id), version.binary.bytes.span, &deviceChunks, body)
    registry.noteWritten(device)
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
        ahead = Self.prefetchMax
        prefetchOldest(&living)
      }
      ahead -= 1
      if registry[chunkPlace: oldest.slot] == oldest.place {
        guard allowance.moves(deviceChunks, writer) else { return }
        let written = writer.bytes
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
    for distance in 0..<Self.prefetchMax {
      guard let entry = deviceChunks.entry(distance) else { break }
      if registry[chunkPlace: entry.slot] == entry.place { living.append(entry.slot) }
    }
    prefetch(devices: living[...])
  }

  /// Checks that each device lives in the chunk entry that it names, unless the next commit writes it. For tests.
  func checkChunks() {
    let listed = Set(journal.devices)
    for device in registry.devices.slots where registry.isUsed(device) {
      let flags = registry.devices[device].flags
      precondition(!flags.contains(.changed) || listed.contains(device), "a changed device that no commit writes")
      precondition(flags.contains(.changed) || !flags.contains(.rebuilt), "a rebuilt device that no commit writes")
      precondition(
        flags.contains(.changed) || registry[chunkPlace: device].isEntry, "a new device that no commit writes")
    }
    guard journal.removedDevices.isEmpty else { return }
    deviceChunks.checkInvariants(registry.devices.slots) { registry[chunkPlace: $0] }
  }
}
