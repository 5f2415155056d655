import Domain

/// One record of `rouse.state`, internal and versioned. A nil value removes the key.
public struct StateRecord: Equatable, Sendable {
  public var key: [UInt8]
  public var value: [UInt8]?
}

/// The keys of `rouse.state`: a letter, a slash, a name.
///
///     d/<device>   a device with its instances, ledgers and what waits on them
///     k/<kind>     what a kind has learnt
///     a/<app>      the app's ledger
///     s/<hash>     the newest event of a subject and type
///     p/policy     the policy document in force
///     p/clock      log time and counters
///     p/position   written by the worker, last in each transaction
enum StateKey {
  static func device(_ id: String) -> [UInt8] { Array("d/".utf8) + id.utf8 }
  static func kind(_ name: String) -> [UInt8] { Array("k/".utf8) + name.utf8 }
  static func app(_ id: String) -> [UInt8] { Array("a/".utf8) + id.utf8 }
  static func subject(_ hash: UInt64) -> [UInt8] { Array("s/".utf8) + String(hash, radix: 16).utf8 }
  static let policy = Array("p/policy".utf8)
  static let clock = Array("p/clock".utf8)
}

/// The version byte that starts every state value.
let stateFormatVersion: UInt8 = 2

extension Planner {
  /// Hands over every record that changed since the last call, in an order that depends on the log only, and starts
  /// collecting anew. What is handed over is the state after the last `advance`.
  public mutating func takeChanges(_ body: (StateRecord) -> Void) {
    var writer = BinaryWriter()
    for slot in changes.devices where devices[slot].flags.contains(.used) {
      writer.reset()
      write(device: slot, to: &writer)
      body(StateRecord(key: StateKey.device(deviceNames[Int(slot)].id), value: writer.bytes))
    }
    // An id may have been removed and come back within the same stretch.
    for id in changes.removedDevices where deviceByID[id] == nil {
      body(StateRecord(key: StateKey.device(id), value: nil))
    }
    for index in kinds.indices where kinds[index].touched {
      kinds[index].touched = false
      writer.reset()
      kinds[index].write(to: &writer)
      body(StateRecord(key: StateKey.kind(kinds[index].name), value: writer.bytes))
    }
    for index in apps.indices where apps[index].touched {
      apps[index].touched = false
      writer.reset()
      apps[index].write(to: &writer)
      body(StateRecord(key: StateKey.app(apps[index].id), value: writer.bytes))
    }
    takeSubjectChanges(&writer, body)
    if changes.policy, let document = policyDocument {
      writer.reset()
      writer.uint8(stateFormatVersion)
      writer.string(document)
      body(StateRecord(key: StateKey.policy, value: writer.bytes))
    }
    writer.reset()
    writeClock(to: &writer)
    body(StateRecord(key: StateKey.clock, value: writer.bytes))
    changes = PlannerChanges()
    epoch &+= 1
  }

  private func takeSubjectChanges(_ writer: inout BinaryWriter, _ body: (StateRecord) -> Void) {
    for key in changes.forgottenSubjects where subjects.newest(key) == nil {
      body(StateRecord(key: StateKey.subject(key), value: nil))
    }
    for key in changes.subjects {
      // A day may have ended since it was noted.
      guard let (newest, generation) = subjects.remembered(key) else { continue }
      writer.reset()
      writer.uint8(stateFormatVersion)
      writer.zigzag(generation)
      newest.write(to: &writer)
      body(StateRecord(key: StateKey.subject(key), value: writer.bytes))
    }
  }

  private func writeClock(to writer: inout BinaryWriter) {
    writer.uint8(stateFormatVersion)
    writer.int64(now)
    writer.int64(curveHour)
    writer.zigzag(subjects.generation)
    writer.zigzag(policyOffset)
  }

  private func write(device slot: UInt32, to writer: inout BinaryWriter) {
    let device = devices[slot]
    let names = deviceNames[Int(slot)]
    writer.uint8(stateFormatVersion)
    writer.varint(UInt64(slot))
    writer.varint(UInt64(device.flags.rawValue))
    writer.string(apps[Int(device.app)].id)
    writer.string(zones[Int(device.zone)].id)
    writer.varint(UInt64(device.osVersion.major))
    writer.varint(UInt64(device.osVersion.minor))
    writer.optionalString(names.tokens.widgets)
    writer.optionalString(names.tokens.background)
    writer.zigzag(device.pushTAT)
    writer.zigzag(device.backgroundTAT)
    writer.zigzag(device.startTAT)
    writer.uint8(device.commandRoute)
    writer.zigzag(device.foregroundSince)
    writer.zigzag(device.commandOffset)
    writer.varint(UInt64(device.commandOrdinal))
    writer.zigzag(device.updatedAt)
    var count = 0
    var instance = device.firstInstance
    while instance != none {
      count += 1
      instance = instances[instance].next
    }
    let pending = pendingEvents(device: slot)
    writer.count(pending.count)
    for event in pending {
      writer.string(events[event].id)
      writer.optionalString(events[event].traceparent)
    }
    writer.count(count)
    instance = device.firstInstance
    while instance != none {
      write(instance: instance, pending: pending, to: &writer)
      instance = instances[instance].next
    }
  }

