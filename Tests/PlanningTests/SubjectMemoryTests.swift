import Domain
import Policies
import Testing

@testable import Planning

extension SubjectMemory {
  /// The content of an entry, without its place in the chunks.
  struct Content: Equatable, CustomStringConvertible {
    var newest: Newest
    var generation: Int64
    var born: Int64
    var noted: Int64
    var description: String { "\(newest) of \(generation), born in \(born), noted \(noted) times" }
  }

  var contents: [KeyedHash: Content] {
    var contents: [KeyedHash: Content] = [:]
    for key in keys {
      guard let subject = remembered(key) else { continue }
      contents[key] = Content(
        newest: subject.newest, generation: subject.generation, born: subject.born, noted: subject.noted)
    }
    return contents
  }

  /// The number of the chunk with the newest whole note of each entry.
  fileprivate var chunks: [KeyedHash: Int64] {
    var chunks: [KeyedHash: Int64] = [:]
    for key in keys { chunks[key] = remembered(key).map { log.chunk(of: $0.place) } }
    return chunks
  }
}

/// Two planners with the same log: random events about a few subjects, with repeats, stale events and passing days.
/// `reference` is never stopped. `planner` commits its state to a topic, from which it is sometimes restored.
private struct SubjectLife {
  let seed: UInt64
  var random: SeededRandom
  var bounds = PlannerBounds()
  /// The planner that is never stopped and never commits.
  private var copiedReference: CopiedPlanner
  var reference: Planner {
    _read { yield copiedReference.planner }
    _modify { yield &copiedReference.planner }
  }
  private var copied: CopiedPlanner
  var planner: Planner {
    _read { yield copied.planner }
    _modify { yield &copied.planner }
  }
  /// The records of the uncompacted `rouse.state`.
  var records: [(key: [UInt8], value: [UInt8]?)] = []
  var time = PlannerHarness.noon
  var offset: Int64 = 0
  var subjects = 40
  var daysPass = true
  var largestCommit = 0
  var largestChunk = 0

  init(seed: Int) {
    self.seed = UInt64(seed)
    random = SeededRandom(seed: UInt64(seed))
    bounds.stateChunkBytesMax = [150, 600, 64 * 1024].randomElement(using: &random) ?? 600
    bounds.stateSpareBytes = [0, 2000].randomElement(using: &random) ?? 0
    bounds.subjectsPerGenerationMax = [12, 30, 500].randomElement(using: &random) ?? 30
    copiedReference = CopiedPlanner(Planner(policy: .flights(), bounds: bounds))
    copied = copiedReference
  }

  mutating func step() {
    time += Int64.random(in: 0...(daysPass ? 60 : 4), using: &random) * 1_000_000
    if daysPass, Int.random(in: 0..<400, using: &random) == 0 {
      time += Int64.random(in: 1...50, using: &random) * PlannerHarness.hour
    }
    // Half of the events are about a tenth of the subjects.
    let subject = Int.random(in: 0..<(Bool.random(using: &random) ? max(1, subjects / 10) : subjects), using: &random)
    let id = Int.random(in: 0..<400, using: &random)
    // A late event may be older than more events than are remembered, and clocks run ahead.
    let lateMax: Int64 = Bool.random(using: &random) ? 3 : 300
    let at = time - Int64.random(in: -2...lateMax, using: &random) * 60_000_000
    let event = DomainEvent.delay(20, id: "e\(id)", subject: "flight/\(subject)", at: at)
    let content = LogRecord.Content.event(event)
    Self.take(content, offset, time, by: &reference)
    Self.take(content, offset, time, by: &planner)
    offset += 1
  }

  private static func take(
    _ content: LogRecord.Content, _ offset: Int64, _ time: Int64, by planner: inout Planner
  ) {
    var output = PlannerOutput()
    planner.begin(content, offset: offset, timestamp: Timestamp(microseconds: time))
    while !planner.advance(into: &output) {}
  }

  mutating func commit() {
    var bytes = 0
    var largest = 0
    copied.planner.takeChanges { key, value in
      records.append((Array(key), value.map(Array.init)))
      bytes += key.count + (value?.count ?? 0)
      if key.first == UInt8(ascii: "n") { largest = max(largest, value?.count ?? 0) }
    }
    largestCommit = max(largestCommit, bytes)
    largestChunk = max(largestChunk, largest)
  }

  mutating func live(_ steps: Int) {
    for _ in 0..<steps {
      step()
      if Int.random(in: 0..<7, using: &random) == 0 { commit() }
    }
    commit()
  }

