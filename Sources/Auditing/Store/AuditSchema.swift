import Domain
import GRDB

/// The tables of a store, and how records are found in them.
///
/// Decisions are kept in *pages* of up to 512 (`PageFormat`), in the order in which they were stored, not in rows of their own: taking
/// in a decision costs the bytes of its line and one or two entries of an index. A question finds pages by the index, reads them, and
/// picks out the decisions that it is about. Commands have rows of their own.
///
/// Pages and commands share one rising sequence number, `seq`, which nearly follows their times. A page takes 512 numbers, a command
/// one. A *block* is 2¹⁷ numbers in a row. The table `block` holds the first and the last time in each block, so that a time range
/// becomes a few ranges of `seq`.
///
/// The index `place` leads from a block and the hash of a device, an event or a command to the pages that mention it. It begins with
/// the block, so that an insert only touches the end of the index: a plain index by device would write a page of the disk for every
/// decision once it is larger than the cache. Hashes may be equal by chance or by intent. They only say where to look: what is found
/// there is compared (`KeyHash`).
///
/// A decision whose id is stored already is a duplicate. An index of ids is not needed for that, because the decisions of one log
/// partition come with rising ids. A *run* is the ids of one log partition in one page, and each run lies behind all earlier ones of its
/// partition. So an id behind the last run is new, and any other one can only be in the one run that spans it, or among the *strays*:
/// the ids that came out of order, or that are no ids of log records. Each stray has a row.
///
/// All that one call stores, its positions included, is written in one transaction of SQLite. A crash leaves all of it or nothing.
enum AuditSchema {
  /// The application id in the header of the file: "Rous" in ASCII.
  static let applicationId: Int64 = 0x526F_7573
  /// The binary logarithm of the number of sequence numbers in a block. It is part of the file format, because indices
  /// contain it.
  static let blockShift: Int64 = 17
  /// The name of the only migration, which is the format of the file.
  static let format = "v4"
  /// The formats of earlier versions.
  static let olderFormats = ["v1", "v2", "v3"]

  /// The migrations that make a new file.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration(format) { db in
      try db.execute(sql: "PRAGMA application_id = \(applicationId)")
      // Tells the store from others (`StoreHeader`).
      try db.execute(sql: "PRAGMA user_version = \(Int32.random(in: 1...Int32.max))")
      try db.execute(sql: tables)
      try db.execute(sql: indices)
    }
    return migrator
  }

  private static let tables = """
    CREATE TABLE position (topic INTEGER NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL,
      PRIMARY KEY (topic, partition)) WITHOUT ROWID;
    -- The records that the store will never have; see `AuditHole`. `line` is 0 if whole records are missing.
    CREATE TABLE hole (topic INTEGER NOT NULL, partition INTEGER NOT NULL, first INTEGER NOT NULL, next INTEGER NOT NULL,
      line INTEGER NOT NULL, cause INTEGER NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (topic, partition, first, line)) WITHOUT ROWID;
    -- The few names that occur in most records: kinds, versions and hashes of policies, headers.
    CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE block (n INTEGER PRIMARY KEY, atMin INTEGER NOT NULL, atMax INTEGER NOT NULL);
    -- Decisions of full blocks by device and by event; see `BlockCounts`.
    CREATE TABLE blockCount (block INTEGER NOT NULL, key INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (block, key));
    CREATE TABLE page (seq INTEGER PRIMARY KEY, lines INTEGER NOT NULL, atMin INTEGER NOT NULL, atMax INTEGER NOT NULL,
      body BLOB NOT NULL);
    CREATE TABLE place (block INTEGER NOT NULL, hash INTEGER NOT NULL, page INTEGER NOT NULL,
      PRIMARY KEY (block, hash, page)) WITHOUT ROWID;
    CREATE TABLE run (partition INTEGER NOT NULL, lastOffset INTEGER NOT NULL, lastOrdinal INTEGER NOT NULL,
      firstOffset INTEGER NOT NULL, firstOrdinal INTEGER NOT NULL, page INTEGER NOT NULL,
      PRIMARY KEY (partition, lastOffset, lastOrdinal)) WITHOUT ROWID;
    -- An id that is not one of a log record has partition -1 and its hash as offset.
    CREATE TABLE stray (partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, ordinal INTEGER NOT NULL,
      page INTEGER NOT NULL, PRIMARY KEY (partition, "offset", ordinal, page)) WITHOUT ROWID;
    -- `partition`, `offset`, `ordinal`: the id. Another id has partition -1, its hash as offset, and a number that tells ids
    -- with the same hash apart. `device`: the hash.
    CREATE TABLE command (seq INTEGER PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
      ordinal INTEGER NOT NULL, device INTEGER NOT NULL, surface INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
    -- The commands that start a Live Activity, so that they are found without reading the others. `at` and `seq` are those of
    -- the command.
    CREATE TABLE activityStart (at INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (at, seq)) WITHOUT ROWID;
    -- Counts by hour of `at`, so that totals need no scan of the pages. In `commandTally`, ledger 0 counts commands and the
    -- others count charges.
    CREATE TABLE tally (hour INTEGER NOT NULL, code INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (hour, code, kind)) WITHOUT ROWID;
    -- The devices and the events with a decision in an hour; see `DistinctSketch`.
    CREATE TABLE hourNames (hour INTEGER PRIMARY KEY, devices BLOB NOT NULL, events BLOB NOT NULL);
    CREATE TABLE commandTally (hour INTEGER NOT NULL, surface INTEGER NOT NULL, ledger INTEGER NOT NULL,
      count INTEGER NOT NULL, PRIMARY KEY (hour, surface, ledger)) WITHOUT ROWID;
    """

  private static let indices = """
    CREATE INDEX runPage ON run (page);
    CREATE INDEX strayPage ON stray (page);
    CREATE UNIQUE INDEX commandId ON command (partition, "offset", ordinal);
    CREATE INDEX commandDevice ON command (seq >> \(blockShift), device);
    """
}
