import Domain
import Foundation
import GRDB
import Testing

@testable import Auditing

@Suite("Storing") struct StoringTests {
  @Test("records are read back equal", arguments: [1, 2, 3] as [UInt64])
  func roundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let decisions = (0..<400).map { Sample.anyDecision($0, using: &random) }
    let commands = (0..<200).map { Sample.anyCommand($0, using: &random) }
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    #expect(
      try store.store(AuditBatch(decisions, commands)) == StoredCounts(decisions: 400, commands: 200, duplicates: 0))
    #expect(try store.brokenInvariants() == [], "seed \(seed)")
    let entries = try AuditStore.open(path: file.path, options: AuditOptions(access: .read)).everything()
    let concealed = try commands.map { AuditEntry.command(try store.keyOfTokens().concealing($0)) }
    #expect(entries == decisions.map { .decision($0) } + concealed, "seed \(seed)")
    for event in Set(decisions.map(\.event)) {
      #expect(try store.event(event).decisions == decisions.count { $0.event == event }, "seed \(seed), event \(event)")
    }
  }

  @Test("a refusal for the content is told apart, and a summary lists what the store will never have")
  func holes() throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    try store.write {
      try $0.execute(
        sql: """
          CREATE TEMP TRIGGER picky BEFORE INSERT ON main.page WHEN new.atMin = \(Sample.start.microseconds + 2)
          BEGIN SELECT RAISE(ABORT, 'not this one'); END
          """)
    }
    let refused = Sample.decision(2, at: Timestamp(microseconds: Sample.start.microseconds + 2))
    let error = #expect(throws: AuditError.self) { try store.store(AuditBatch([refused])) }
    #expect(error?.kind == .refusedContent && error?.isRetriable == false)
    #expect(error?.reason == "a record was refused (not this one)")
    try store.store(AuditBatch([Sample.decision(1)]))
    var batch = AuditBatch()
    let holes = [
      AuditHole(topic: .decisions, partition: 0, offsets: 2..<3, cause: .refused, reason: "not\u{1b} this one"),
      AuditHole(topic: .decisions, partition: 0, offsets: 4..<5, line: 1, cause: .refused, reason: "nor this"),
      AuditHole(topic: .decisions, partition: 0, offsets: 4..<5, line: 30, cause: .refused, reason: "nor that"),
      AuditHole(topic: .decisions, partition: 3, offsets: 7..<9, cause: .passedOver),
      AuditHole(topic: .commands, partition: 0, offsets: 0..<1_000, cause: .removed),
    ]
    for hole in holes + holes { batch.append(hole) }
    try store.store(batch)
    let summary = try store.summary()
    #expect(summary.holes == holes && summary.recordsMissing == 1_005 && summary.decisions == 1)
    #expect(
      AuditText.render(summary).description.hasSuffix(
        """

        1,005 records will never be in the store
          decisions[0]@2               1 record  refused               not\\u{1b} this one
          decisions[0]@4 line 1      1 decision  refused               nor this
          decisions[0]@4 line 30     1 decision  refused               nor that
          decisions[3]@7              2 records  passed over by order
          commands[0]@0           1,000 records  removed by retention

        """))
    #expect(AuditJSON.render(summary).contains(#""cause": "passedOver""#))
    #expect(AuditJSON.render(summary).contains(#""line": 30"#))
  }

  @Test("the largest decision and command that planners write are read back equal")
  func largest() throws {
    let device = Identifier(String(repeating: "\u{1}", count: DomainBounds.plannedDeviceBytesMax))
    let instance = Identifier(String(repeating: "\0", count: DomainBounds.plannedInstanceBytesMax))
    let events = (0..<32).map { number -> Identifier in
      "\(String(repeating: "\u{2}", count: DomainBounds.nameBytesMax - 3))\(100 + number)"
    }
    var command = Sample.command(
      1, device: device,
      serves: (0..<DomainBounds.instancesPerDeviceMax).map { _ in
        Command.Served(instance: instance, kind: instance, events: events, reason: .emitted)
      })
    command.apns.payload = #"{"x":""# + String(repeating: "y", count: DomainBounds.payloadBytesMax - 8) + #""}"#
    let decision = Sample.decision(1, device: device, instance: instance, events: events)
    let store = try AuditStore.open(path: ":memory:")
    try store.store(AuditBatch([decision], [command]))
    #expect(try store.everything() == [.decision(decision), .command(store.keyOfTokens().concealing(command))])
    #expect(try store.brokenInvariants() == [])
  }

  @Test("devices, instances, kinds, events and policies whose names are only equivalent are kept apart")
  func equivalentNames() throws {
    let names: [Identifier] = ["caf\u{e9}", "cafe\u{301}"]
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    var batch = AuditBatch()
    for (n, name) in names.enumerated() {
      for round in 0...n {
        var decision = Sample.decision(10 * n + round, event: name, device: name, instance: name, kind: name)
        decision.policy.version = name
        decision.traceparent = name.text
        batch.append(decision, partition: 0, offset: Int64(10 * n + round))
      }
      batch.append(Sample.command(n, device: name), partition: 0, offset: Int64(n))
    }
    try store.store(batch)
    #expect(try store.brokenInvariants() == [])
    for (n, name) in names.enumerated() {
      #expect(try store.device(name).entries.count == n + 2)
      #expect(try store.event(name).decisions == n + 1)
      let answer = try store.why(WhyQuestion(device: name, instance: name, kind: name, event: name))
      #expect(answer.stories.map(\.instance) == [name] && answer.stories[0].steps.count == n + 1)
      #expect(answer.stories[0].steps[0].decision.policy.version == name)
      #expect(answer.stories[0].steps[0].decision.traceparent.map { Identifier($0) } == name)
      #expect(try store.statement(name).commands == 1)
    }
    for key in [Top.Key.kind, .device, .event] {
      let top = try store.top(by: key)
      #expect(top.rows.map(\.name) == [names[1], names[0]] && top.rows.map(\.decisions) == [2, 1], "\(key)")
    }
  }

  @Test("not-a-number is read back as not-a-number")
  func notANumber() throws {
    let store = try AuditStore.open(path: ":memory:")
    try store.store(AuditBatch([Sample.decision(1, value: .nan)]))
    guard case .decision(let decision) = try store.everything().first else {
      Issue.record("nothing stored")
      return
    }
    #expect(decision.value.isNaN && decision.price == 0.3)
  }

  @Test("push tokens are stored and exported as keyed hashes, with one key for the life of the store")
  func tokens() throws {
    let token = String(repeating: "ab12cd34", count: 8)
    func command(_ n: Int, _ address: PushTarget) -> Command {
      var command = Sample.command(n)
      command.apns.address = address
      return command
    }
    let file = try TemporaryStore()
    do {
      let store = try AuditStore.open(path: file.path)
      try store.store(AuditBatch([], [command(1, .token(token)), command(2, .channel("chan=="))]))
      try store.close()
    }
    let store = try AuditStore.open(path: file.path)
    try store.store(AuditBatch([], [command(3, .token(token)), command(4, .token(token + "00"))]))
    var lines: [String] = []
    try store.export { entry in
      lines.append(AuditJSON.line(entry))
      return true
    }
    let addresses = try lines.map { try Command(json: Array($0.utf8)).apns.address }
    guard case .token(let hash) = addresses[0] else {
      Issue.record("no token")
      return
    }
    #expect(hash.hasPrefix("hash:") && hash.utf8.count == 37)
    #expect(addresses[1] == .channel("chan=="))
    #expect(addresses[2] == addresses[0] && addresses[3] != addresses[0])
    let other = try AuditStore.open(path: ":memory:")
    #expect(try other.keyOfTokens().hash(of: token) != hash)
    try store.close()
    for suffix in ["", "-wal", ".key"] where FileManager.default.fileExists(atPath: file.path + suffix) {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path + suffix))
      #expect(bytes.range(of: Data(token.utf8)) == nil, "\(suffix)")
    }
  }

  @Test("a batch that is stored again changes nothing")
  func idempotent() throws {
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    for n in 0..<20 { batch.append(Sample.decision(n), partition: 1, offset: Int64(n)) }
    batch.append(Sample.command(1), partition: 0, offset: 7)
    try store.store(batch)
    let before = try store.summary()
    #expect(try store.store(batch) == StoredCounts(decisions: 0, commands: 0, duplicates: 21))
    #expect(try store.summary() == before)
    #expect(try store.everything().count == 21)
  }

  @Test("positions are where to resume, and never go back")
  func positions() throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    var batch = AuditBatch()
    batch.append(Sample.decision(1), partition: 3, offset: 41)
    batch.append(Sample.command(1), partition: 0, offset: 9)
    batch.advance(.decisions, partition: 2, past: 99)
    try store.store(batch)
    var older = AuditBatch()
    older.append(Sample.decision(1), partition: 3, offset: 5)
    try store.store(older)
    try store.close()
    let expected = [
      AuditPosition(topic: .decisions, partition: 2, next: 100),
      AuditPosition(topic: .decisions, partition: 3, next: 42),
      AuditPosition(topic: .commands, partition: 0, next: 10),
    ]
    #expect(try AuditStore.open(path: file.path).positions() == expected)
  }

  @Test("a full store refuses a whole batch, keeps its rows, and takes the batch when there is room")
  func full() throws {
    let file = try TemporaryStore()
    let batch = { (start: Int) in
      var batch = AuditBatch()
      for n in start..<start + 5_000 {
        batch.append(Sample.decision(n, event: "event \(n)", device: "device \(n)"), partition: 0, offset: Int64(n))
      }
      return batch
    }
    let store = try AuditStore.open(path: file.path, options: AuditOptions(fileBytesMax: 700_000))
    try store.store(batch(0))
    let before = try store.summary()
    let error = #expect(throws: AuditError.self) { try store.store(batch(5_000)) }
    #expect(error?.kind == .diskFull && error?.isRetriable == true)
    #expect(try store.summary() == before)
    #expect(try store.brokenInvariants() == [])
    #expect(try store.positions() == [AuditPosition(topic: .decisions, partition: 0, next: 5_000)])
    try store.close()
    let roomy = try AuditStore.open(path: file.path)
    #expect(try roomy.store(batch(5_000)).decisions == 5_000)
    #expect(try roomy.positions() == [AuditPosition(topic: .decisions, partition: 0, next: 10_000)])
    #expect(try roomy.why(WhyQuestion(device: "device 5001", event: "event 5001")).stories.count == 1)
  }

  @Test("a reader sees whole batches while another connection writes")
  func concurrentReader() throws {
    let file = try TemporaryStore()
    let writer = try AuditStore.open(path: file.path)
    let reader = try AuditStore.open(path: file.path, options: AuditOptions(access: .read))
    for round in 0..<5 {
      try writer.store(AuditBatch((0..<10).map { Sample.decision(round * 10 + $0) }))
      #expect(throws: AuditError.self) {
        try writer.write { db in
          try db.execute(sql: "DELETE FROM page")
          // The transaction is not committed: the reader neither waits for it nor sees it.
          #expect(try reader.everything().count == (round + 1) * 10)
          throw CancellationError()
        }
      }
    }
  }

  @Test("two writers of one file take turns and agree on the numbers of words")
  func twoWriters() throws {
    let file = try TemporaryStore()
    let one = try AuditStore.open(path: file.path)
    let two = try AuditStore.open(path: file.path)
    for n in 0..<10 {
      try (n % 2 == 0 ? one : two).store(AuditBatch([Sample.decision(n, event: "e\(n / 2)", device: "d\(n % 3)")]))
    }
    #expect(try one.everything().count == 10)
    #expect(try one.summary() == two.summary())
    #expect(try one.brokenInvariants() == [] && two.brokenInvariants() == [])
    #expect(try two.event("e4").decisions == 2)
  }

  @Test("each table that differs from the others is found")
  func invariants() throws {
    let changes = [
      ("UPDATE tally SET count = count + 1", "tally"), ("UPDATE commandTally SET count = 7 WHERE ledger = 0", "tally"),
      ("UPDATE block SET atMax = atMin - 1", "block"), ("UPDATE command SET seq = 1", "sequence number"),
      ("DELETE FROM hourNames", "hours with names"), ("INSERT INTO hourNames VALUES (7, x'', x'')", "hours with names"),
      ("UPDATE hourNames SET devices = x''", "names of each hour"),
      ("UPDATE hourNames SET events = x''", "names of each hour"),
      ("DELETE FROM place", "index"), ("DELETE FROM run", "run"), ("UPDATE run SET page = 9", "belongs to a page"),
      (
        "UPDATE run SET lastOrdinal = 9; INSERT INTO run SELECT partition, lastOffset, 5, firstOffset, 0, page FROM run",
        "overlaps"
      ),
      ("UPDATE page SET lines = 2", "number of lines"), ("UPDATE page SET atMax = atMax + 1", "times"),
      ("UPDATE word SET n = n + 100 WHERE text = 'apns-push-type'", "cache"),
    ]
    for (sql, word) in changes {
      let store = try AuditStore.open(path: ":memory:")
      try store.store(AuditBatch([Sample.decision(1)], [Sample.command(1)]))
      #expect(try store.brokenInvariants() == [])
      try store.write { try $0.execute(sql: sql) }
      let broken = try store.brokenInvariants()
      #expect(broken.contains { $0.contains(word) }, "\(sql): \(broken)")
    }
  }

  @Test("a store that another process holds for too long is locked, and the call may be tried again")
  func locked() throws {
    let file = try TemporaryStore()
    let holder = try AuditStore.open(path: file.path)
    let waiting = try AuditStore.open(path: file.path, options: AuditOptions(busyTimeout: .zero))
    try holder.write { _ in
      let error = #expect(throws: AuditError.self) { try waiting.store(AuditBatch([Sample.decision(1)])) }
      #expect(error?.kind == .locked && error?.isRetriable == true)
    }
    #expect(try waiting.store(AuditBatch([Sample.decision(1)])).decisions == 1)
  }
}
