import Domain
import Policies
import Testing

@testable import Planning

/// The records of an uncompacted `rouse.state`.
private struct StateTopic {
  typealias Record = (key: [UInt8], value: [UInt8]?)
  var records: [Record] = []

  mutating func take(changesOf planner: inout Planner) {
    planner.takeChanges { records.append((Array($0), $1.map(Array.init))) }
  }

  /// Returns all records in a random order in which the records of each key keep their order, and so do the chunks of each sort.
  func shuffled(_ random: inout SeededRandom) -> [Record] {
    let name = { (key: [UInt8]) in ChunkSort(rawValue: key[0]) == nil ? key : [key[0]] }
    var byKey = Dictionary(grouping: records.indices, by: { name(records[$0].key) }).mapValues { Array($0.reversed()) }
    var order = records.map { name($0.key) }.sorted { $0.lexicographicallyPrecedes($1) }
    order.shuffle(using: &random)
    return order.compactMap { byKey[$0]?.popLast().map { records[$0] } }
  }
}

@Suite("Recovery of a planner")
struct RecoveryTests {
  /// Makes `steps` random steps and appends every state record to a topic.
  private func live(_ life: inout RandomLife, steps: Int, _ topic: inout StateTopic) {
    for _ in 0..<steps {
      life.step()
      if Int.random(in: 0..<3, using: &life.random) == 0 { topic.take(changesOf: &life.harness.planner) }
    }
    topic.take(changesOf: &life.harness.planner)
  }

