import Domain
import GRDB
import Testing

@testable import Auditing

@Suite("Pages of decisions") struct PageTests {
  @Test("decisions in any order, with repetitions, are stored once each", arguments: 1...12 as ClosedRange<UInt64>)
  func once(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let decisions = (0..<120).map { Sample.anyDecision($0, using: &random) }
    let store = try AuditStore.open(path: ":memory:")
    var known: Set<Identifier> = []
    for round in 0..<12 {
      // Mostly in order, as partitions are read, and sometimes from anywhere.
      let part = (0..<Int.random(in: 1...40, using: &random)).map { step in
        Bool.random(using: &random)
          ? decisions[min(decisions.count - 1, round * 10 + step)]
          : decisions[Int.random(in: 0..<decisions.count, using: &random)]
      }
      var fresh = 0
      for decision in part where known.insert(decision.decision).inserted { fresh += 1 }
      let counts = try store.store(AuditBatch(part))
      #expect(counts == StoredCounts(decisions: fresh, commands: 0, duplicates: part.count - fresh), "seed \(seed)")
      #expect(try store.brokenInvariants() == [], "seed \(seed), round \(round)")
    }
    let stored = try store.everything()
    #expect(stored.count == known.count, "seed \(seed)")
    for entry in stored {
      guard case .decision(let decision) = entry else { continue }
      #expect(decisions.contains(decision), "seed \(seed): \(decision.decision)")
    }
  }

  @Test("batches of single decisions fill up one page, and a full page is left alone")
  func smallBatches() throws {
    let store = try AuditStore.open(path: ":memory:")
    for n in 0..<300 {
      try store.store(AuditBatch([Sample.decision(n, device: "d\(n % 7)")], n % 3 == 0 ? [Sample.command(n)] : []))
    }
    let (count, small) = try store.read { db in
      (
        try Int.fetchOne(db, sql: "SELECT count(*) FROM page") ?? 0,
        try Int.fetchOne(db, sql: "SELECT count(*) FROM page WHERE length(body) < \(PageFormat.reopenedBytesMax)") ?? 0
      )
    }
    #expect(count < 10 && small <= 1)
    #expect(try store.brokenInvariants() == [])
    let ids = try store.everything().compactMap {
      if case .decision(let decision) = $0 { decision.decision } else { nil }
    }
    #expect(ids == (0..<300).map { "d-0-\($0)-0" })
  }

