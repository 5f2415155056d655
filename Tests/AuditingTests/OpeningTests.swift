import Domain
import Foundation
import GRDB
import Testing

@testable import Auditing

@Suite("Opening a store") struct OpeningTests {
  private func kind(_ path: String, _ options: AuditOptions = AuditOptions()) -> AuditError? {
    #expect(throws: AuditError.self) { try AuditStore.open(path: path, options: options) }
  }

  @Test("the file of an interrupted first start is brought up to date")
  func older() throws {
    let file = try TemporaryStore()
    do {
      // An interrupted first start leaves a file with the empty table of the migrator.
      let queue = try DatabaseQueue(path: file.path)
      try queue.write { db in
        try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try db.execute(sql: "PRAGMA application_id = \(AuditSchema.applicationId)")
      }
      try queue.close()
    }
    #expect(kind(file.path, AuditOptions(access: .read))?.kind == .cannotOpen)
    let store = try AuditStore.open(path: file.path)
    #expect(try store.store(AuditBatch([Sample.decision(1)])).decisions == 1)
    #expect(try AuditStore.open(path: file.path, options: AuditOptions(access: .read)).summary().decisions == 1)
  }

  @Test("a file from a newer version is refused and left as it is")
  func newer() throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    try store.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v999')") }
    try store.close()
    for access in [AuditOptions.Access.read, .write] {
      let error = kind(file.path, AuditOptions(access: access))
      #expect(error?.kind == .newerVersion && error?.isRetriable == false)
      #expect(error?.description.contains("newer version of this program") == true)
    }
  }

  @Test("a store in an older format is refused, says what to do, and is left as it is", arguments: ["v1", "v2", "v3"])
  func olderFormat(format: String) throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    try store.write {
      try $0.execute(
        sql: "UPDATE grdb_migrations SET identifier = '\(format)'; DROP TABLE page; CREATE TABLE decision (seq)")
    }
    try store.close()
    for access in [AuditOptions.Access.read, .write] {
      let error = kind(file.path, AuditOptions(access: access))
      #expect(error?.kind == .olderFormat && error?.isRetriable == false)
      #expect(error?.description.contains("in another format; move it away") == true)
    }
  }

  @Test("a new store belongs to the user alone, with its write-ahead log; one that exists keeps its permissions")
  func permissions() throws {
    func modes(_ path: String) throws -> [Int?] {
      try ["", "-wal", "-shm", ".key"].map { suffix in
        try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions] as? Int
      }
    }
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    try store.store(AuditBatch([Sample.decision(1)], [Sample.command(1)]))
    #expect(try modes(file.path) == [0o600, 0o600, 0o600, 0o600])
    #expect(!store.isReadableByOthers)
    try store.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    let again = try AuditStore.open(path: file.path)
    try again.store(AuditBatch([Sample.decision(2)]))
    #expect(try modes(file.path) == [0o644, 0o644, 0o644, 0o600])
    #expect(again.isReadableByOthers)
    #expect(try AuditStore.open(path: ":memory:").isReadableByOthers == false)
  }

  @Test("a key of another size is refused and kept, and a lost key is made anew")
  func key() throws {
    let file = try TemporaryStore()
    let batch = AuditBatch([], [Sample.command(1)])
    try Data("short".utf8).write(to: URL(fileURLWithPath: file.path + ".key"))
    let error = #expect(throws: AuditError.self) { try AuditStore.open(path: file.path).store(batch) }
    #expect(error?.kind == .corrupt && error?.description.contains("has 5 bytes instead of 32") == true)
    try FileManager.default.removeItem(atPath: file.path + ".key")
    let first = try AuditStore.open(path: file.path).keyOfTokens()
    #expect(try AuditStore.open(path: file.path).keyOfTokens() == first)
    try FileManager.default.removeItem(atPath: file.path + ".key")
    #expect(try AuditStore.open(path: file.path).keyOfTokens() != first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path).filter { $0.hasSuffix(".new") } == [])
  }

  @Test("a database of something else is refused")
  func foreign() throws {
    let file = try TemporaryStore()
    try DatabaseQueue(path: file.path).write { try $0.execute(sql: "CREATE TABLE song (title TEXT)") }
    #expect(kind(file.path)?.kind == .notAStore)
  }

  @Test(
    "a store with a view, a trigger, or a table of another definition is refused before it is read",
    arguments: [
      "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
      "DROP TABLE word; CREATE VIEW word AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
      "CREATE TRIGGER t AFTER INSERT ON word BEGIN DELETE FROM page; END",
      "DROP TABLE word; CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT AS (hex(zeroblob(1000000))))",
      "CREATE TABLE song (title TEXT)", "CREATE INDEX more ON word (n)",
    ])
  func foreignObject(sql: String) throws {
    let file = try TemporaryStore()
    let store = try AuditStore.open(path: file.path)
    try store.write { try $0.execute(sql: sql) }
    try store.close()
    for access in [AuditOptions.Access.read, .write] {
      let error = kind(file.path, AuditOptions(access: access))
      #expect(error?.kind == .notAStore)
      #expect(error?.description.contains("which this program did not make") == true)
    }
  }

  @Test("a file that is no database is called damaged")
  func damaged() throws {
    let file = try TemporaryStore()
    try Data(String(repeating: "no database ", count: 1_000).utf8).write(to: URL(fileURLWithPath: file.path))
    #expect(kind(file.path)?.kind == .corrupt)
  }

  @Test("the error for a missing folder or file says what to do")
  func missing() throws {
    let file = try TemporaryStore()
    let inNoFolder = kind(file.path + "/no/audit.sqlite")
    #expect(inNoFolder?.kind == .cannotOpen)
    #expect(inNoFolder?.description.contains("check that its folder exists") == true)
    #expect(kind(file.path, AuditOptions(access: .read))?.kind == .cannotOpen)
  }

  @Test("a store that is open for reading refuses to write")
  func readOnly() throws {
    let file = try TemporaryStore()
    _ = try AuditStore.open(path: file.path)
    let store = try AuditStore.open(path: file.path, options: AuditOptions(access: .read))
    let error = #expect(throws: AuditError.self) { try store.store(AuditBatch([Sample.decision(1)])) }
    #expect(error?.kind == .readOnly)
  }

  @Test("every word has a number of its own, which is read back as the word")
  func codes() throws {
    for reason in Reason.allCases { #expect(try Reason(code: reason.code) == reason) }
    for verdict in Verdict.allCases { #expect(try Verdict(code: verdict.code) == verdict) }
    for surface in Surface.allCases { #expect(try Surface(code: surface.code) == surface) }
    #expect(Set(Reason.allCases.map(\.code)).count == Reason.allCases.count)
    #expect(throws: StoredValueError.self) { try Reason(code: 999) }
  }

  @Test(
    "only ids that come back the same are kept as numbers",
    arguments: [
      ("d-0-0-0", true), ("d-12-345-6", true), ("d-01-2-3", false), ("d-1-2", false), ("d-1-2-3-4", false),
      ("d-1--3", false),
      ("c-1-2-3", false), ("d-+1-2-3", false), ("d-1-2-", false), ("d-1-1234567890123456789-0", false), ("", false),
    ])
  func ids(text: String, isNumbers: Bool) {
    let id = RecordId(Identifier(text), of: .decision)
    #expect((id != nil) == isNumbers)
    if let id { #expect(id.text(of: .decision).text == text) }
  }
}
