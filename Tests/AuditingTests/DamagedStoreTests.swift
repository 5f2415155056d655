import Domain
import GRDB
import Testing

@testable import Auditing

/// SQLite keeps a value of any type in any column, so a damaged file may hold any value in any column.
@Suite("a store with columns of other types")
struct DamagedStoreTests {
  private static let tables = [
    "position", "word", "block", "page", "place", "run", "stray", "command", "tally", "commandTally",
    "hourNames",
  ]
  private static let values = [
    "'text'", "1.5", "x'FF00'", "NULL", "9223372036854775807", "-9223372036854775808",
  ]

  private func filled() throws -> AuditStore {
    var random = SeededRandom(seed: 5)
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    for n in 0..<3 { batch.append(Sample.anyDecision(n, using: &random), partition: 0, offset: Int64(n)) }
    for n in 0..<3 { batch.append(Sample.anyCommand(n, using: &random)) }
    batch.append(Sample.decision(20, verdict: .emit, reason: .emitted, command: "c-0-20-0"))
    batch.append(Sample.command(20))
    try store.store(batch)
    return store
  }

  /// Asks every question, then stores a batch and removes rows.
  /// - Returns: the questions that were refused.
  private func refusals(of store: AuditStore) throws -> [AuditError] {
    let range = TimeRange(from: Sample.start, to: Sample.start + .minutes(90))
    let questions: [() throws -> Void] = [
      { _ = try store.summary() }, { _ = try store.activity(hours: 24) }, { _ = try store.positions() },
      { _ = try store.everything() },
      { _ = try store.device("phone") },
      { _ = try store.device("phone", range: range) }, { _ = try store.event("e1") },
      { _ = try store.why(WhyQuestion(device: "phone")) },
      { _ = try store.why(WhyQuestion(device: "phone", instance: "w7", event: "e1")) },
      { _ = try store.why(WhyQuestion(device: "phone", event: "none")) },
      { _ = try store.statement("phone") }, { _ = try store.zombies() }, { _ = try store.command("c-0-20-0") },
      { _ = try store.decisions(ofCommand: "c-0-20-0") },
      { for key in Top.Key.allCases { _ = try store.top(by: key) } },
      { for key in Top.Key.allCases { _ = try store.top(by: key, range: range) } },
      { store.words.removeAll() },
      { try store.store(AuditBatch([Sample.decision(30, event: "new")], [Sample.command(30)])) },
      { _ = try store.retain(Retention(ageMax: .hours(1))) }, { _ = try store.retain(Retention(bytesMax: 0)) },
    ]
    var refused: [AuditError] = []
    for question in questions {
      do { try question() } catch let error as AuditError { refused.append(error) }
    }
    return refused
  }

  @Test("every question is answered or refused, for any value of a column", arguments: tables)
  func anyColumn(table: String) throws {
    let columns = try filled().read { db in
      try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(table)')")
    }
    #expect(columns.count > 1)
    let sound = try filled()
    let store = try filled()
    var changes = 0
    for column in columns {
      for value in Self.values {
        // A copy of the pages is much quicker than another store.
        try sound.database.backup(to: store.database)
        store.words.removeAll()
        // SQLite itself refuses NULL where it is not allowed and anything but a number as the primary key.
        do {
          try store.write { try $0.execute(sql: #"UPDATE OR IGNORE "\#(table)" SET "\#(column)" = \#(value)"#) }
        } catch { continue }
        changes += 1
        for error in try refusals(of: store) {
          #expect(error.kind == .corrupt || error.kind == .other, "\(table).\(column) = \(value): \(error)")
        }
      }
    }
    #expect(changes > columns.count)
  }

  @Test("a refusal names the column and what was expected")
  func message() throws {
    let store = try filled()
    try store.write { try $0.execute(sql: "UPDATE page SET body = 'noon'") }
    let error = #expect(throws: AuditError.self) { try store.device("phone") }
    #expect(error?.kind == .corrupt)
    #expect(error?.description.contains("holds a row whose column body is not bytes") == true)
  }

  @Test("the largest and the smallest number of tokens are reported as they are stored")
  func tokens() throws {
    let store = try AuditStore.open(path: ":memory:")
    try store.store(AuditBatch([], [.max, .min, .max].enumerated().map { Sample.command($0, left: $1) }))
    let account = try #require(try store.statement("phone").accounts.first { $0.ledger == .instance })
    #expect(account.opening == .max && account.closing == .max)
    #expect(account.lines.map(\.left) == [.max, .min, .max])
    try store.store(AuditBatch([Sample.decision(9, verdict: .emit, reason: .emitted, command: "c-0-0-0")]))
    #expect(try store.why(WhyQuestion(device: "phone")).stories.first?.charges.first?.before == .max)
  }
}
