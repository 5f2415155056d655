import Domain

extension Planner {
  /// Hands over every record that changed since the last call, in an order that depends on the log only, and starts
  /// collecting anew. What is handed over is the state after the last `advance`.
  public mutating func takeChanges(_ body: StateRecordSink) {
    var writer = StateRecordWriter()
    for place in journal.devices.indices {
      if place % Self.hintsMax == 0 { prefetch(devices: journal.devices[place...].prefix(Self.hintsMax)) }
      let device = journal.devices[place]
      if registry.isUsed(device) { lend(device: device, &writer, body) }
    }
    // An id may have been removed and come back within the same stretch.
    for id in journal.removedDevices where registry.device(named: id) == nil {
      writer.begin("d", id)
      writer.lendRemoval(to: body)
    }
    for kind in pricing.takeTouchedKinds() { lend(kind: kind, &writer, body) }
    for id in journal.removedApps {
      writer.begin("a", id)
      writer.lendRemoval(to: body)
    }
    // After the removals: an app may have come back within the same stretch.
    for app in ledgers.takeTouchedApps() { lend(app: app, &writer, body) }
    subjects.takeNotes(now: now, bounds: bounds, body)
    if journal.policy { lendPolicy(&writer, body) }
    lendClock(&writer, body)
    journal.clear()
  }

  func lend(device: DeviceSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("d", utf8: registry.texts.bytes.span.extracting(registry.idRange(of: device)))
    writer.beginValue()
    findPendingEvents(of: device, &writer.pending)
    write(device, pending: writer.pending, to: &writer.binary)
    writer.lend(to: body)
  }

  func lend(kind: KindSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("k", rules[kind].name)
    writer.beginValue()
    pricing.curves[kind.index].write(to: &writer.binary)
    writer.lend(to: body)
  }

  func lend(app: AppSlot, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    let state = ledgers.apps[app]
    writer.begin("a", state.id)
    writer.beginValue()
    writer.binary.count(state.spent)
    writer.binary.zigzag(state.day ?? .min)
    writer.lend(to: body)
  }

  /// Only in a walk: the topic has it as notes.
  /// - Returns: whether the subject is still remembered.
  func lend(subject key: UInt64, _ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Bool {
    guard let subject = subjects.remembered(key) else { return false }
    writer.begin("m", String(key, radix: 16))
    writer.beginValue()
    subject.write(to: &writer.binary)
    writer.lend(to: body)
    return true
  }

  /// Only in a walk: that the chunk stands in the topic.
  func lend(chunk number: Int64, _ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    NoteChunk.begin(number, &writer)
    writer.binary.uint8(NoteChunk.size)
    writer.binary.varint(UInt64(subjects.log.size(of: number)))
    writer.lend(to: body)
  }

  /// - Returns: whether the policy in force came by the log.
  @discardableResult
  func lendPolicy(_ writer: inout StateRecordWriter, _ body: StateRecordSink) -> Bool {
    guard let document = rules.document else { return false }
    writer.begin("p", "policy")
    writer.beginValue()
    writer.binary.string(document)
    writer.lend(to: body)
    return true
  }

  func lendClock(_ writer: inout StateRecordWriter, _ body: StateRecordSink) {
    writer.begin("p", "clock")
    writer.beginValue()
    writer.binary.int64(now.microseconds)
    writer.binary.int64(pricing.hour)
    writer.binary.zigzag(subjects.generation)
    writer.binary.zigzag(rules.offset)
    writer.lend(to: body)
  }
}