  private func restore(_ records: [StateTopic.Record], as life: RandomLife) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    for record in records { try restore.add(key: record.key, value: record.value) }
    return try restore.finish(initialPolicy: life.initialPolicy)
  }

  /// Continues with both planners and compares their decisions.
  private func compare(_ life: RandomLife, with planner: consuming Planner, _ seed: Int, _ what: String) {
    var undisturbed = life
    var restored = life
    restored.harness.planner = planner
    for step in 0..<200 {
      undisturbed.step()
      restored.step()
      guard undisturbed.harness.last == restored.harness.last,
        undisturbed.harness.lastCommands == restored.harness.lastCommands
      else {
        Issue.record("seed \(seed), \(what): decides otherwise at step \(step)")
        return
      }
    }
  }

  @Test(
    "an uncompacted topic restores the planner that wrote it, in any order of keys",
    arguments: 600..<616)
  func uncompacted(seed: Int) throws {
    var life = RandomLife(seed: UInt64(seed))
    var topic = StateTopic()
    live(&life, steps: 800, &topic)
    #expect(topic.records.contains { $0.value == nil }, "seed \(seed): nothing was removed")
    // A chunk is written only once.
    let repeatable = topic.records.filter { !"cn".utf8.contains($0.key[0]) }
    #expect(repeatable.count > 5 * Set(repeatable.map(\.key)).count, "seed \(seed): nothing was repeated")
    compare(life, with: try restore(topic.records, as: life), seed, "in order")
    var random = SeededRandom(seed: UInt64(seed))
    for round in 0..<3 {
      compare(life, with: try restore(topic.shuffled(&random), as: life), seed, "shuffle \(round)")
    }
  }

  @Test(
    "a restored device that is removed again leaves no event, cause, entry or instance behind", arguments: 620..<626)
  func leavesNothing(seed: Int) throws {
    var life = RandomLife(seed: UInt64(seed))
    var topic = StateTopic()
    live(&life, steps: 400, &topic)
    let once = try restore(topic.records, as: life)
    let twice = try restore(topic.records + topic.records, as: life)
    #expect(twice.census.instances == once.census.instances, "seed \(seed)")
    #expect(twice.sizes.interests == once.sizes.interests, "seed \(seed)")
    #expect(twice.census.causes == once.census.causes, "seed \(seed)")
    #expect(twice.census.events == once.census.events, "seed \(seed)")
    #expect(once.census.causes == life.harness.planner.census.causes, "seed \(seed)")
    #expect(
      once.sizes.keys == life.harness.planner.sizes.keys, "seed \(seed)")
    #expect(twice.viewHabits == once.viewHabits, "seed \(seed)")
    #expect(once.viewHabits == life.harness.planner.viewHabits, "seed \(seed)")
    #expect(once.deviceCount == life.harness.planner.deviceCount, "seed \(seed)")
  }

  @Test(
    "a snapshot that is written while planning continues is complete together with the changes since its beginning",
    arguments: 630..<642)
  func fuzzySnapshot(seed: Int) throws {
    var life = RandomLife(seed: UInt64(seed))
    var before = StateTopic()
    live(&life, steps: 300, &before)
    var snapshot = StateTopic()
    var since = StateTopic()
    var walk = StateWalk()
    var slices = 0
    while !life.harness.planner.writeState(
      from: &walk, recordsMax: 2,
      { key, value in
        snapshot.records.append((Array(key), value.map(Array.init)))
      })
    {
      slices += 1
      live(&life, steps: 4, &since)
    }
    #expect(slices > 3, "seed \(seed)")
    live(&life, steps: 20, &since)
    compare(life, with: try restore(snapshot.records + since.records, as: life), seed, "snapshot and changes")
  }

  @Test(
    "a walk without other records in between writes every record that a compacted topic holds", arguments: 650..<656)
  func wholeWalk(seed: Int) throws {
    var life = RandomLife(seed: UInt64(seed))
    var topic = StateTopic()
    live(&life, steps: 300, &topic)
    var state: [[UInt8]: [UInt8]] = [:]
    for record in topic.records { state[record.key] = record.value }
    var walked: [[UInt8]: [UInt8]] = [:]
    var walk = StateWalk()
    while !life.harness.planner.writeState(
      from: &walk, recordsMax: 3,
      { key, value in
        #expect(walked[Array(key)] == nil, "seed \(seed): a key was written twice")
        walked[Array(key)] = value.map(Array.init)
      })
    {}
    // The topic has a record of an app only after a charge to the app.
    for (key, value) in state where !"cn".utf8.contains(key[0]) {
      #expect(walked[key] == value, "seed \(seed): \(String(decoding: key, as: UTF8.self))")
    }
    // The walk writes the sizes of the chunks, and one record for each subject and device.
    for letter in "cn".utf8 {
      let chunks = Set(state.keys.filter { $0[0] == letter })
      #expect(Set(walked.keys.filter { $0[0] == letter }) == chunks, "seed \(seed)")
      #expect(!chunks.isEmpty, "seed \(seed)")
    }
    let restored = try restore(topicOrder(state).map { (key: $0.key, value: $0.value) }, as: life)
    let fromWalk = try restore(walked.map { (key: $0.key, value: $0.value) }, as: life)
    #expect(fromWalk.subjects.contents == restored.subjects.contents, "seed \(seed)")
    #expect(fromWalk.subjects.log.bytes == restored.subjects.log.bytes, "seed \(seed)")
    #expect(fromWalk.deviceLog.bytes == restored.deviceLog.bytes, "seed \(seed)")
    #expect(fromWalk.chunkOfDevices == restored.chunkOfDevices, "seed \(seed)")
  }

  @Test("the newest value of each key that does not belong to the planner is kept")
  func foreignKeys() throws {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    let key = Array("p/position".utf8)
    try restore.add(key: key, value: [1])
    try restore.add(key: key, value: [2])
    #expect(restore.count == 1)
    #expect(restore.take(key)?.bytes == [2])
    #expect(restore.take(key)?.bytes == nil)
    #expect(try restore.finish(initialPolicy: .flights()).deviceCount == 0)
  }

  @Test("a record is read from the middle of a buffer")
  func ranges() throws {
    var harness = PlannerHarness()
    harness.register(.phone())
    var buffer: [UInt8] = [9, 9]
    var places: [(Range<Int>, Range<Int>?)] = []
    harness.planner.takeChanges { key, value in
      let start = buffer.count
      buffer += key
      let end = buffer.count
      if let value { buffer += value }
      places.append((start..<end, value.map { _ in end..<buffer.count }))
    }
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    restore.reserve(harness.planner.sizes)
    for (key, value) in places { try restore.add(key: key, value: value, of: buffer) }
    #expect(try restore.finish(initialPolicy: .flights()).deviceCount == 1)
  }

  @Test("two devices in one slot are refused, whichever came first")
  func sameSlot() throws {
    var records: [StateTopic.Record] = []
    for device in ["a", "b"] as [Identifier] {
      var harness = PlannerHarness()
      harness.register(.phone(device))
      harness.planner.takeChanges { records.append((Array($0), $1.map(Array.init))) }
    }
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    for (offset, record) in records.enumerated() {
      try restore.add(key: record.key, value: record.value, at: Int64(offset))
    }
    var refused: StateRecordError?
    do throws(StateRecordError) { _ = try restore.finish(initialPolicy: .flights()) } catch { refused = error }
    let error = try #require(refused)
    #expect(error.key == Array("c/0".utf8))
    #expect(error.offset == records.lastIndex { $0.key == error.key }.map(Int64.init))
  }

  @Test("a subject that is kept alive by repeats is remembered for the same time after a restart")
  func subjectKeptAlive() {
    let day = 24 * PlannerHarness.hour
    let reasons = [false, true].map { restarts in
      var harness = PlannerHarness()
      harness.losesPlanner = { restarts }
      harness.register(.phone())
      let event = DomainEvent.delay(20, id: "e1", at: PlannerHarness.noon)
      return (0..<4).map { harness.event(event, at: PlannerHarness.noon + $0 * day).map(\.reason) }
    }
    #expect(reasons[0] == [[.emitted], [.duplicate], [.duplicate], [.duplicate]])
    #expect(reasons[1] == reasons[0])
  }
}
