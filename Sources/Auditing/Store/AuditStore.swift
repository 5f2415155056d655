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

/// Settings for opening a store.
public struct AuditOptions: Equatable, Sendable {
  /// `read` never changes the file and needs one that is up to date. `write` makes the file, or brings it up to date.
  public enum Access: Equatable, Sendable { case read, write }

  /// Whether the store may be written.
  public var access: Access
  /// The time to wait for another writer. After it the call fails as `AuditError.Kind.locked`.
  public var busyTimeout: TimeSpan
  /// The memory in which pages of the file are cached, in bytes.
  public var cacheBytes: Int
  /// The limit on the size of the file in bytes; nil: the disk is the limit. A batch that does not fit is refused as
  /// `AuditError.Kind.diskFull`.
  public var fileBytesMax: Int64?

  /// - Parameters:
  ///   - access: whether the store will be written.
  ///   - busyTimeout: the time to wait for another writer.
  ///   - cacheBytes: bytes of memory for pages of the file; 64 MiB by default.
  ///   - fileBytesMax: the limit on the size of the file in bytes; nil: none.
  public init(
    access: Access = .write, busyTimeout: TimeSpan = .seconds(5), cacheBytes: Int = 64 << 20, fileBytesMax: Int64? = nil
  ) {
    self.access = access
    self.busyTimeout = busyTimeout
    self.cacheBytes = cacheBytes
    self.fileBytesMax = fileBytesMax
  }
}

extension AuditStore {
  /// Stores a batch and its positions in one transaction. Push tokens become keyed hashes (`TokenKey`). A record whose id is
  /// stored already is counted as a duplicate and changes nothing.
  /// - Returns: the number of new records and of duplicates.
  /// - Throws: `AuditError`, in which case nothing of the batch is stored.
  @discardableResult
  public func store(_ batch: AuditBatch) throws(AuditError) -> StoredCounts {
    do {
      return try write { db in
        var writer = try BatchWriter(db, words: words, filling: filling, sequenceFloor: sequenceFloor)
        for decision in batch.decisions { try writer.insert(decision) }
        for command in batch.commands { try writer.insert(keyOfTokens().concealing(command)) }
        try writer.finish(positions: batch.positions, holes: batch.holes)
        return writer.counts
      }
    } catch {
      // The transaction is rolled back, and with it the numbers that it gave to new words and the decisions that were counted.
      words.removeAll()
      filling.reset()
      throw error
    }
  }
}

extension AuditStore {
  /// Removes what the limits do not allow, the oldest first, in short transactions, and gives free pages back to the disk.
  /// - Throws: `AuditError` when the file cannot be read or written. Transactions before the failure stay done.
  public func retain(_ retention: Retention) throws(AuditError) -> Retention.Report {
    var run = RetentionRun(store: self, retention: retention)
    return try self.run { try run.run() }
  }
}

/// The time that a store covers, and the records that it will never have.
public struct StoreHealth: Equatable, Sendable {
  /// The first holes by topic, partition and offset, at most `AuditSummary.holesMax`.
  public var holes: [AuditHole]
  /// The number of records of all holes.
  public var recordsMissing: Int
  /// The times of the oldest and of the newest record, in µs since 1970; nil in an empty store.
  public var times: ClosedRange<Int64>?
}

extension AuditStore {
  /// Returns the holes of the store and the time that it covers. Unlike `summary()` it counts nothing, so it is quick at any size.
  /// - Throws: `AuditError` when the file cannot be read.
  public func health() throws(AuditError) -> StoreHealth {
    try read { db in
      let missing = try Row.fetchOne(db, sql: "SELECT CAST(total(next - first) AS INTEGER) FROM hole")
      let times = try Row.fetchOne(db, sql: "SELECT min(atMin), max(atMax) FROM block")
      let (first, last) = (try times?.optionalInteger(0), try times?.optionalInteger(1))
      return StoreHealth(
        holes: try db.holes(), recordsMissing: try missing?.integer(0, as: Int.self) ?? 0,
        times: first.flatMap { first in last.flatMap { first <= $0 ? first...$0 : nil } })
    }
  }
}
