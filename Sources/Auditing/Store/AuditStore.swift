public import Domain
import GRDB

/// Every decision and command, kept in one SQLite file and ready to be asked about.
///
/// One value belongs to one thread. Other threads and processes open the same path for themselves: readers never wait
/// for the writer (write-ahead log), and several writers take turns.
public final class AuditStore {
  /// The file, or `:memory:`.
  public let path: String
  let database: DatabaseQueue
  let names = NameCaches()
  /// The next sequence number is at least this. Raised by tests to begin another block.
  var sequenceFloor: Int64 = 0
  /// `PRAGMA data_version` at the end of the last write: another value means that somebody else wrote, and that numbers
  /// in `names` may be gone.
  var dataVersion: Int64 = -1

  private init(path: String, database: DatabaseQueue) {
    self.path = path
    self.database = database
  }

  /// Opens a store, for writing makes the file if there is none. Its folder must exist.
  public static func open(path: String, options: AuditOptions = AuditOptions()) throws(AuditError) -> AuditStore {
    do {
      var configuration = Configuration()
      configuration.readonly = options.access == .read
      configuration.foreignKeysEnabled = false
      configuration.busyMode = .timeout(Double(options.busyTimeout.microseconds) / 1e6)
      configuration.label = "rouse.audit"
      let inMemory = path == ":memory:"
      configuration.prepareDatabase { try prepare($0, options: options, inMemory: inMemory) }
      let database =
        inMemory
        ? try DatabaseQueue(configuration: configuration) : try DatabaseQueue(path: path, configuration: configuration)
      let store = AuditStore(path: path, database: database)
      try store.bringUpToDate(access: options.access)
      return store
    } catch { throw AuditError(error, path: path) }
  }

  /// Closes the file. Without it the file closes with the last reference.
  public func close() throws(AuditError) {
    try run { try database.close() }
  }

  /// How far each topic partition has been stored, in order of topic and partition. Resume at `next`.
  public func positions() throws(AuditError) -> [TopicPosition] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT topic, partition, next FROM position ORDER BY topic, partition").compactMap {
        row in
        guard let topic = AuditTopic(code: try row.integer(0)) else { return nil }
        return TopicPosition(topic: topic, partition: try row.integer(1, as: Int32.self), next: try row.integer(2))
      }
    }
  }

  /// Bytes of the file that hold something (not free pages), without the write-ahead log.
  public func bytesUsed() throws(AuditError) -> Int64 {
    try read { try $0.bytesUsed() }
  }

  func read<T>(_ body: (Database) throws -> T) throws(AuditError) -> T {
    try run { try database.read(body) }
  }

  func write<T>(_ body: (Database) throws -> T) throws(AuditError) -> T {
    try run { try database.write(body) }
  }

  func run<T>(_ body: () throws -> T) throws(AuditError) -> T {
    do { return try body() } catch { throw AuditError(error, path: path) }
  }

  private static func prepare(_ db: Database, options: AuditOptions, inMemory: Bool) throws {
    try db.execute(sql: "PRAGMA cache_size = \(-max(1, options.cacheBytes / 1024))")
    try db.execute(sql: "PRAGMA temp_store = MEMORY")
    guard options.access == .write else { return }
    // Takes effect in a new file only, and only before the first table and the journal mode.
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
      if try migrator.hasBeenSuperseded(db) {
        throw AuditError(
          kind: .newerVersion, path: path, reason: "was written by a newer version of this program",
          advice: "use that version, or give another path; the topics can fill a new store")
      }
      if access == .read, try !migrator.hasCompletedMigrations(db) {
        throw AuditError(
          kind: .cannotOpen, path: path, reason: "is empty or from an older version, and open for reading only",
          advice: "open it once for writing, which brings it up to date")
      }
    }
    if access == .write { try migrator.migrate(database) }
  }
}

/// How a store is opened.
public struct AuditOptions: Equatable, Sendable {
  /// Reading only never changes the file.
  public enum Access: Equatable, Sendable { case read, write }

  public var access: Access
  /// How long to wait for another writer before the call fails as `locked`.
  public var busyTimeout: TimeSpan
  /// Memory for pages of the file.
  public var cacheBytes: Int
  /// A hard limit on the file; a batch that does not fit is refused as `diskFull`. Nil: the disk is the limit.
  public var fileBytesMax: Int64?

  public init(
    access: Access = .write, busyTimeout: TimeSpan = .seconds(5), cacheBytes: Int = 64 << 20, fileBytesMax: Int64? = nil
  ) {
    self.access = access
    self.busyTimeout = busyTimeout
    self.cacheBytes = cacheBytes
    self.fileBytesMax = fileBytesMax
  }
}

extension Database {
  /// Bytes of the pages in use.
  func bytesUsed() throws -> Int64 {
    let pages = try Int64.fetchOne(self, sql: "PRAGMA page_count") ?? 0
    let free = try Int64.fetchOne(self, sql: "PRAGMA freelist_count") ?? 0
    return (pages - free) * (try Int64.fetchOne(self, sql: "PRAGMA page_size") ?? 4096)
  }
}