  @Test("pages end at their number of lines and of bytes, and at a block")
  func bounds() throws {
    let store = try AuditStore.open(path: ":memory:")
    let long = Identifier(String(repeating: "w", count: 250))
    try store.store(AuditBatch((0..<3_000).map { Sample.decision($0, instance: $0 < 1_500 ? "w" : "\(long)\($0)") }))
    let pages = try store.read {
      try Row.fetchAll($0, sql: "SELECT lines, length(body) FROM page").map { try ($0.integer(0), $0.integer(1)) }
    }
    #expect(
      pages.contains { $0.0 == PageFormat.linesMax }
        && pages.contains { $0.0 < PageFormat.linesMax && $0.1 >= PageFormat.bytesMax })
    #expect(pages.allSatisfy { $0.0 <= PageFormat.linesMax && $0.1 < PageFormat.bytesMax + 1_000 })
    #expect(try store.brokenInvariants() == [])
    #expect(try store.device("phone", limit: 5_000).entries.count == 3_000)
  }

  @Test("devices, events and commands whose hashes are equal are told apart")
  func collisions() throws {
    var names: [Int64: Identifier] = [:]
    var pair: (Identifier, Identifier)?
    for n in 0..<1_000_000 where pair == nil {
      let name: Identifier = "n\(n)"
      let short = KeyHash(.device, name).short
      if let other = names[short] { pair = (other, name) } else { names[short] = name }
    }
    let (one, other) = try #require(pair)
    let store = try AuditStore.open(path: ":memory:")
    try store.store(
      AuditBatch([
        Sample.decision(1, device: one), Sample.decision(2, device: other), Sample.decision(3, device: other),
      ]))
    #expect(try store.device(one).entries.count == 1)
    #expect(try store.device(other).entries.count == 2)
    #expect(try store.why(WhyQuestion(device: one)).stories.first?.steps.map(\.decision.decision) == ["d-0-1-0"])
  }

  @Test("an id that is no id of a log record is a duplicate only of the same id, whatever its hash")
  func oddIds() throws {
    let store = try AuditStore.open(path: ":memory:")
    var (one, two) = (Sample.decision(1), Sample.command(1))
    (one.decision, two.command) = ("odd one", "odd two")
    try store.store(AuditBatch([one], [two]))
    // Gives both ids the hashes of others.
    let (hash, commandHash) = (KeyHash(.id, "another one").long, KeyHash(.id, "another two").long)
    try store.write {
      try $0.execute(sql: "UPDATE stray SET offset = \(hash); UPDATE command SET offset = \(commandHash)")
    }
    var (another, anotherCommand) = (one, two)
    (another.decision, anotherCommand.command) = ("another one", "another two")
    let batch = AuditBatch([another], [anotherCommand])
    #expect(try store.store(batch) == StoredCounts(decisions: 1, commands: 1, duplicates: 0))
    #expect(try store.store(batch) == StoredCounts(decisions: 0, commands: 0, duplicates: 2))
    #expect(try store.command("another two")?.command == "another two")
    #expect(try store.everything().count == 4)
  }

  @Test(
    "a page whose bytes were altered is refused or read, and never ends the process", arguments: [1, 2] as [UInt64])
  func altered(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try AuditStore.open(path: ":memory:")
    try store.store(AuditBatch((0..<30).map { Sample.anyDecision($0, using: &random) }))
    let body = try #require(try store.read { try Row.fetchOne($0, sql: "SELECT body FROM page")?.bytes(0) })
    var refused = 0
    for _ in 0..<2_000 {
      var bytes = body
      let at = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
      case 1: bytes.remove(at: at)
      case _: bytes.removeSubrange(at...)
      }
      do {
        try store.read { db in
          var reader = try PageReader(bytes, words: WordReader(db))
          while try reader.next() { _ = try reader.decision() }
        }
      } catch {
        refused += 1
        #expect(error.kind == .corrupt, "seed \(seed): \(error)")
      }
    }
    #expect(refused > 100)
  }
}

@Suite("Counting distinct names") struct DistinctSketchTests {
  private func sketch(_ names: some Sequence<Int>) -> DistinctSketch {
    var sketch = DistinctSketch()
    for name in names { sketch.add(KeyHash(.device, "device-\(name)")) }
    return sketch
  }

  @Test("the count is exact below the bound, and an estimate beyond", arguments: [0, 1, 2_047, 2_048, 20_000, 100_000])
  func count(names: Int) {
    let sketch = sketch(0..<names)
    #expect(sketch.isExact == (names < DistinctSketch.sizeMax))
    let error = Double(abs(sketch.count - names)) / Double(max(1, names))
    #expect(error <= (sketch.isExact ? 0 : 0.08), "\(sketch.count)")
  }

  @Test("sketches of parts add up, whatever they have in common, and survive storing")
  func parts() throws {
    for (a, b) in [(0..<1_000, 500..<1_500), (0..<9_000, 5_000..<30_000), (0..<0, 0..<3_000)] {
      var sum = sketch(a)
      sum.add(sketch(b))
      #expect(sum == sketch(Set(a).union(b)))
      #expect(try DistinctSketch(sum.bytes) == sum)
    }
    for bytes in [[1], [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1], Array(repeating: 0, count: 16)] as [[UInt8]] {
      #expect(throws: StoredValueError.self) { try DistinctSketch(bytes) }
    }
  }
}
