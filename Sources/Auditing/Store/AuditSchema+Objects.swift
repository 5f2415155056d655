import GRDB

extension AuditSchema {
  /// Returns the error for a store in another format than this program writes; nil for any other file.
  static func otherFormat(in db: Database, path: String) throws -> AuditError? {
    // Only a table of the known definition is read: anything else may be a view that never ends.
    let table = try Row.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'")
    guard let table, let definition = try definitions()["grdb_migrations"], try table.text(0) == definition else {
      return nil
    }
    let names = try Row.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations").map { try $0.text(0) }
    guard let other = names.first(where: { $0 != format }) else { return nil }
    if olderFormats.contains(other) {
      return AuditError(
        kind: .olderFormat, path: path, reason: "was written by an older version of this program, in another format",
        advice: "move it away, or give another path; a new store fills itself again from the topics")
    }
    return AuditError(
      kind: .newerVersion, path: path, reason: "was written by a newer version of this program",
      advice: "use that version, or give another path; the topics can fill a new store")
  }

  /// Returns a table, index, view or trigger of a file that no release made, in words; nil if there is none.
  ///
  /// A view or a trigger runs statements of whoever made the file, and a table of another definition may be no table at
  /// all. So the definitions are compared to those of a new store, word by word. Tables of SQLite itself have no
  /// definition of ours.
  static func foreignObject(in db: Database) throws -> String? {
    let own = try definitions()
    let objects = try Row.fetchCursor(db, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY name")
    while let row = try objects.next() {
      let (type, name) = (try row.text(0), try row.text(1))
      if name.hasPrefix("sqlite_"), type == "table" || type == "index" { continue }
      let definition: String? = row[2]
      guard let definition, own[name] == definition else { return "the \(type) \(name)" }
    }
    return nil
  }

  /// The definitions of a new store, by name.
  private static func definitions() throws -> [String: String] {
    let queue = try DatabaseQueue()
    try migrator.migrate(queue)
    return try queue.read { db in
      var definitions: [String: String] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL") {
        definitions[try row.text(0)] = try row.text(1)
      }
      return definitions
    }
  }
}