  /// Returns one possible content of the topic after compaction: the newest record of each key and some older ones. Chunks are in
  /// the order of the records, and so are the records of each key.
  mutating func compacted() -> [(key: [UInt8], value: [UInt8]?)] {
    var newest: [[UInt8]: Int] = [:]
    for (place, record) in records.enumerated() { newest[record.key] = place }
    var kept = records.indices.filter { newest[records[$0].key] == $0 || Bool.random(using: &random) }
    if Bool.random(using: &random) {
      let order = Dictionary(
        uniqueKeysWithValues: newest.keys.sorted { $0.lexicographicallyPrecedes($1) }.map {
          ($0, chunkNumber(of: $0) == nil ? UInt64.random(in: 0 ... .max, using: &random) : .max / 2)
        })
      kept.sort { (order[records[$0].key] ?? 0, $0) < (order[records[$1].key] ?? 0, $1) }
    }
    return kept.map { records[$0] }
  }

  func restored(_ records: [(key: [UInt8], value: [UInt8]?)]) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1, bounds: bounds)
    for record in records { try restore.add(key: record.key, value: record.value) }
    return try restore.finish(initialPolicy: .flights())
  }

  /// The chunks in the topic.
  var chunks: Set<[UInt8]> {
    var chunks: Set<[UInt8]> = []
    for record in records where record.key.first == UInt8(ascii: "n") {
      if record.value == nil { chunks.remove(record.key) } else { chunks.insert(record.key) }
    }
    return chunks
  }
}

