import Domain
import Foundation
import GRDB
import Testing

@testable import Auditing

@Suite("Counts of full blocks") struct BlockCountsTests {
  /// Stores decisions of some devices and events in blocks of their own.
  private func fill(_ store: AuditStore, blocks: Range<Int>) throws {
    for block in blocks {
      store.sequenceFloor = Int64(block) << AuditSchema.blockShift
      try store.store(
        AuditBatch(
          (0..<700).map { n in
            Sample.decision(
              block * 700 + n, event: "e\(n % (7 + block))", device: "d\(n * n % 31)",
              at: Sample.start + .hours(Int64(block)) + .seconds(Int64(n)))
          }))
    }
  }

  /// The blocks that have counts.
  private func counted(_ store: AuditStore) throws -> [Int64] {
    try store.read { try Int64.fetchAll($0, sql: "SELECT DISTINCT block FROM blockCount ORDER BY 1") }
  }

  /// Compares the most frequent names of a range with those of all its decisions.
  private func check(_ store: AuditStore, _ range: TimeRange = .all) throws {
    var (devices, events): ([Identifier: Int], [Identifier: Int]) = ([:], [:])
    for case .decision(let decision) in try store.everything(range) {
      devices[decision.device, default: 0] += 1
      events[decision.event, default: 0] += 1
    }
    for (key, counts) in [(Top.Key.device, devices), (.event, events)] {
      let top = try store.top(by: key, range: range, limit: 5)
      #expect(top.distinct == counts.count && top.total == counts.values.reduce(0, +))
      #expect(top.rows.map(\.decisions) == Array(counts.values.sorted(by: >).prefix(5)))
      #expect(top.rows.allSatisfy { counts[$0.name] == $0.decisions })
    }
    #expect(try store.brokenInvariants() == [])
  }

  @Test("a block has counts once a page lies behind it, and answers from them equal those from the decisions")
  func full() throws {
    let store = try AuditStore.open(path: ":memory:")
    try fill(store, blocks: 0..<4)
    #expect(try counted(store) == [0, 1, 2])
    try check(store)
    for hours in [(0, 1), (1, 4), (2, 3)] {
      let from = Sample.start + .hours(Int64(hours.0))
      try check(store, TimeRange(from: from, to: Sample.start + .hours(Int64(hours.1))))
      try check(store, TimeRange(from: from + .minutes(5)))
    }
    // The counts are used: without the pages behind them the answer is the same.
    let before = try store.top(by: .event, range: TimeRange(to: Sample.start + .hours(3)))
    try store.write { try $0.execute(sql: "DELETE FROM page WHERE seq < ?", arguments: [3 << AuditSchema.blockShift]) }
    #expect(try store.top(by: .event, range: TimeRange(to: Sample.start + .hours(3))) == before)
  }

  @Test("whatever changes a page of a block removes its counts, and a block that fills again gets new ones")
  func changed() throws {
    let store = try AuditStore.open(path: ":memory:")
    try fill(store, blocks: 0..<4)
    _ = try store.retain(Retention(ageMax: .hours(2)))
    #expect(try counted(store) == [2])
    try check(store)
    // Without the newest pages the next ones go into a block that has counts.
    try store.write { db in
      for table in ["page", "place", "run", "blockCount"] where table != "blockCount" {
        let column = table == "page" ? "seq" : table == "place" ? "block << 17" : "page"
        try db.execute(sql: "DELETE FROM \(table) WHERE \(column) >= ?", arguments: [3 << AuditSchema.blockShift])
      }
      try db.execute(sql: "DELETE FROM tally; DELETE FROM block WHERE n = 3")
    }
    store.sequenceFloor = 0
    try store.store(AuditBatch([Sample.decision(99_999, event: "late", at: Sample.start + .hours(2))]))
    #expect(try counted(store) == [])
    #expect(try store.top(by: .event).rows.contains { $0.name == "late" })
    store.sequenceFloor = 5 << AuditSchema.blockShift
    try store.store(AuditBatch([Sample.decision(100_000, event: "later", at: Sample.start + .hours(5))]))
    #expect(try counted(store) == [2])
    #expect(try store.top(by: .event).rows.contains { $0.name == "late" })
  }

