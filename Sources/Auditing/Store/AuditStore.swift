public import Domain
import GRDB

/// A store of all decisions and commands in one SQLite file, with the questions that can be asked about them.
///
/// Use a store on one thread. Other threads and processes open the same path for themselves: readers never wait for the
/// writer (write-ahead log), and several writers take turns.
public final class AuditStore {
  /// The path of the file, or `:memory:`.
  public let path: String
  let database: DatabaseQueue
  let words = WordCache()
  /// Counts the decisions of the block that is being filled.
  let filling = FillingBlock()
  /// A lower bound of the next sequence number. Tests raise it to begin another block.
  var sequenceFloor: Int64 = 0

  private var tokenKey: TokenKey?

  private init(path: String, database: DatabaseQueue) {
    self.path = path
    self.database = database
  }

  /// Opens a store. Opening for writing makes the file if there is none, for its owner alone; its folder must exist.
  /// - Parameters:
  ///   - path: the file, or `:memory:` for a store in memory that is lost when the store is released.
  ///   - options: by default the store is opened for writing.
  /// - Throws: `AuditError` when the file cannot be opened, is no audit store, or comes from a newer version.
  public static func open(path: String, options: AuditOptions = AuditOptions()) throws(AuditError) -> AuditStore {
    do {
      var configuration = Configuration()
      configuration.readonly = options.access == .read
      configuration.foreignKeysEnabled = false
      configuration.busyMode = .timeout(Double(options.busyTimeout.microseconds) / 1e6)
      configuration.label = "rouse.audit"
      let inMemory = path == ":memory:"
      if !inMemory, options.access == .write { PrivateFile.createIfMissing(path) }
      configuration.prepareDatabase { try prepare($0, options: options, inMemory: inMemory) }
      let database =
        inMemory
        ? try DatabaseQueue(configuration: configuration) : try DatabaseQueue(path: path, configuration: configuration)
      let store = AuditStore(path: path, database: database)
      try store.bringUpToDate(access: options.access)
      return store
    } catch { throw AuditError(error, path: path) }
  }

  /// Whether users other than the owner can read or write the file or its key. Files that a store makes are for the owner
  /// alone; existing ones keep their permissions. Always false for `:memory:`.
  public var isReadableByOthers: Bool {
    path != ":memory:" && [path, TokenKey.path(of: path)].contains { PrivateFile.isOpenToOthers($0) }
  }

  /// Returns the key with which push tokens are hashed. The first call makes it if the store has none.
  /// - Throws: `AuditError` when the file of the key cannot be made or read.
  func keyOfTokens() throws(AuditError) -> TokenKey {
    if let tokenKey { return tokenKey }
    let key = try TokenKey.ofStore(path)
    tokenKey = key
    return key
  }

  /// Closes the file. A store that is not closed closes its file with the last reference to it.
  /// - Throws: `AuditError` when SQLite cannot close the file.
  public func close() throws(AuditError) {
    try run { try database.close() }
  }

  /// Returns the progress of each topic partition, in order of topic and partition.
  /// - Throws: `AuditError` when the file cannot be read.
  public func positions() throws(AuditError) -> [AuditPosition] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT topic, partition, next FROM position ORDER BY topic, partition").compactMap {
        row in
        guard let topic = AuditTopic(code: try row.integer(0)) else { return nil }
        return AuditPosition(topic: topic, partition: try row.integer(1, as: Int32.self), next: try row.integer(2))
      }
    }
  }

  /// Returns the bytes of the file that are in use: without free pages and without the write-ahead log.
  /// - Throws: `AuditError` when the file cannot be read.
  public func bytesUsed() throws(AuditError) -> Int64 {
    try read { try $0.bytesUsed() }
  }

  /// Runs `body` on one unchanging view of the file.
  func read<T>(_ body: (Database) throws -> T) throws(AuditError) -> T {
    try run { try database.read(body) }
  }

  /// Runs `body` in a transaction, which is rolled back if `body` throws.
  func write<T>(_ body: (Database) throws -> T) throws(AuditError) -> T {
    try run { try database.write(body) }
  }

  /// Turns every error of `body` into an `AuditError`.
  func run<T>(_ body: () throws -> T) throws(AuditError) -> T {
    do { return try body() } catch { throw AuditError(error, path: path) }
  }

  /// Configures a new connection.
  private static func prepare(_ db: Database, options: AuditOptions, inMemory: Bool) throws {
    try db.execute(sql: "PRAGMA cache_size = \(-max(1, options.cacheBytes / 1024))")
    try db.execute(sql: "PRAGMA temp_store = MEMORY")
    // The schema of a file from elsewhere must not call functions.
    try db.execute(sql: "PRAGMA trusted_schema = OFF")
    guard options.access == .write else { return }
    // Takes effect only in a new file, before the first table and before the journal mode is set.
    try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
    if let limit = options.fileBytesMax {
      let pageBytes = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
      try db.execute(sql: "PRAGMA max_page_count = \(max(1, limit / pageBytes))")
    }
    guard !inMemory else { return }
    let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
    guard mode == "wal" else { throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "no write-ahead log here") }
    try db.execute(sql: "PRAGMA synchronous = NORMAL")
    try db.execute(sql: "PRAGMA wal_autocheckpoint = 8000")
  }

  /// Checks that the file is a store this version can use and, for writing, makes its tables.
  private func bringUpToDate(access: AuditOptions.Access) throws {
    let migrator = AuditSchema.migrator
    try database.read { db in
      let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
      let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
      if tables > 0, application != AuditSchema.applicationId {
        throw AuditError(
          kind: .notAStore, path: path, reason: "is a database, but not an audit store",
          advice: "give the path of an audit store, or of a file that does not exist yet")
      }
      if let error = try AuditSchema.otherFormat(in: db, path: path) { throw error }
      if let foreign = try AuditSchema.foreignObject(in: db) {
        throw AuditError(
          kind: .notAStore, path: path, reason: "holds \(foreign), which this program did not make",
          advice: "move it away; a new store can be filled again from the topics")
      }
      if access == .read, try !migrator.hasCompletedMigrations(db) {
        throw AuditError(
          kind: .cannotOpen, path: path, reason: "is empty, and open for reading only",
          advice: "open it once for writing, which makes its tables")
      }
    }
    if access == .write { try migrator.migrate(database) }
  }
}

extension Database {
  /// Returns the bytes of the pages in use.
  func bytesUsed() throws -> Int64 {
    let pages = try Int64.fetchOne(self, sql: "PRAGMA page_count") ?? 0
    let free = try Int64.fetchOne(self, sql: "PRAGMA freelist_count") ?? 0
    return (pages - free) * (try Int64.fetchOne(self, sql: "PRAGMA page_size") ?? 4096)
  }
}