@Suite("The memory of subjects, in chunks of notes")
struct SubjectMemoryTests {
  @Test(
    "after a restart at any commit, from a topic compacted in any way, the memory equals that of a planner that never stopped",
    arguments: 0..<24)
  func restarts(seed: Int) throws {
    var life = SubjectLife(seed: seed)
    for round in 0..<25 {
      life.live(Int.random(in: 1...60, using: &life.random))
      let restored = try life.restored(life.compacted())
      #expect(
        restored.subjects.contents == life.reference.subjects.contents, "seed \(seed), restart \(round)")
      restored.checkInvariants()
      #expect(
        restored.subjects.log.bytes == life.planner.subjects.log.bytes, "seed \(seed), restart \(round)")
      #expect(
        restored.subjects.log.liveBytes == life.planner.subjects.log.liveBytes,
        "seed \(seed), restart \(round)")
      if Bool.random(using: &life.random) { life.planner = restored }
    }
    #expect(
      life.records.contains { $0.key[0] == UInt8(ascii: "n") && $0.value == nil }, "seed \(seed): nothing removed")
  }

  @Test(
    "the chunks never take more than 2.5 times what lives and a constant, and a commit rewrites in proportion",
    arguments: 30..<42)
  func bounded(seed: Int) throws {
    var life = SubjectLife(seed: seed)
    life.bounds.stateSpareBytes = 2000
    life.bounds.stateChunkBytesMax = 600
    life.bounds.subjectsPerGenerationMax = 500
    life.reference = Planner(policy: .flights(), bounds: life.bounds)
    life.planner = Planner(copying: life.reference)
    life.subjects = Int.random(in: 1...60, using: &life.random)
    var most = 0
    for _ in 0..<2500 {
      life.step()
      guard Int.random(in: 0..<5, using: &life.random) == 0 else { continue }
      life.commit()
      let log = life.planner.subjects.log
      // Entries are rounded down by up to 16 bytes; here that is a tenth.
      most = max(most, log.liveBytes + 16 * life.planner.subjects.count)
      #expect(log.bytes <= most * 5 / 2 + 2000 + 600 + life.largestCommit, "seed \(seed): \(most)")
    }
    life.planner.checkInvariants()
    #expect(
      life.chunks.count == Int(life.planner.subjects.log.next - life.planner.subjects.log.first),
      "seed \(seed)")
    #expect(life.largestChunk <= 600, "seed \(seed)")
    #expect(life.largestCommit <= 12_000, "seed \(seed)")
    let written = life.records.filter { $0.key[0] == UInt8(ascii: "n") }.reduce(0) { $0 + ($1.value?.count ?? 0) }
    #expect(written < 2500 * 180, "seed \(seed): \(written) bytes for 2,500 events")
  }

  @Test(
    "a snapshot that is written during events, with the records since, equals the memory of a planner that never stopped",
    arguments: 50..<74
  )
  func snapshots(seed: Int) throws {
    var life = SubjectLife(seed: seed)
    life.live(300)
    for round in 0..<6 {
      let begun = life.records.count
      var snapshot: [(key: [UInt8], value: [UInt8]?)] = []
      var walk = StateWalk()
      while !life.planner.writeState(
        from: &walk, recordsMax: 7, { key, value in snapshot.append((Array(key), value.map(Array.init))) })
      {
        // Some walks continue before the changes are committed.
        for _ in 0..<Int.random(in: 0...20, using: &life.random) { life.step() }
        if Bool.random(using: &life.random) { life.commit() }
      }
      life.commit()
      life.live(Int.random(in: 0...120, using: &life.random))
      let restored = try life.restored(snapshot + life.records[begun...])
      #expect(
        restored.subjects.contents == life.reference.subjects.contents, "seed \(seed), round \(round)")
      #expect(
        restored.subjects.log.bytes == life.planner.subjects.log.bytes, "seed \(seed), round \(round)")
      restored.checkInvariants()
      #expect(
        restored.subjects.log.liveBytes == life.planner.subjects.log.liveBytes,
        "seed \(seed), round \(round)")
      #expect(restored.subjects.chunks == life.planner.subjects.chunks, "seed \(seed), round \(round)")
      life.planner = restored
      life.live(30)
      let again = try life.restored(life.compacted())
      #expect(again.subjects.contents == life.reference.subjects.contents, "seed \(seed), round \(round)")
    }
  }

  @Test("many events of one subject in one commit make one note")
  func merged() throws {
    var life = SubjectLife(seed: 91)
    life.bounds = PlannerBounds()
    life.planner = Planner(policy: .flights())
    life.subjects = 1
    life.step()
    life.commit()
    let begun = life.records.count
    for _ in 0..<6 { life.step() }
    life.commit()
    let chunks = life.records[begun...].filter { $0.key[0] == UInt8(ascii: "n") }
    #expect(chunks.count == 1)
    let size = chunks.first?.value?.count ?? 0
    #expect(size < 11 + 48 + 6 * 22, "\(size)")
    // Repeats of remembered events are not noted.
    let repeated = life.records.count
    life.commit()
    #expect(!life.records[repeated...].contains { $0.key[0] == UInt8(ascii: "n") })
  }

  @Test("an entry that is found behind another one is the entry of its key, also after slots were used again")
  func related() {
    var random = SeededRandom(seed: 93)
    var memory = SubjectMemory()
    var (found, kept) = (0, 0)
    for round in 0..<3000 {
      let now = Timestamp(microseconds: PlannerHarness.noon + Int64(round) * 1_000_000)
      if random.next() % 40 == 0 { memory.rotate() }
      var entry = memory.slotOrNew(KeyedHash(low: random.next() % 12 + 1, high: 0))
      _ = memory.note(at: entry, id: KeyedHash(low: random.next(), high: random.next()), time: now, now: now)
      for _ in 0..<3 {
        let key = KeyedHash(low: random.next() % 12 + 100, high: 1)
        if !entry.isAbsent, !memory.slots[entry].related.isAbsent { kept += 1 }
        let slot = memory.slot(key, after: entry)
        #expect(slot == memory.slot(key), "round \(round)")
        if let slot {
          (entry, found) = (slot, found + 1)
        } else {
          let value = DisplayedValue(low: key.low, high: 0)
          memory.note(key, values: [value].span, said: 1, saidAt: now, now: now)
          entry = .absent
        }
      }
    }
    #expect(found > 1000 && kept > 1000, "\(found) entries found, \(kept) behind an entry with a related one")
    memory.checkInvariants()
  }

  @Test("a topic that lacks a chunk is refused")
  func missing() throws {
    var life = SubjectLife(seed: 92)
    life.bounds = PlannerBounds()
    life.planner = Planner(policy: .flights(), bounds: life.bounds)
    life.live(200)
    let chunks = life.records.filter { $0.key[0] == UInt8(ascii: "n") }
    try #require(chunks.count > 4)
    for missing in [0, chunks.count / 2, chunks.count - 1] {
      let rest = life.records.filter { $0.key != chunks[missing].key }
      let error = try #require(throws: StateRecordError.self) { _ = try life.restored(rest) }
      #expect(error.description.contains("chunk \(String(missing, radix: 16)) of the notes"), "\(error)")
    }
  }

  /// Returns a life with the usual bounds after its first commit, and the chunk of notes that it wrote.
  private func committed(seed: Int, steps: Int) throws -> (life: SubjectLife, chunk: [UInt8]) {
    var life = SubjectLife(seed: seed)
    life.bounds = PlannerBounds()
    life.planner = Planner(policy: .flights(), bounds: life.bounds)
    for _ in 0..<steps { life.step() }
    life.commit()
    return (life, try #require(life.records.first { $0.key == StateKey.chunk(0, of: .notes) }?.value))
  }

  @Test("a chunk is refused when any byte is another one, when it is cut off, and under another number or sort")
  func altered() throws {
    let chunk = try committed(seed: 94, steps: 10).chunk
    func add(_ key: [UInt8], _ value: [UInt8]) throws {
      var restore = PlannerRestore(partition: 0, partitionCount: 1)
      try restore.add(key: key, value: value)
    }
    let key = StateKey.chunk(0, of: .notes)
    try add(key, chunk)
    for place in chunk.indices {
      for bit in 0..<8 as Range<UInt8> {
        var value = chunk
        value[place] ^= 1 << bit
        #expect(throws: BinaryError.self, "byte \(place), bit \(bit)") { try add(key, value) }
      }
    }
    for count in 0..<chunk.count { #expect(throws: BinaryError.self) { try add(key, Array(chunk[..<count])) } }
    #expect(throws: BinaryError.self) { try add(StateKey.chunk(1, of: .notes), chunk) }
    #expect(throws: BinaryError.self) { try add(StateKey.chunk(0, of: .devices), chunk) }
    for key in ["n/-1", "n/x", "n/00", "n/ffffffffffffffff"] {
      #expect(throws: BinaryError.self, "\(key)") { try add(Array(key.utf8), chunk) }
    }
  }

  @Test("notes that no planner writes are refused or read as other ones, behind a checksum that fits")
  func forged() throws {
    let (life, chunk) = try committed(seed: 95, steps: 40)
    var random = SeededRandom(seed: 95)
    var refusals = 0
    for _ in 0..<600 {
      var content = Array(chunk.dropLast(ChunkFormat.checksumBytes))
      if Bool.random(using: &random) {
        content.removeLast(Int.random(in: 1..<content.count - 2, using: &random))
      } else {
        content[Int.random(in: 2..<content.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var forged = BinaryWriter(appendingTo: content)
      forged.int64(Int64(bitPattern: ChunkFormat.checksum(content.span, of: 0, .notes)))
      // It must not trap.
      let records = life.records.map { $0.key == StateKey.chunk(0, of: .notes) ? ($0.key, forged.bytes) : $0 }
      do {
        var planner = try life.restored(records)
        planner.subjects.checkInvariants()
        planner.takeChanges { _, _ in }
      } catch {
        refusals += 1
      }
    }
    #expect(refusals > 200, "\(refusals) of 600 refused")
  }

  @Test("without a chunk of notes that an operator leaves out, the planner forgets all subjects, and goes on")
  func leftOut() throws {
    var life = SubjectLife(seed: 96)
    life.bounds.stateChunkBytesMax = 600
    life.planner = Planner(policy: .flights(), bounds: life.bounds)
    life.live(200)
    let chunks = life.chunks
    try #require(chunks.count > 2)
    let lost = try #require(chunks.sorted { $0.lexicographicallyPrecedes($1) }.randomElement(using: &life.random))
    var restore = PlannerRestore(partition: 0, partitionCount: 1, bounds: life.bounds)
    for record in life.records {
      if record.key == lost, record.value != nil {
        try restore.leaveOut(lost)
      } else {
        try restore.add(key: record.key, value: record.value)
      }
    }
    let repairs = try restore.repairs()
    #expect(Set(repairs.map(\.key)) == chunks && repairs.allSatisfy { $0.value == nil })
    life.planner = try restore.finish(initialPolicy: .flights())
    #expect(life.planner.subjects.count == 0)
    for repair in repairs { life.records.append(repair) }
    life.reference = Planner(copying: life.planner)
    life.commit()
    #expect(try life.restored(life.records).subjects.count == 0)
    life.live(100)
    #expect(try life.restored(life.records).subjects.contents == life.reference.subjects.contents)
    // The cleaner has removed a part of the chunks that do not count any more.
    let rest = life.records.enumerated().filter { place, record in
      !chunks.contains(record.key) || record.key != chunks.min { $0.lexicographicallyPrecedes($1) }
    }.map(\.element)
    #expect(try life.restored(rest).subjects.contents == life.reference.subjects.contents)
  }
}
