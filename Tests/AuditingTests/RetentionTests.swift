import Domain
import GRDB
import Testing

@testable import Auditing

@Suite("Retention") struct RetentionTests {
  /// Stores a decision an hour for each of two partitions, of which one is a day behind, and a command every third hour.
  private func filled(_ store: AuditStore, hours: Int) throws {
    var batch = AuditBatch()
    for hour in 0..<hours {
      let at = Sample.start + .hours(Int64(hour))
      batch.append(Sample.decision(hour, event: "e\(hour)", device: "d\(hour)", at: at))
      batch.append(Sample.decision(hour, event: "e\(hour)", device: "d\(hour)", at: at - .hours(24), partition: 1))
      if hour % 3 == 0 { batch.append(Sample.command(hour, device: "d\(hour)", at: at)) }
    }
    try store.store(batch)
  }

  @Test("rows older than the limit are removed, and every count follows")
  func age() throws {
    let store = try AuditStore.open(path: ":memory:")
    try filled(store, hours: 100)
    let cutoff = Sample.start + .hours(99) - .hours(48)
    let kept = try store.everything().filter { $0.at >= cutoff }
    let report = try store.retain(Retention(ageMax: .hours(48), chunkRows: 7))
    #expect(report.cutoff == cutoff && report.isComplete)
    #expect(report.decisions + report.commands == 234 - kept.count)
    #expect(try store.everything() == kept)
    let summary = try store.summary()
    #expect(summary.decisions + summary.commands == kept.count)
    #expect(summary.first == cutoff && summary.last == Sample.start + .hours(99))
    #expect(try store.top(by: .reason).total == summary.decisions)
    #expect(summary.charged.map(\.tokens) == [summary.commands, summary.commands])
    #expect(try store.retain(Retention(ageMax: .hours(48))).decisions == 0)
    #expect(try store.brokenInvariants() == [])
  }

  @Test("above the limit of bytes the oldest rows are removed, and the file shrinks")
  func size() throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    for block in 0..<4 {
      store.sequenceFloor = Int64(block) << AuditSchema.blockShift
      try store.store(
        AuditBatch((0..<2_000).map { Sample.decision(block * 2_000 + $0, at: Sample.start + .hours(Int64(block))) }))
    }
    let before = try store.bytesUsed()
    let report = try store.retain(Retention(bytesMax: before / 2, chunkRows: 500))
    #expect(report.bytesBefore == before && report.bytesAfter <= before / 2 && report.bytesAfter > before / 4)
    let left = try store.everything()
    #expect(try store.brokenInvariants() == [])
    #expect(left.count == 8_000 - report.decisions && !left.isEmpty)
    #expect(left.last?.at == Sample.start + .hours(3) && (left.first?.at ?? Sample.start) >= Sample.start + .hours(1))
    #expect(try store.read { try $0.blocks(in: .all).map(\.n) }.last == 3)
  }

  @Test("the index entries of a block go with its last record, and words stay", arguments: [nil, 1])
  func index(chunksMax: Int?) throws {
    let store = try AuditStore.open(path: ":memory:")
    try store.store(
      AuditBatch([Sample.decision(1, event: "old"), Sample.decision(2, event: "both", events: ["old", "both"])]))
    store.sequenceFloor = 1 << AuditSchema.blockShift
    let later = Sample.start + .hours(100)
    try store.store(
      AuditBatch([Sample.decision(3, event: "both", at: later), Sample.decision(4, event: "new", at: later)]))
    #expect(try store.summary().events == 3)
    var removed = 0
    for _ in 0..<20 {
      let report = try store.retain(Retention(ageMax: .hours(1), chunksMax: chunksMax))
      removed += report.decisions
      #expect(try store.brokenInvariants() == [])
      if report.isComplete { break }
    }
    #expect(removed == 2)
    #expect(try store.read { try Int64.fetchAll($0, sql: "SELECT DISTINCT block FROM place") } == [1])
    #expect(try store.event("old").isKnown == false)
    #expect(try store.event("both").decisions == 1)
    #expect(try store.summary().events == 2)
    try store.store(AuditBatch([Sample.decision(5, event: "old", at: later)]))
    #expect(try store.event("old").decisions == 1)
  }

  @Test("a decision that was removed by age, in order or out of order, can be stored again")
  func again() throws {
    let store = try AuditStore.open(path: ":memory:")
    let old = [Sample.decision(5), Sample.decision(3), Sample.decision(4)]
    try store.store(AuditBatch(old + [Sample.decision(6, at: Sample.start + .hours(9))]))
    #expect(try store.retain(Retention(ageMax: .hours(1))).decisions == 3)
    #expect(try store.brokenInvariants() == [])
    #expect(
      try store.store(AuditBatch(old + [Sample.decision(6)])) == StoredCounts(decisions: 3, commands: 0, duplicates: 1))
    #expect(try store.brokenInvariants() == [])
  }

  @Test("a store from which every row was removed takes new ones")
  func everything() throws {
    let store = try AuditStore.open(path: ":memory:")
    try filled(store, hours: 10)
    #expect(try store.retain(Retention(bytesMax: 0)).isComplete)
    let empty = try store.summary()
    #expect(empty.decisions == 0 && empty.commands == 0 && empty.events == 0 && empty.first == nil)
    try filled(store, hours: 10)
    #expect(try store.everything().count == 24)
    #expect(try store.summary().events == 10)
    #expect(try store.brokenInvariants() == [])
  }

  @Test("a call with a bound stops early and says so, and the next call continues")
  func bounded() throws {
    let store = try AuditStore.open(path: ":memory:")
    for block in 0..<10 {
      store.sequenceFloor = Int64(block) << AuditSchema.blockShift
      try store.store(
        AuditBatch((0..<20).map { Sample.decision(block * 20 + $0, at: Sample.start + .hours(Int64(block * 20 + $0))) })
      )
    }
    var removed = 0
    var calls = 0
    var report: Retention.Report
    repeat {
      report = try store.retain(Retention(ageMax: .hours(10), chunkRows: 20, chunksMax: 3))
      removed += report.decisions
      calls += 1
    } while !report.isComplete && calls < 100
    #expect(report.isComplete && calls > 2)
    #expect(removed == 200 - 11)
  }
}
