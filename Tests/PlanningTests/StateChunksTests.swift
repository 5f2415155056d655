import Domain
import Policies
import Testing

@testable import Planning

/// A planner with devices of very different sizes, which come, change and go, and the topic with its chunks.
private struct ChunkLife {
  typealias Record = (key: [UInt8], value: [UInt8]?)

  var random: SeededRandom
  var bounds = PlannerBounds.expecting(.none)
  private var copied: CopiedPlanner
  var planner: Planner {
    _read { yield copied.planner }
    _modify { yield &copied.planner }
  }
  var records: [Record] = []
  var time = PlannerHarness.noon
  var offset: Int64 = 0
  let devices: Int
  /// The records of the last commit.
  var commit: ArraySlice<Record> = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    bounds.stateChunkBytesMax = [200, 1024, 4096, 65_536].randomElement(using: &random) ?? 1024
    bounds.stateSpareBytes = [0, 2000].randomElement(using: &random) ?? 0
    // Local snapshots hold the larger devices in pieces.
    if seed % 2 == 1 { bounds.stateRecordBytesMax = 250 }
    devices = Int.random(in: 1...30, using: &random)
    copied = CopiedPlanner(Planner(policy: .flights(), bounds: bounds))
  }

  /// Makes a planner without devices whose chunks have a stated size, and this much spare room.
  init(seed: UInt64, chunkBytesMax: Int, spareBytes: Int = 0) {
    self.init(seed: seed)
    bounds.stateChunkBytesMax = chunkBytesMax
    bounds.stateSpareBytes = spareBytes
    planner = Planner(policy: .flights(), bounds: bounds)
  }

  mutating func apply(_ content: LogRecord.Content) {
    var output = PlannerOutput()
    planner.begin(content, offset: offset, timestamp: Timestamp(microseconds: time))
    while !planner.advance(into: &output) {}
    offset += 1
  }

  mutating func step() {
    time += Int64.random(in: 0...300, using: &random) * 1_000_000
    // Half of the changes are those of a few devices.
    let number = Int.random(in: 0..<(Bool.random(using: &random) ? max(1, devices / 8) : devices), using: &random)
    let device = Identifier("device-\(number)")
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<8:
      let widgets = (0..<Int.random(in: 0...3, using: &random)).map { widget in
        Registration.Widget.flight(
          "w\(widget)",
          interests: (0..<Int.random(in: 1...6, using: &random)).map { "flight/\(number)/\($0)" })
      }
      apply(.registration(.phone(device, widgets: widgets, at: time)))
    case 8: apply(.forget(device: device))
    case 9:
      time += Int64.random(in: 1...30, using: &random) * PlannerHarness.hour
      apply(.tick)
    default:
      let delay = Double(Int.random(in: 1...90, using: &random))
      apply(.event(.delay(delay, id: "e\(offset)", subject: "flight/\(number)/0", at: time)))
    }
  }

  mutating func take() {
    commit = []
    var taken: [Record] = []
    planner.takeChanges { taken.append((Array($0), $1.map(Array.init))) }
    records += taken
    commit = taken[...]
  }

  mutating func live(_ steps: Int) {
    for _ in 0..<steps {
      step()
      if Int.random(in: 0..<5, using: &random) == 0 { take() }
    }
    take()
  }

  /// Returns one possible content of the topic: the newest record of each key, and some older ones. Tombstones of chunks of
  /// devices may be missing, though the cleaner removes them last.
  mutating func compacted() -> [Record] {
    var newest: [[UInt8]: Int] = [:]
    for (place, record) in records.enumerated() { newest[record.key] = place }
    let keeps = Int.random(in: 0...3, using: &random)
    return records.indices.filter { place in
      let (key, value) = records[place]
      if newest[key] == place, value != nil || StateKey.number(of: key, .devices) == nil { return true }
      return Int.random(in: 0..<3, using: &random) < keeps
    }.map { records[$0] }
  }

  func restored(_ records: some Sequence<Record>) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1, bounds: bounds)
    for (offset, record) in records.enumerated() {
      try restore.add(key: record.key, value: record.value, at: Int64(offset))
    }
    return try restore.finish(initialPolicy: .flights())
  }

  /// The chunks that the topic holds now, by number.
  var chunks: [Int64: [UInt8]] {
    var chunks: [Int64: [UInt8]] = [:]
    for record in records {
      if let number = StateKey.number(of: record.key, .devices) { chunks[number] = record.value }
    }
    return chunks
  }

  /// The slots of the devices that a chunk has additions to.
  func additions(in chunk: Int64) throws -> [DeviceSlot] {
    var slots: [DeviceSlot] = []
    for record in records where record.key == StateKey.chunk(chunk, of: .devices) {
      guard let value = record.value else { continue }
      var (form, reader) = try ChunkFormat.open(chunk, of: .devices, value, in: value.indices)
      if form == .piece { continue }
      while reader.remaining > 0 {
        let (id, content) = (try reader.blobPlace("an id"), try reader.blobPlace("an addition"))
        var addition = BinaryReader(value, in: content)
        if id.isEmpty { slots.append(DeviceSlot(try addition.integer("a slot"))) }
      }
    }
    return slots
  }
}

