import Domain

extension Fleet {
  /// See `Planner.takeChanges(_:)`.
  mutating func takeChanges(_ body: StateRecordSink) {
    var writer = StateRecordWriter()
    takeDevices(body)
    for kind in pricing.takeTouchedKinds() { lend(kind: kind, &writer, body) }
    for id in journal.removedApps {
      writer.begin("a", id)
      writer.lendRemoval(to: body)
    }
    // Written after the removals, because an app may have been removed and made again since the last call.
    for app in ledgers.apps.takeTouched() { lend(app: app, &writer, body) }
    subjects.takeNotes(bounds: bounds, body)
    if journal.policy, let pieces = lendPolicy(&writer, body) {
      let before = journal.note(policyPieces: pieces)
      // Removes the pieces of the last version that are left over.
      for number in pieces..<max(pieces, before) { body(SplitRecord.key(of: number + 1, writer.key)[...], nil) }
    }
    lendClock(&writer, body)
    journal.clear()
  }

  /// Writes the record of a device, with its place. Only local snapshots have such records; the topic has chunks.
  func lend(device: DeviceSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("d", utf8: registry.texts.bytes.span.extracting(registry.idRange(of: device)))
    writer.beginValue()
    findPendingEvents(of: device, .whole, &writer.pending)
    write(device, pending: writer.pending, to: &writer.binary)
    // Last and of a fixed size, because only these depend on the grouping of log records into commits.
    // Additions to the version before do not fit a device that was rebuilt since. The next chunks have it whole.
    let isRebuilt = registry.devices[device].flags.contains(.rebuilt)
    let place = isRebuilt ? .unwritten : registry[chunkPlace: device]
    writer.binary.int64(deviceChunks.chunk(of: place))
    writer.binary.uint8(deviceChunks.size(of: place).code)
    writer.lend(inPiecesOf: bounds.stateRecordBytesMax, to: body)
  }

  /// Writes the record of a kind.
  func lend(kind: KindSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("k", rules[kind].name)
    writer.beginValue()
    writer.binary.varint(rules[kind].era)
    pricing.kinds[kind.index].demand.write(to: &writer.binary)
    writer.lend(to: body)
  }

  /// Writes the record of an app.
  func lend(app: AppSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    let state = ledgers.apps[app]
    writer.begin("a", state.id)
    writer.beginValue()
    writer.binary.count(state.spent)
    writer.binary.zigzag(state.day ?? .min)
    writer.binary.zigzag(state.firstCharge)
    writer.binary.count(state.refunded)
    writer.binary.zigzag(state.refundDay)
    writer.lend(to: body)
  }

  /// Writes the record of one entry of the subject memory. Only local snapshots have such records; the topic has notes.
  /// - Returns: Whether the memory still has the entry.
  func lend(subject key: KeyedHash, _ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Bool {
    guard var subject = subjects.remembered(key) else { return false }
    writer.begin("m", key.hex)
    writer.beginValue()
    subject.fields(&writer.binary)
    // Last and of a fixed size, because only these depend on the grouping of log records into commits.
    writer.binary.int64(subjects.log.chunk(of: subject.place))
    writer.binary.uint8(subjects.log.size(of: subject.place).code)
    writer.lend(to: body)
    return true
  }

  /// The numbers of the chunks of a sort, oldest first.
  func chunks(of sort: ChunkSort) -> Range<Int64> {
    switch sort {
    case .devices: deviceChunks.first..<deviceChunks.next
    case .notes: subjects.log.first..<subjects.log.next
    }
  }

  /// Writes the size of a chunk. Only local snapshots have such records; the topic has the chunk itself.
  func lend(chunk number: Int64, of sort: ChunkSort, _ body: StateRecordSink) {
    var writer = ChunkWriter(sort, bytesMax: bounds.stateChunkBytesMax)
    switch sort {
    case .devices: writer.lendSize(of: number, deviceChunks.size(of: number), body)
    case .notes: writer.lendSize(of: number, subjects.log.size(of: number), body)
    }
  }

  /// Writes the policy in force, if it came from a log record.
  /// - Returns: The number of pieces that follow the first one; nil if the policy did not come from a log record.
  @discardableResult
  func lendPolicy(_ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Int? {
    guard let document = rules.document else { return nil }
    writer.begin("p", "policy")
    writer.beginValue()
    writer.binary.string(document)
    return writer.lend(inPiecesOf: bounds.stateRecordBytesMax, to: body)
  }

  /// Writes the record `p/clock`: log time, the counters of the planner's parts, the hash key, and the size of the state.
  func lendClock(_ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("p", "clock")
    writer.beginValue()
    writer.binary.int64(now.microseconds)
    writer.binary.int64(pricing.period)
    writer.binary.zigzag(subjects.generation)
    writer.binary.zigzag(rules.offset)
    writer.binary.zigzag(firstOffsetNow)
    for half in [hashKey.low, hashKey.high] { writer.binary.int64(Int64(bitPattern: half)) }
    stateExtent.write(to: &writer.binary)
    writer.lend(to: body)
  }
}