  @Test("a block with very many different names has no counts of them, and is scanned")
  func many() throws {
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    for n in 0...BlockCounts.namesMax { batch.append(Sample.decision(n, event: "e", device: "d\(n)")) }
    try store.store(batch)
    store.sequenceFloor = 1 << AuditSchema.blockShift
    try store.store(AuditBatch([Sample.decision(1_000_000, event: "e", device: "d0")]))
    #expect(
      try store.read { try Int64.fetchAll($0, sql: "SELECT key FROM blockCount") } == [
        Int64(KeyHash.Key.event.rawValue)
      ])
    #expect(
      try store.top(by: .device, limit: 1)
        == Top(
          key: .device, rows: [Top.Row(name: "d0", decisions: 2)], total: BlockCounts.namesMax + 2,
          distinct: BlockCounts.namesMax + 1))
  }

  @Test("the counts of a block that fills are those of its pages after a failed write, another writer or a removal")
  func filling() throws {
    let directory = FileManager.default.temporaryDirectory.appending(component: "filling-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appending(component: "audit.sqlite").path
    let (store, other) = (try AuditStore.open(path: path), try AuditStore.open(path: path))
    func batch(_ numbers: Range<Int>, _ device: String, after hours: Int64 = 0) -> AuditBatch {
      AuditBatch(
        numbers.map { Sample.decision($0, event: "e", device: Identifier(device), at: Sample.start + .hours(hours)) })
    }
    /// Fills the block and checks its counts.
    func fill(_ block: Int, isCounted: Bool, _ expected: [String: Int]) throws {
      #expect(try store.write { try store.filling.write(Int64(block), $0) } == isCounted)
      store.sequenceFloor = Int64(block + 1) << AuditSchema.blockShift
      other.sequenceFloor = store.sequenceFloor
      try store.store(batch(block * 1000 + 900..<block * 1000 + 901, "next", after: Int64(block)))
      let stored = try store.read { try BlockCounts.stored(Int64(block), .device, $0) }
      var counts = NameCounts()
      try counts.add(encoded: try #require(stored))
      let found = counts.counts.indices.map { (counts.name($0).text, counts.counts[$0]) }
      #expect(Dictionary(uniqueKeysWithValues: found) == expected)
      #expect(try store.brokenInvariants() == [])
    }
    try store.store(batch(0..<5, "a"))
    try fill(0, isCounted: true, ["a": 5])
    // In block 1 a write fails after its decisions are counted.
    try store.write {
      try $0.execute(sql: "CREATE TRIGGER no BEFORE INSERT ON position BEGIN SELECT RAISE(ABORT, 'no'); END")
    }
    var failing = batch(1000..<1003, "lost", after: 1)
    failing.advance(.decisions, partition: 0, past: 1)
    #expect(throws: AuditError.self) { try store.store(failing) }
    try store.write { try $0.execute(sql: "DROP TRIGGER no") }
    try store.store(batch(1000..<1002, "b", after: 1))
    try fill(1, isCounted: false, ["next": 1, "b": 2])
    // In block 2 another process writes as well.
    try other.store(batch(2000..<2003, "c", after: 2))
    try store.store(batch(2003..<2005, "d", after: 2))
    try fill(2, isCounted: false, ["next": 1, "c": 3, "d": 2])
    // In block 3 decisions are removed, and as many are stored afterwards.
    try store.store(batch(3000..<3002, "e", after: 3))
    try store.store(batch(3002..<3003, "f", after: 5))
    _ = try store.retain(Retention(ageMax: .hours(1)))
    try store.store(batch(3003..<3006, "f", after: 5))
    try fill(3, isCounted: false, ["f": 4])
  }

  @Test("counts that are damaged are refused")
  func damaged() throws {
    var counts = NameCounts()
    for name in ["flight/1", "flight/2", "", "flight/1"] { counts.add(Array(name.utf8).span) }
    #expect(counts.distinct == 3 && counts.greatest(1).map { counts.name($0) } == ["flight/1"])
    var copy = NameCounts()
    try copy.add(encoded: counts.encoded)
    #expect(copy.encoded == counts.encoded)
    for cut in 0..<counts.encoded.count {
      #expect(throws: (any Error).self) {
        var part = NameCounts()
        try part.add(encoded: Array(counts.encoded.prefix(cut)))
      }
    }
    #expect(throws: (any Error).self) { try copy.add(encoded: [1, 5, 0, 1]) }
  }
}
