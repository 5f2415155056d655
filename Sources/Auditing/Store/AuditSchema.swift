import GRDB

/// The tables of a store.
///
/// Strings are stored once and numbered (`event`, `device`, `text`, `instance`, `kind`, `policy`). Decisions and commands
/// share one rising sequence number, `seq`, which is close to the order of time. A *block* is 2¹⁷ numbers in a row; `block`
/// says which times are in it, so that a time range becomes a few ranges of `seq` and needs no index of its own. The index
/// by device begins with the block, so that inserts only touch the end of it: a plain index by device would write a page
/// of the disk for every row once it is larger than the cache.
enum AuditSchema {
  /// "Rous", in the header of the file.
  static let applicationId: Int64 = 0x526F_7573
  /// log₂ of the sequence numbers of a block. Part of the file format: it is in the indices.
  static let blockShift: Int64 = 17
  /// log₂ of the blocks of an *age*, the grain in which strings are marked as in use: 2²³ rows, so that marking costs little.
  static let ageShift: Int64 = 6

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
    -- `last` is the newest age that mentions the string: it can go when that age is gone.
    CREATE TABLE event (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE device (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE text (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE instance (n INTEGER PRIMARY KEY, id TEXT NOT NULL, kind INTEGER NOT NULL, surface INTEGER NOT NULL,
      last INTEGER NOT NULL, UNIQUE (id, kind, surface));
    CREATE TABLE kind (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
    CREATE TABLE policy (n INTEGER PRIMARY KEY, version TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (version, hash));
    CREATE TABLE block (n INTEGER PRIMARY KEY, atMin INTEGER NOT NULL, atMax INTEGER NOT NULL);
    -- `partition`, `offset`, `ordinal`: the id; an id of another form has partition -1 and its text's number as offset.
    -- `code`: reason, verdict, final. `untilAfter`: until minus at. `command`: the ordinal of a command of the same log
    -- record, or -1 minus the number of its id's text. `relevance`, `value`, `price`: see `StoredNumber`. `causes`: events, where they are not just the event.
    CREATE TABLE decision (seq INTEGER PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
      ordinal INTEGER NOT NULL, event INTEGER NOT NULL, device INTEGER NOT NULL, instance INTEGER NOT NULL,
      code INTEGER NOT NULL, at INTEGER NOT NULL, relevance, value, price, leftInstance INTEGER,
      leftDevice INTEGER, leftApp INTEGER, untilAfter INTEGER, command INTEGER, policy INTEGER NOT NULL, trace INTEGER,
      causes BLOB);
    CREATE TABLE command (seq INTEGER PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
      ordinal INTEGER NOT NULL, device INTEGER NOT NULL, surface INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
    -- Counts by hour of `at`, kept up to date, so that totals need no scan.
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