  /// Slots of the events that wait on the device, each once, in the order of instances and causes.
  private func pendingEvents(device slot: UInt32) -> [UInt32] {
    var pending: [UInt32] = []
    var instance = devices[slot].firstInstance
    while instance != none {
      var cause = instances[instance].firstCause
      while cause != none {
        if !pending.contains(causes[cause].event) { pending.append(causes[cause].event) }
        cause = causes[cause].next
      }
      instance = instances[instance].next
    }
    return pending
  }

  private func write(instance slot: UInt32, pending: [UInt32], to writer: inout BinaryWriter) {
    let instance = instances[slot]
    let names = instanceNames[Int(slot)]
    writer.string(names.id)
    writer.string(kinds[Int(instance.kind)].name)
    writer.varint(UInt64(instance.index))
    writer.uint8(instance.surface.rawValue)
    writer.uint8(instance.held)
    writer.uint8(instance.flags.rawValue)
    writer.varint(UInt64(instance.spent))
    writer.float(instance.theta)
    writer.float(instance.pendingValue)
    writer.zigzag(instance.pendingAt)
    writer.varint(UInt64(instance.calibratedAt))
    writer.float(instance.flow)
    writer.float(instance.flowMean)
    writer.varint(UInt64(instance.flowCount))
    writer.varint(UInt64(instance.flowAt))
    writer.zigzag(instance.windowEnd)
    writer.zigzag(instance.lastReload)
    writer.zigzag(instance.nextReload)
    writer.zigzag(instance.due)
    let charges = rollingCharges[slot] ?? []
    writer.count(charges.count)
    for charge in charges { writer.zigzag(charge) }
    if let state = addressed[slot] { state.write(to: &writer) }
    var places: [UInt32: Int] = [:]
    var entry = instance.firstEntry
    while entry != none {
      places[entry] = places.count
      entry = entries[entry].next
    }
    writer.count(places.count)
    entry = instance.firstEntry
    while entry != none {
      writer.string(interests.key(of: entries[entry].interest))
      writer.int64(Int64(bitPattern: entries[entry].shown))
      writer.int64(Int64(bitPattern: entries[entry].current))
      entry = entries[entry].next
    }
    writer.count(Int(instance.causes))
    var cause = instance.firstCause
    while cause != none {
      // A key that the instance no longer listens to has no entry any more.
      writer.count(places[causes[cause].entry].map { $0 + 1 } ?? 0)
      writer.count(pending.firstIndex(of: causes[cause].event) ?? 0)
      writer.float(causes[cause].signedRelevance)
      writer.zigzag(causes[cause].at)
      writer.zigzag(causes[cause].expires)
      cause = causes[cause].next
    }
  }
}

extension KindState {
  func write(to writer: inout BinaryWriter) {
    writer.uint8(stateFormatVersion)
    writer.double(theta)
    writer.count(windowsSeen)
    writer.count(hoursObserved)
    for hour in 0..<24 { writer.double(arrivals[hour]) }
    for place in 0..<25 { writer.double(remaining[place]) }
  }

  /// What was learnt; `remaining` too, because it is mixed anew once an hour only.
  mutating func read(from reader: inout BinaryReader) throws(BinaryError) {
    theta = try reader.double("θ")
    windowsSeen = min(Self.windowsMax, try reader.integer("windows seen"))
    hoursObserved = min(Self.hoursMax, try reader.integer("hours observed"))
    for hour in 0..<24 { arrivals[hour] = try reader.double("arrivals") }
    var suffix = ContiguousArray<Double>(repeating: 0, count: 25)
    for place in 0..<25 { suffix[place] = try reader.double("a share to come") }
    restore(remaining: suffix)
  }
}

extension AddressedState {
  func write(to writer: inout BinaryWriter) {
    writer.string(token)
    writer.bool(isChannel)
    writer.bool(tokenDead)
    writer.bool(frequentPushes)
    writer.bool(ended)
    writer.zigzag(tat)
    writer.zigzag(timestamp)
    writer.zigzag(startedAt)
    writer.zigzag(lastEventAt)
    writer.count(started.count)
    for start in started {
      writer.int64(Int64(bitPattern: start.subject))
      writer.zigzag(start.at)
      writer.bool(start.isRegistered)
    }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    token = try reader.string("a token")
    isChannel = try reader.bool("whether it is a channel")
    tokenDead = try reader.bool("whether the token is dead")
    frequentPushes = try reader.bool("whether frequent pushes are allowed")
    ended = try reader.bool("whether it has ended")
    tat = try reader.zigzag("a TAT")
    timestamp = try reader.zigzag("a timestamp")
    startedAt = try reader.zigzag("an instant")
    lastEventAt = try reader.zigzag("an instant")
    for _ in 0..<(try reader.count("starts")) {
      let subject = UInt64(bitPattern: try reader.int64("a hash"))
      let at = try reader.zigzag("an instant")
      started.append(
        StartedSubject(subject: subject, at: at, isRegistered: try reader.bool("whether it is registered")))
    }
  }
}

extension AppState {
  func write(to writer: inout BinaryWriter) {
    writer.uint8(stateFormatVersion)
    writer.count(spent)
    writer.zigzag(day)
  }
}

extension SubjectMemory.Newest {
  func write(to writer: inout BinaryWriter) {
    writer.int64(time)
    writer.count(ids.count)
    for id in ids { writer.int64(Int64(bitPattern: id)) }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    time = try reader.int64("a time")
    ids = []
    for _ in 0..<(try reader.count("ids")) { ids.append(UInt64(bitPattern: try reader.int64("a hash"))) }
  }
}