@Suite("The state of devices, in chunks")
struct StateChunksTests {
  /// Checks that a restored planner has the devices of another one, in the same chunks.
  private static func compare(_ restored: borrowing Planner, _ planner: borrowing Planner, _ place: String) {
    restored.checkInvariants()
    #expect(restored.deviceRecords == planner.deviceRecords, "\(place)")
    #expect(restored.chunkOfDevices == planner.chunkOfDevices, "\(place)")
    #expect(restored.deviceLog.bytes == planner.deviceLog.bytes, "\(place)")
  }

  @Test(
    "a topic restores the devices that were written, whatever garbage its chunks hold and whatever the cleaner has removed",
    arguments: 0..<8 as Range<UInt64>)
  func restores(seed: UInt64) throws {
    var life = ChunkLife(seed: seed)
    for round in 0..<6 {
      life.live(Int.random(in: 1...80, using: &life.random))
      let restored = try life.restored(life.compacted())
      Self.compare(restored, life.planner, "seed \(seed), round \(round)")
      #expect(
        restored.deviceLog.liveBytes == life.planner.deviceLog.liveBytes,
        "seed \(seed), round \(round)")
      if Bool.random(using: &life.random) { life.planner = restored }
    }
    let removals = life.records.filter { $0.key[0] == UInt8(ascii: "c") && $0.value == nil }
    #expect(!removals.isEmpty, "seed \(seed): nothing removed")
    let numbers = Set(life.records.compactMap { StateKey.number(of: $0.key, .devices) })
    let additions = try numbers.map { try life.additions(in: $0).count }.reduce(0, +)
    #expect(additions > 0, "seed \(seed): no additions")
  }

  @Test(
    "a snapshot that is written while planning goes on, with the records since, restores the devices",
    arguments: 30..<38 as Range<UInt64>)
  func snapshots(seed: UInt64) throws {
    var life = ChunkLife(seed: seed)
    life.live(100)
    for round in 0..<3 {
      let begun = life.records.count
      var (snapshot, walk): ([ChunkLife.Record], StateWalk) = ([], StateWalk())
      while !life.planner.writeState(
        from: &walk, recordsMax: 7, { key, value in snapshot.append((Array(key), value.map(Array.init))) })
      {
        for _ in 0..<Int.random(in: 0...10, using: &life.random) { life.step() }
        if Bool.random(using: &life.random) { life.take() }
      }
      life.take()
      life.live(Int.random(in: 0...150, using: &life.random))
      var since = life
      since.records = Array(life.records[begun...])
      let restored = try life.restored(snapshot + since.compacted())
      Self.compare(restored, life.planner, "seed \(seed), round \(round)")
      life.planner = restored
    }
  }

  @Test(
    "after every commit the chunks take at most 2.5 times what lives and a constant, and a commit rewrites in proportion",
    arguments: 60..<70 as Range<UInt64>)
  func bounded(seed: UInt64) throws {
    var life = ChunkLife(seed: seed)
    // Events that wait make devices large for a while.
    if seed % 2 == 1 {
      life.planner.activate(.flights { $0.budget = InstanceBudget(perDay: 2, minInterval: .hours(1)) })
    }
    var (moved, new) = (0, 0)
    for commit in 0..<120 {
      for _ in 0..<Int.random(in: 1...6, using: &life.random) { life.step() }
      let (changed, before) = (life.planner.changedDevices, life.planner.deviceLog.liveBytes)
      life.take()
      if commit % 16 == 0 { life.planner.checkInvariants() }
      let log = life.planner.deviceLog
      var written = (new: 0, moved: 0, all: 0)
      for record in life.commit {
        guard let number = StateKey.number(of: record.key, .devices), let value = record.value else { continue }
        #expect(value.count <= max(life.bounds.stateChunkBytesMax, 200), "seed \(seed)")
        written.all += value.count + StateExtent.recordBytes
        var (form, reader) = try ChunkFormat.open(number, of: .devices, value, in: value.indices)
        if form == .piece { continue }
        while reader.remaining > 0 {
          let (start, id) = (reader.offset, Identifier(decoding: value[try reader.blobPlace("an id")]))
          _ = try reader.blobPlace("a version")
          let size = reader.offset - start
          if id.text.isEmpty || changed.contains(id) { written.new += size } else { written.moved += size }
        }
      }
      let shrunk = max(0, before - log.liveBytes)
      // One device may exceed what was left of the allowance.
      let device = (life.planner.deviceRecords.values.map(\.count).max() ?? 0) + 300
      let allowed = 4 * (written.all - written.moved) + 10 * shrunk + device
      #expect(written.moved <= allowed, "seed \(seed), commit \(commit)")
      // The size of an entry is rounded down.
      let live = log.liveBytes + 16 * life.planner.deviceCount
      // Heads and checksums count in a log of very small chunks.
      let records = Int(log.next - log.first) * (StateExtent.recordBytes + 10)
      let constant = life.bounds.stateSpareBytes + life.bounds.stateChunkBytesMax + written.all
      #expect(
        log.bytes <= live * 5 / 2 + constant + (life.bounds.stateChunkBytesMax < 1024 ? records : 0),
        "seed \(seed), commit \(commit): \(log.bytes) bytes for \(live)")
      moved += written.moved
      new += written.new
    }
    #expect(
      life.planner.deviceLog.bytes == life.chunks.values.reduce(0) { $0 + $1.count + 64 }, "seed \(seed)")
    #expect(moved <= 2 * new + 20_000, "seed \(seed): \(moved) bytes moved for \(new)")
  }

  @Test("devices that all go at once leave nearly nothing behind, without a device that comes back")
  func massRemoval() throws {
    var life = ChunkLife(seed: 99, chunkBytesMax: 1024)
    for number in 0..<100 { life.apply(.registration(.phone(Identifier("d\(number)")))) }
    life.take()
    for number in 1..<100 { life.apply(.forget(device: Identifier("d\(number)"))) }
    // The last device goes with the next record.
    life.time += PlannerHarness.hour
    life.apply(.tick)
    life.take()
    #expect(life.planner.deviceRecords.keys.map { Identifier(decoding: $0) } == ["d0"])
    for _ in 0..<3 { life.take() }
    #expect(life.chunks.count <= 4, "\(life.chunks.count) chunks")
    let restored = try life.restored(life.records)
    #expect(restored.deviceRecords == life.planner.deviceRecords)
    #expect(try life.restored(life.compacted()).deviceCount == 1)
  }

  @Test("decisions about a device are written as additions, each with the changed widgets only, and moved together")
  func additions() throws {
    var life = ChunkLife(seed: 105, chunkBytesMax: 4096, spareBytes: 500)
    let widgets = (0..<8).map { Registration.Widget.flight("widget-\($0)", interests: ["flight/\($0)"]) }
    life.apply(.registration(.phone("d1", widgets: widgets)))
    life.take()
    let version = try #require(life.chunks[0]).count
    func change(_ widget: Int, delay: Double) {
      life.time += PlannerHarness.minute
      life.apply(.event(.delay(delay, id: "e\(life.offset)", subject: "flight/\(widget)", at: life.time)))
      life.take()
    }
    // The first event leads to a push, which reloads all widgets. The next one is about one of them, and is not worth a push.
    change(0, delay: 30)
    let largest = try #require(life.chunks[1]).count
    life.planner.activate(.flights { $0.rules = [Rule(event: "flight.*", relevance: RelevanceFormula(base: 0))] })
    change(1, delay: 35)
    let smallest = try #require(life.chunks[2]).count
    #expect(largest < version && smallest < largest / 2, "\(version), \(largest), \(smallest)")
    for number in 0..<200 as Range<Int64> where life.chunks[number] != nil {
      #expect(try life.additions(in: number) == (number == 0 ? [] : [DeviceSlot(0)]))
    }
    for round in 0..<40 { change(round % 8, delay: Double(round)) }
    // The version and its additions have become a new version, without an event about all of the device.
    let bytes = life.planner.deviceLog.bytes
    #expect(life.chunks[0] == nil && bytes < 3 * 2 * version + 4096, "\(bytes) bytes")
    #expect(try life.restored(life.records).deviceRecords == life.planner.deviceRecords)
  }

  @Test("a chunk is refused when any byte is another one, when it is cut off, and under another number")
  func altered() throws {
    var life = ChunkLife(seed: 101, chunkBytesMax: 1024)
    life.apply(.registration(.phone("d1")))
    life.apply(.registration(.phone("d2", widgets: [.flight("w1", interests: ["flight/UA2"])])))
    life.take()
    let chunk = try #require(life.chunks[0])
    func add(_ number: Int64, _ value: [UInt8]) throws {
      var restore = PlannerRestore(partition: 0, partitionCount: 1)
      try restore.add(key: StateKey.chunk(number, of: .devices), value: value)
    }
    try add(0, chunk)
    for place in chunk.indices {
      for bit in 0..<8 as Range<UInt8> {
        var value = chunk
        value[place] ^= 1 << bit
        #expect(throws: BinaryError.self, "byte \(place), bit \(bit)") { try add(0, value) }
      }
    }
    for count in 0..<chunk.count { #expect(throws: BinaryError.self) { try add(0, Array(chunk[..<count])) } }
    #expect(throws: BinaryError.self) { try add(1, chunk) }
    for key in ["c/-1", "c/x", "c/00", "c/ffffffffffffffff"] {
      var restore = PlannerRestore(partition: 0, partitionCount: 1)
      #expect(throws: BinaryError.self, "\(key)") { try restore.add(key: Array(key.utf8), value: chunk) }
    }
  }

  @Test("a topic that lacks a chunk is refused, and an order to leave out a chunk near by lets the partition go on")
  func missing() throws {
    var life = ChunkLife(seed: 103, chunkBytesMax: 400)
    life.live(300)
    let numbers = life.chunks.keys.sorted()
    try #require(numbers.count > 8)
    for number in [numbers[0], numbers[4], numbers[numbers.count - 1]] {
      let rest = life.records.filter { $0.key != StateKey.chunk(number, of: .devices) }
      let error = try #require(throws: StateRecordError.self) { _ = try life.restored(rest) }
      #expect(error.description.contains("chunk \(String(number, radix: 16)) "), "\(error)")
      #expect(rest[Int(error.offset)].key == error.key && StateKey.isDispensable(error.key))
    }
  }

  @Test(
    "without a chunk that an operator leaves out, devices go back to the version before, or go",
    arguments: 110..<116 as Range<UInt64>)
  func leftOut(seed: UInt64) throws {
    var life = ChunkLife(seed: seed)
    life.live(150)
    let lost = try #require(life.chunks.keys.sorted().randomElement(using: &life.random))
    var restore = PlannerRestore(partition: 0, partitionCount: 1, bounds: life.bounds)
    for record in life.records {
      if record.key == StateKey.chunk(lost, of: .devices), record.value != nil {
        try restore.leaveOut(record.key)
      } else {
        try restore.add(key: record.key, value: record.value)
      }
    }
    let repairs = try restore.repairs()
    #expect(repairs.map(\.key) == [StateKey.chunk(lost, of: .devices)] && repairs[0].value != nil, "seed \(seed)")
    let before = life
    life.planner = try restore.finish(initialPolicy: .flights())
    life.planner.checkInvariants()
    let (old, new) = (before.planner.deviceRecords, life.planner.deviceRecords)
    let inChunk = before.planner.chunkOfDevices.filter { $0.value == lost }.keys
    let changed = Set(try life.additions(in: lost).map { before.planner.fleet.registry.id(of: $0) })
    for (id, record) in old {
      let name = Identifier(decoding: id)
      if inChunk.contains(name) || changed.contains(name) { continue }
      #expect(new[id] == record || new[id] == nil, "seed \(seed): \(name)")
    }
    // The topic without the damaged record, as the next restart reads it.
    life.records.removeAll { $0.key == StateKey.chunk(lost, of: .devices) && $0.value != nil }
    for repair in repairs { life.records.append(repair) }
    life.take()
    #expect(try life.restored(life.records).deviceRecords == new, "seed \(seed)")
    life.live(40)
    #expect(try life.restored(life.records).deviceRecords == life.planner.deviceRecords, "seed \(seed)")
  }

  @Test("the size of an entry is rounded down by at most 16 bytes or an eighth")
  func sizes() {
    for bytes in Array(0..<5000) + [65_536, 100_000, 1 << 20, 5 << 20 + 77, 100 << 20] {
      let rounded = EntrySize(bytes).bytes
      #expect(rounded <= bytes && bytes - rounded < max(16, bytes / 8 + 1), "\(bytes): \(rounded)")
    }
    #expect(EntrySize(.max).bytes == 15 << 23)
  }

  @Test("a list of chunks gives each entry its chunk, also when the numbers of entries wrap around")
  func log() {
    for seed in 0..<4 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      var log = ChunkLog<DeviceTag>(first: 5)
      var expected: [(place: ChunkPlace, chunk: Int64, slot: UInt32)] = []
      for step in 0..<500 {
        for _ in 0..<Int.random(in: 0...9, using: &random) {
          let slot = UInt32.random(in: 0..<100, using: &random)
          expected.append((log.append(DeviceSlot(slot), EntrySize(64)), log.next, slot))
        }
        log.end(bytes: 100)
        while log.removeFirst(before: log.next) {}
        while Int.random(in: 0..<3, using: &random) > 0, let oldest = log.entry(0) {
          #expect(oldest.place == expected[0].place, "seed \(seed), step \(step)")
          #expect(oldest.slot.number == expected[0].slot, "seed \(seed), step \(step)")
          log.drop(oldest.place)
          log.pass()
          expected.removeFirst()
          while log.removeFirst(before: log.next) {}
        }
        if let some = expected.randomElement(using: &random) {
          #expect(log.chunk(of: some.place) == some.chunk, "seed \(seed), step \(step)")
        }
        #expect(log.liveBytes == expected.count * 64)
      }
      #expect(log.chunk(of: .unwritten) == log.next)
    }
  }
}
