import Domain
public import Foundation
import GRDB
import Synchronization

/// The registrations of `rouse.devices` in a SQLite file, with the positions up to which the topic was read, and the newest looks and fetches
/// of each device from `rouse.signals`. It is a copy: whoever removes the file has it made anew.
///
/// Reading and writing may happen on different threads at the same time, also in the middle of a change.
public final class DeviceStore: Sendable {
  /// The path of the file.
  public let path: String
  let database: DatabasePool
  /// The time at which the view last had everything, in seconds since 1970; 0 if it never had.
  private let currentSince: Atomic<Int64>

  /// Whether a feed of this process has found the view to have everything, so that a device which is not in it is not registered.
  let isFilled = Atomic<Bool>(false)

  /// The number by which SQLite's header tells a view from other databases.
  private static let applicationID: Int64 = 0x524f_5544
  /// The version of the tables. A file of another version is made anew.
  private static let version: Int64 = 4
  /// The bytes of SQLite's cache of a connection, in KiB.
  private static let cacheKibibytes = 4096
  /// The longest wait for another process that writes.
  private static let busyTimeout: TimeInterval = 5
  /// The connections that read.
  private static let readers = 2

  /// Opens a view, and makes the file if there is none, for its owner alone.
  ///
  /// - Parameters:
  ///   - path: The path of the file. Its folder must exist.
  ///   - topic: The topic. A file of another topic is made anew.
  /// - Throws: `DeviceStoreError` if the file cannot be opened, or is a database of something else.
  public init(path: String, topic: String) throws(DeviceStoreError) {
    self.path = path
    if !FileManager.default.fileExists(atPath: path) {
      // If this fails, SQLite says why. It gives its other files the same permissions.
      _ = FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(Self.busyTimeout)
      configuration.maximumReaderCount = Self.readers
      configuration.label = "rouse.devices"
      configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA cache_size = \(-Self.cacheKibibytes)")
        try db.execute(sql: "PRAGMA trusted_schema = OFF")
      }
      database = try DatabasePool(path: path, configuration: configuration)
      currentSince = Atomic(try database.write { db in try Self.prepare(db, path, topic) })
    } catch { throw DeviceStoreError(path, error) }
  }

  /// Makes the tables unless they are there, for this topic and this version.
  ///
  /// - Returns: The time at which the view last had everything; 0 if it never had.
  private static func prepare(_ db: Database, _ path: String, _ topic: String) throws -> Int64 {
    let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    guard tables.isEmpty || application == applicationID else {
      throw DeviceStoreError(
        path, "is a database, but no view of devices; give the path of a view, or of a file that does not exist yet")
    }
    let isKnown = try Int64.fetchOne(db, sql: "PRAGMA user_version") == version
    if isKnown, try String.fetchOne(db, sql: "SELECT topic FROM about") == topic {
      return try Int64.fetchOne(db, sql: "SELECT current FROM about") ?? 0
    }
    for table in tables where !table.hasPrefix("sqlite_") {
      try db.execute(sql: "DROP TABLE \(table.quotedDatabaseIdentifier)")
    }
    try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    try db.execute(sql: "PRAGMA user_version = \(version)")
    try db.execute(
      sql: """
        CREATE TABLE about(topic TEXT NOT NULL, current INTEGER NOT NULL, devices INTEGER NOT NULL);
        CREATE TABLE position(partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
        CREATE TABLE device(
          n INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, partition INTEGER NOT NULL, app TEXT NOT NULL,
          updatedAt INTEGER NOT NULL, value BLOB NOT NULL);
        -- The kinds whose instances on a device listen to an interest key.
        CREATE TABLE interest(
          key BLOB NOT NULL, kind BLOB NOT NULL, device INTEGER NOT NULL, PRIMARY KEY (key, kind, device)) WITHOUT ROWID;
        CREATE INDEX interestDevice ON interest(device);
        -- The instances of each kind that a device shows.
        CREATE TABLE shown(
          device INTEGER NOT NULL, kind BLOB NOT NULL, instances INTEGER NOT NULL, PRIMARY KEY (device, kind)) WITHOUT ROWID;
        -- The sums of shown over all devices. about.devices is the number of all devices.
        CREATE TABLE total(kind BLOB PRIMARY KEY, instances INTEGER NOT NULL) WITHOUT ROWID;
        \(StoredSignal.tables)
        """)
    try db.execute(sql: "INSERT INTO about VALUES (?, 0, 0)", arguments: [topic])
    return 0
  }

  /// Refuses a file that is no view of this version.
  static func checkVersion(_ db: Database, _ path: String) throws {
    guard try Int64.fetchOne(db, sql: "PRAGMA application_id") == applicationID,
      try Int64.fetchOne(db, sql: "PRAGMA user_version") == version
    else {
      throw DeviceStoreError(
        path, "is no view of devices of this version; the process that keeps it makes it anew when it starts")
    }
  }

  // MARK: Questions

  /// Returns the age of the view in whole seconds: what was written before that is in it. Nil until it had everything for the first time.
  ///
  /// - Parameter now: The wall clock.
  public func age(at now: Date) -> Int? {
    let since = currentSince.load(ordering: .relaxed)
    return since == 0 ? nil : max(0, Int(now.timeIntervalSince1970) - Int(since))
  }

  /// Finds a registration. It reads the disk.
  ///
  /// - Parameter device: The device.
  /// - Returns: The registration; nil if the view has none.
  /// - Throws: `DeviceStoreError` if the file cannot be read.
  public func find(_ device: String) throws(DeviceStoreError) -> StoredDevice? {
    do {
      return try database.read { db in
        let row = try Row.fetchOne(
          db.cachedStatement(sql: "SELECT app, value FROM device WHERE name = ?"), arguments: [Data(device.utf8)])
        return row.map { StoredDevice(app: $0[0], value: Array($0[1] as Data)) }
      }
    } catch { throw DeviceStoreError(path, error) }
  }

  /// Returns the offset of the next record of each partition that was read.
  ///
  /// - Throws: `DeviceStoreError` if the file cannot be read.
  public func positions() throws(DeviceStoreError) -> [Int32: Int64] { try positions(in: "position") }

  /// Returns the positions of one of the tables of positions.
  func positions(in table: String) throws(DeviceStoreError) -> [Int32: Int64] {
    do {
      return try database.read { db in
        let rows = try Row.fetchAll(db, sql: "SELECT partition, next FROM \(table)")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
      }
    } catch { throw DeviceStoreError(path, error) }
  }

  // MARK: Changes

  /// A record that changes a device.
  struct DeviceChange {
    var device: [UInt8]
    /// The partition of the record.
    var partition: Int32
    /// The registration; nil if the device is forgotten.
    var registration: (device: StoredDevice, updatedAt: Timestamp)?
    /// The kinds of its instances with the keys that they listen to.
    var interests: Set<DeviceInterest> = []
    /// The number of its placed widgets, placed controls and running activities, by kind.
    var instances: [Identifier: Int] = [:]
  }

  /// A kind of which an instance listens to a key.
  struct DeviceInterest: Hashable {
    /// The interest key.
    var key: Identifier
    var kind: Identifier
  }

  /// The numbers of records by what became of them.
  struct ChangeCounts: Sendable, Equatable {
    /// Registrations that are in the view now.
    var kept = 0
    /// Registrations that are older than the one in the view.
    var older = 0
    /// Devices that were forgotten.
    var forgotten = 0
  }

  /// Changes devices, together with the positions behind the changes.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - anew: The partitions whose devices are removed before, because their topic was made anew. The view then has no age until it is
  ///     full again.
  ///   - next: The offset of the next record of each partition that was read.
  /// - Throws: `DeviceStoreError`; nothing is changed then.
  func apply(
    _ changes: [DeviceChange], anew: Set<Int32> = [], next: [Int32: Int64]
  ) throws(DeviceStoreError) -> ChangeCounts {
    do {
      let counts = try database.write { db in
        var (counts, totals) = (ChangeCounts(), DeviceTotals())
        if !anew.isEmpty { try db.execute(sql: "UPDATE about SET current = 0") }
        for partition in anew {
          try totals.subtract(partition: partition, db)
          for table in ["interest", "shown"] {
            try db.execute(
              sql: "DELETE FROM \(table) WHERE device IN (SELECT n FROM device WHERE partition = ?)",
              arguments: [partition])
          }
          try db.execute(sql: "DELETE FROM device WHERE partition = ?", arguments: [partition])
        }
        for change in changes { try Self.apply(change, db, &counts, &totals) }
        try totals.write(db)
        for (partition, offset) in next {
          try db.cachedStatement(sql: "INSERT OR REPLACE INTO position VALUES (?, ?)")
            .execute(arguments: [partition, offset])
        }
        return counts
      }
      if !anew.isEmpty {
        currentSince.store(0, ordering: .relaxed)
        isFilled.store(false, ordering: .relaxed)
      }
      return counts
    } catch { throw DeviceStoreError(path, error) }
  }

  private static func apply(
    _ change: DeviceChange, _ db: Database, _ counts: inout ChangeCounts, _ totals: inout DeviceTotals
  ) throws {
    let name = Data(change.device)
    let number = try db.cachedStatement(sql: "SELECT n FROM device WHERE name = ?")
    let before = try Int64.fetchOne(number, arguments: [name])
    guard let (device, updatedAt) = change.registration else {
      if let before {
        try removeInstances(of: before, db, &totals)
        try db.cachedStatement(sql: "DELETE FROM device WHERE n = ?").execute(arguments: [before])
        totals.devices -= 1
      }
      try db.cachedStatement(sql: "DELETE FROM signal WHERE device = ?").execute(arguments: [name])
      counts.forgotten += 1
      return
    }
    // As the planner does: of two registrations of one time the later record counts.
    try db.cachedStatement(
      sql: """
        INSERT INTO device (name, partition, app, updatedAt, value) VALUES (?, ?, ?, ?, ?) ON CONFLICT(name) DO UPDATE SET partition = excluded.partition,
        app = excluded.app, updatedAt = excluded.updatedAt, value = excluded.value
        WHERE excluded.updatedAt >= device.updatedAt
        """
    ).execute(arguments: [name, change.partition, device.app, updatedAt.microseconds, Data(device.value)])
    guard db.changesCount > 0 else {
      counts.older += 1
      return
    }
    counts.kept += 1
    if let before { try removeInstances(of: before, db, &totals) } else { totals.devices += 1 }
    guard !change.interests.isEmpty || !change.instances.isEmpty else { return }
    let n = try Int64.fetchOne(number, arguments: [name])
    let insert = try db.cachedStatement(sql: "INSERT INTO interest VALUES (?, ?, ?)")
    for interest in change.interests {
      try insert.execute(arguments: [Data(interest.key.utf8), Data(interest.kind.utf8), n])
    }
    let show = try db.cachedStatement(sql: "INSERT INTO shown VALUES (?, ?, ?)")
    for (kind, instances) in change.instances {
      try show.execute(arguments: [n, Data(kind.utf8), instances])
      totals.instances[Data(kind.utf8), default: 0] += instances
    }
  }

  private static func removeInstances(of device: Int64, _ db: Database, _ totals: inout DeviceTotals) throws {
    try totals.subtract(device: device, db)
    for table in ["interest", "shown"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE device = ?").execute(arguments: [device])
    }
  }

  /// Notes that the view has everything that was written before a time.
  ///
  /// - Parameters:
  ///   - time: The time.
  ///   - isKept: Whether the file gets it, too, for the next process.
  /// - Throws: `DeviceStoreError` if it cannot be written.
  func isCurrent(since time: Date, isKept: Bool) throws(DeviceStoreError) {
    let seconds = max(1, Int64(time.timeIntervalSince1970))
    if isKept {
      do { try database.write { try $0.execute(sql: "UPDATE about SET current = ?", arguments: [seconds]) } } catch {
        throw DeviceStoreError(path, error)
      }
    }
    currentSince.store(seconds, ordering: .relaxed)
    guard !isFilled.exchange(true, ordering: .relaxed) else { return }
    // From here on none is added about an unknown device; those that were added while any device could still come go.
    do { try database.write { try $0.execute(sql: StoredSignal.purge) } } catch {
      isFilled.store(false, ordering: .relaxed)
      throw DeviceStoreError(path, error)
    }
  }

  /// Removes everything. The view has no age until it is full again.
  ///
  /// - Throws: `DeviceStoreError`; nothing is removed then.
  func startOver() throws(DeviceStoreError) {
    do {
      try database.write { db in
        try db.execute(
          sql: """
            DELETE FROM interest; DELETE FROM shown; DELETE FROM total; DELETE FROM device; DELETE FROM position;
            UPDATE about SET current = 0, devices = 0
            """)
      }
    } catch { throw DeviceStoreError(path, error) }
    currentSince.store(0, ordering: .relaxed)
    isFilled.store(false, ordering: .relaxed)
  }
}

/// The reason why the file of a view could not be used. A failed change leaves the file as it was.
public struct DeviceStoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path, the reason and what to do, in lower case.
  public let description: String

  /// Makes an error with its words.
  init(_ path: String, _ words: String) { description = "\(path): \(words)" }

  /// Turns any error of SQLite into one of a view.
  init(_ path: String, _ error: any Error) {
    switch error {
    case let known as DeviceStoreError: self = known
    case let error as DatabaseError:
      let words = error.message ?? error.resultCode.description
      let advice =
        switch error.resultCode {
        case .SQLITE_FULL: "make room on the disk"
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: "remove the file; the view is made anew from the topic"
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY: "the folder must exist, and its files be writable"
        default: "see the reason"
        }
      self.init(path, "\(words); \(advice)")
    default: self.init(path, "\(error)")
    }
  }
}

/// A registration as the view has it.
public struct StoredDevice: Sendable, Equatable {
  /// The bundle id of the app.
  public var app: String
  /// The registration, as it was written to the topic.
  public var value: [UInt8]
}
