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

  var contents: [UInt64: Content] {
    var contents: [UInt64: Content] = [:]
    for key in keys {
      guard let subject = remembered(key) else { continue }
      contents[key] = Content(
        newest: subject.newest, generation: subject.generation, born: subject.born, noted: subject.noted)
    }
    return contents
  }
}

/// Two planners with the same log: random events about a few subjects, with repeats, stale events and passing days.
/// `reference` is never stopped. `planner` commits its state to a topic, from which it is sometimes restored.
private struct SubjectLife {
  let seed: UInt64
  var random: SeededRandom
  var bounds = PlannerBounds()
  /// The planner that is never stopped and never commits.
  var reference: Planner
  var planner: Planner
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
    bounds.noteChunkBytesMax = [150, 600, 64 * 1024].randomElement(using: &random) ?? 600
    bounds.noteSpareBytes = [0, 2000].randomElement(using: &random) ?? 0
    bounds.subjectsPerGenerationMax = [12, 30, 500].randomElement(using: &random) ?? 30
    reference = Planner(policy: .flights(), bounds: bounds)
    planner = reference
  }

  mutating func step() {
    time += Int64.random(in: 0...(daysPass ? 60 : 4), using: &random) * 1_000_000
    if daysPass, Int.random(in: 0..<400, using: &random) == 0 {
      time += Int64.random(in: 1...50, using: &random) * PlannerHarness.hour
    }
    // Half of the events are about a tenth of the subjects.
    let subject = Int.random(in: 0..<(Bool.random(using: &random) ? max(1, subjects / 10) : subjects), using: &random)
    let id = Int.random(in: 0..<400, using: &random)
    let at = time - Int64.random(in: 0...3, using: &random) * 60_000_000
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
    planner.takeChanges { key, value in
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

  /// Returns one possible content of the topic after compaction: the newest record of each key and some older ones, in
  /// the order of the records or of the keys.
  mutating func compacted() -> [(key: [UInt8], value: [UInt8]?)] {
    var newest: [[UInt8]: Int] = [:]
    for (place, record) in records.enumerated() { newest[record.key] = place }
    var kept = records.indices.filter { newest[records[$0].key] == $0 || Bool.random(using: &random) }
    if Bool.random(using: &random) {
      let order = Dictionary(
        uniqueKeysWithValues: newest.keys.sorted { $0.lexicographicallyPrecedes($1) }.map {
          ($0, UInt64.random(in: 0 ... .max, using: &random))
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
      #expect(restored.subjects.contents == life.reference.subjects.contents, "seed \(seed), restart \(round)")
      #expect(restored.subjects.log.bytes == life.planner.subjects.log.bytes, "seed \(seed), restart \(round)")
      if Bool.random(using: &life.random) { life.planner = restored }
    }
    #expect(
      life.records.contains { $0.key[0] == UInt8(ascii: "n") && $0.value == nil }, "seed \(seed): nothing removed")
  }

  @Test(
    "the chunks never take more than four times the size of the memory plus a constant", arguments: 30..<42)
  func bounded(seed: Int) throws {
    var life = SubjectLife(seed: seed)
    life.bounds.noteSpareBytes = 2000
    life.bounds.noteChunkBytesMax = 600
    life.bounds.subjectsPerGenerationMax = 500
    life.reference = Planner(policy: .flights(), bounds: life.bounds)
    life.planner = life.reference
    life.subjects = Int.random(in: 1...60, using: &life.random)
    var most = 0
    for _ in 0..<2500 {
      life.step()
      guard Int.random(in: 0..<5, using: &life.random) == 0 else { continue }
      life.commit()
      let whole = life.planner.subjects.contents.values.reduce(0) {
        $0 + NoteChunk.noteBytes + NoteChunk.eventBytes * $1.newest.events.count + 8 * $1.newest.values.count
      }
      most = max(most, whole)
      #expect(life.planner.subjects.log.bytes <= 4 * most + 6000, "seed \(seed): \(whole)")
    }
    #expect(life.chunks.count == Int(life.planner.subjects.log.next - life.planner.subjects.log.first), "seed \(seed)")
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
      #expect(restored.subjects.contents == life.reference.subjects.contents, "seed \(seed), round \(round)")
      #expect(restored.subjects.log.bytes == life.planner.subjects.log.bytes, "seed \(seed), round \(round)")
      #expect(
        restored.subjects.keys.allSatisfy {
          restored.subjects.remembered($0)?.place == life.planner.subjects.remembered($0)?.place
        }, "seed \(seed), round \(round)")
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
    #expect(size < 11 + 40 + 6 * 14, "\(size)")
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
      var entry = memory.slotOrNew(random.next() % 12 + 1)
      _ = memory.note(at: entry, id: random.next(), time: now, now: now)
      for _ in 0..<3 {
        let key = random.next() % 12 + 100
        if !entry.isAbsent, !memory.slots[entry].related.isAbsent { kept += 1 }
        let slot = memory.slot(key, after: entry)
        #expect(slot == memory.slot(key), "round \(round)")
        if let slot {
          (entry, found) = (slot, found + 1)
        } else {
          let value = DisplayedValue(bits: key)
          memory.note(key, values: [value].span, now: now)
          entry = .absent
        }
      }
    }
    #expect(found > 1000 && kept > 1000, "\(found) entries found, \(kept) behind an entry with a related one")
    memory.checkInvariants()
  }

  @Test("a topic that lacks a chunk, or has impossible notes, is refused")
  func refused() throws {
    var life = SubjectLife(seed: 92)
    life.bounds = PlannerBounds()
    life.planner = Planner(policy: .flights(), bounds: life.bounds)
    life.live(200)
    let chunks = life.records.filter { $0.key[0] == UInt8(ascii: "n") }
    try #require(chunks.count > 4)
    for missing in [0, chunks.count / 2] {
      let rest = life.records.filter { $0.key != chunks[missing].key }
      #expect(throws: StateRecordError.self) { try life.restored(rest) }
    }
    let clock = life.records.last { $0.key == StateKey.clock }
    var random = SeededRandom(seed: 92)
    var refusals = 0
    for _ in 0..<300 {
      var value = chunks[0].value ?? []
      if Bool.random(using: &random) {
        value.removeLast(Int.random(in: 0..<value.count, using: &random))
      } else {
        value[Int.random(in: 0..<value.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      // The record may be refused or read as another one; it must not trap.
      do {
        life.planner = try life.restored([(chunks[0].key, value), (StateKey.clock, clock?.value)])
        life.planner.takeChanges { _, _ in }
      } catch {
        refusals += 1
      }
    }
    #expect(refusals > 100)
    for key in ["n/-1", "n/x", "n/ffffffffffffffff"] {
      var restore = PlannerRestore(partition: 0, partitionCount: 1)
      #expect(throws: BinaryError.self, "\(key)") {
        try restore.add(key: Array(key.utf8), value: [stateFormatVersion, 0])
      }
    }
  }
}
