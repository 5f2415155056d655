extension Fleet {
  /// See `Planner.writeState(from:recordsMax:_:)`.
  func writeState(from walk: inout StateWalk, recordsMax: Int, _ body: StateRecordSink) -> Bool {
    var writer = StateRecordWriter()
    var left = max(1, recordsMax)
    while left > 0 {
      switch walk.part {
      case .devices(let slot): walk.part = walkDevices(from: slot, &left, &writer, body)
      case .kinds(let kind):
        guard kind.index < rules.kinds.count else {
          walk.part = .apps(next: AppSlot(0))
          continue
        }
        lend(kind: kind, &writer, body)
        walk.part = .kinds(next: KindSlot(kind.number + 1))
        left -= 1
      case .apps(let app):
        guard app.index < ledgers.apps.capacity else {
          walk.part = .subjects(subjects.keys, next: 0)
          continue
        }
        // An app that has spent nothing needs no record.
        if ledgers.apps[app].day != nil {
          lend(app: app, &writer, body)
          left -= 1
        }
        walk.part = .apps(next: AppSlot(app.number + 1))
      case .subjects(let keys, let start):
        var place = start
        while place < keys.count, left > 0 {
          if lend(subject: keys[place], &writer, body) { left -= 1 }
          place += 1
        }
        walk.part = place < keys.count ? .subjects(keys, next: place) : .chunks(.notes, next: 0)
      case .chunks(let sort, let number):
        let chunks = chunks(of: sort)
        // The oldest chunks may have been removed since the last call.
        let chunk = max(number, chunks.lowerBound)
        guard chunks.contains(chunk) else {
          switch sort {
          case .notes: walk.part = .chunks(.devices, next: 0)
          case .devices: walk.part = .clock
          }
          continue
        }
        lend(chunk: chunk, of: sort, body)
        walk.part = .chunks(sort, next: chunk + 1)
        left -= 1
      case .clock:
        lendPolicy(&writer, body)
        lendClock(&writer, body)
        walk.part = .done
      case .done: return true
      }
    }
    if case .done = walk.part { return true }
    return false
  }

  private func walkDevices(
    from start: DeviceSlot, _ left: inout Int, _ writer: inout StateRecordWriter, _ body: StateRecordSink
  ) -> StateWalk.Part {
    for number in start.number..<max(start.number, UInt32(registry.devices.capacity)) {
      let device = DeviceSlot(number)
      if left == 0 { return .devices(next: device) }
      if registry.isUsed(device) {
        lend(device: device, &writer, body)
        left -= 1
      }
    }
    return .kinds(next: KindSlot(0))
  }
}
