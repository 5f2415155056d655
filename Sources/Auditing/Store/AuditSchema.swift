import GRDB

/// The tables of a store.
///
/// Each string is stored once and has a number (`event`, `device`, `text`, `instance`, `kind`, `policy`).
///
/// Decisions and commands share one rising sequence number, `seq`, which nearly follows their times. A *block* is 2¹⁷
/// sequence numbers in a row. The table `block` holds the first and the last time in each block, so that a time range
/// becomes a few ranges of `seq` and needs no separate index.
///
/// The index by device begins with the block, so that an insert only touches the end of the index. A plain index by device
/// would write a page of the disk for every row once it is larger than the cache.
enum AuditSchema {
  /// The application id in the header of the file: "Rous" in ASCII.
  static let applicationId: Int64 = 0x526F_7573
  /// The binary logarithm of the number of sequence numbers in a block. It is part of the file format, because indices
  /// contain it.
  static let blockShift: Int64 = 17
  /// The binary logarithm of the number of blocks in an *age*. A string is marked with the newest age that mentions it,
  /// at most once an age; an age has 2²³ sequence numbers, so that marking costs little.
  static let ageShift: Int64 = 6

  /// The migrations that make a new file, or bring an older one up to date.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in
      try db.execute(sql: "PRAGMA application_id = \(applicationId)")
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
    -- `last` is the newest age that mentions the string. The string can be removed when that age is gone.
    CREATE TABLE event (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE device (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE text (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE instance (n INTEGER PRIMARY KEY, id TEXT NOT NULL, kind INTEGER NOT NULL, surface INTEGER NOT NULL,
      last INTEGER NOT NULL, UNIQUE (id, kind, surface));
    CREATE TABLE kind (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
    CREATE TABLE policy (n INTEGER PRIMARY KEY, version TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (version, hash));
    CREATE TABLE block (n INTEGER PRIMARY KEY, atMin INTEGER NOT NULL, atMax INTEGER NOT NULL);
    -- `partition`, `offset`, `ordinal`: the id. An id of another form has partition -1 and the number of its text as offset.
    -- `code`: see `DecisionCode`. `untilAfter`: `until` minus `at`. `command`: the ordinal of a command of the same log
    -- record, or -1 minus the number of its id in `text`. `relevance` to `price`: see `StoredNumber`. `causes`: the numbers
    -- of all events, NULL where the event is the only one.
    CREATE TABLE decision (seq INTEGER PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
      ordinal INTEGER NOT NULL, event INTEGER NOT NULL, device INTEGER NOT NULL, instance INTEGER NOT NULL,
      code INTEGER NOT NULL, at INTEGER NOT NULL, relevance, wrong, looks, value, price,
      leftInstance INTEGER, leftDevice INTEGER, leftApp INTEGER, untilAfter INTEGER, command INTEGER, policy INTEGER NOT NULL, trace INTEGER,
      causes BLOB);
    CREATE TABLE command (seq INTEGER PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
      ordinal INTEGER NOT NULL, device INTEGER NOT NULL, surface INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
    -- Counts by hour of `at`, so that totals need no scan of the rows. In `commandTally`, ledger 0 counts commands and the
    -- others count charges.
    CREATE TABLE tally (hour INTEGER NOT NULL, code INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (hour, code, kind)) WITHOUT ROWID;
    CREATE TABLE commandTally (hour INTEGER NOT NULL, surface INTEGER NOT NULL, ledger INTEGER NOT NULL,
      count INTEGER NOT NULL, PRIMARY KEY (hour, surface, ledger)) WITHOUT ROWID;
    """

  private static let indices = """
    CREATE UNIQUE INDEX decisionId ON decision (partition, "offset", ordinal);
    CREATE INDEX decisionDevice ON decision (seq >> \(blockShift), device);
    CREATE INDEX decisionEvent ON decision (event);
    CREATE INDEX decisionCommand ON decision (partition, "offset", command) WHERE command IS NOT NULL;
    CREATE INDEX decisionForeignCommand ON decision (command) WHERE command < 0;
    CREATE UNIQUE INDEX commandId ON command (partition, "offset", ordinal);
    CREATE INDEX commandDevice ON command (seq >> \(blockShift), device);
    """
}
