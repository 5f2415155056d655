import Domain
import GRDB

extension AuditStore {
  /// Compares the tables with each other. Reads every record, so it is for tests.
  /// - Returns: the invariants that do not hold, one sentence each; none in a sound store.
  /// - Throws: `AuditError` when the file cannot be read.
  func brokenInvariants() throws(AuditError) -> [String] {
    try read { db in
      var broken = try Self.brokenPages(db)
      for (sentence, sql) in Self.invariants {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(sql))") ?? 0
        if count > 0 { broken.append("\(sentence) (\(count) rows differ)") }
      }
      if try !words.agrees(with: db) { broken.append("the cache knows the number of each word") }
      return broken
    }
  }

  /// Reads every page, and compares the other tables with what it holds.
  private static func brokenPages(_ db: Database) throws -> [String] {
    var broken: Set<String> = []
    let words = WordReader(db)
    var tally: [[Int64]: Int64] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT hour, code, kind, count FROM tally") {
      tally[[try row.integer(0), try row.integer(1), try row.integer(2)]] = try row.integer(3)
    }
    var names: [Int64: (devices: DistinctSketch, events: DistinctSketch)] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT seq, lines, atMin, atMax, body FROM page") {
      var page = PageFacts(seq: try row.integer(0))
      var reader = try PageReader(try row.bytes(4), words: words)
      while try reader.next() {
        page.lines += 1
        page.times = (min(page.times.first, reader.at), max(page.times.last, reader.at))
        tally[[reader.at.hourIndex, reader.code, reader.kind], default: 0] -= 1
        names[reader.at.hourIndex, default: (DistinctSketch(), DistinctSketch())].devices
          .add(KeyHash(.device, reader.device.span))
        names[reader.at.hourIndex]?.events.add(KeyHash(.event, reader.event.span))
        _ = try reader.decision()
        if try !page.hasPlaces(of: reader, db) { broken.insert("the index leads to each decision") }
        if try !page.hasId(of: reader, db) { broken.insert("each id is in a run or a stray") }
      }
      if try page.lines != row.integer(1) { broken.insert("each page has the number of lines that it says") }
      if try page.times != (row.integer(2), row.integer(3)) { broken.insert("each page has the times that it says") }
    }
    for block in try Int64.fetchAll(db, sql: "SELECT DISTINCT block FROM blockCount") {
      let (devices, events) = try BlockCounts.read(block, db)
      for (key, counts) in [(KeyHash.Key.device, devices), (.event, events)] {
        guard let stored = try BlockCounts.stored(block, key, db) else { continue }
        if stored != counts.encoded { broken.insert("the counts of each full block are those of its pages") }
      }
    }
    for (hour, names) in names {
      let stored = try HourNames.read(hour...hour, db)
      var all = stored
      all.devices.add(names.devices)
      all.events.add(names.events)
      if all != stored { broken.insert("the names of each hour include those of its decisions") }
    }
    if tally.values.contains(where: { $0 != 0 }) { broken.insert("the tally of each hour counts its decisions") }
    return broken.sorted()
  }

  /// The invariants of every sound store beside those of pages, each with a query for the rows that violate it.
  private static let invariants: [(sentence: String, sql: String)] = [
    (
      "the tally of each hour counts its commands",
      """
      SELECT hour, surface, sum(count) AS n FROM (
        SELECT hour, surface, count FROM commandTally WHERE ledger = 0
        UNION ALL
        SELECT (at - (at % \(Int64.hourMicroseconds) + \(Int64.hourMicroseconds)) % \(Int64.hourMicroseconds))
          / \(Int64.hourMicroseconds), surface, -1 FROM command)
      GROUP BY 1, 2 HAVING n <> 0
      """
    ),
    (
      "the hours with names are those with decisions",
      "SELECT hour FROM (SELECT DISTINCT hour FROM tally UNION ALL SELECT hour FROM hourNames) GROUP BY 1 HAVING count(*) <> 2"
    ),
    (
      "each record lies in a block whose times include its own",
      """
      SELECT seq FROM (
        SELECT seq, atMin AS a, atMax AS b FROM page UNION ALL SELECT seq, at, at FROM command)
      LEFT JOIN block ON n = seq >> \(AuditSchema.blockShift)
      WHERE n IS NULL OR a < atMin OR b > atMax
      """
    ),
    (
      "no sequence number of a page belongs to a command",
      "SELECT command.seq FROM command JOIN page ON command.seq >= page.seq AND command.seq < page.seq + \(PageFormat.linesMax)"
    ),
    (
      "each start of a Live Activity is a command of that time",
      "SELECT 1 FROM activityStart AS s LEFT JOIN command AS c ON c.seq = s.seq WHERE c.at IS NULL OR c.at <> s.at"
    ),
    (
      "no run overlaps another one",
      """
      SELECT 1 FROM run AS a JOIN run AS b ON a.partition = b.partition
        AND (a.firstOffset, a.firstOrdinal) <= (b.lastOffset, b.lastOrdinal)
        AND (b.firstOffset, b.firstOrdinal) <= (a.lastOffset, a.lastOrdinal)
      WHERE (a.lastOffset, a.lastOrdinal) <> (b.lastOffset, b.lastOrdinal)
      """
    ),
    (
      "each run and each stray belongs to a page",
      "SELECT page FROM (SELECT page FROM run UNION ALL SELECT page FROM stray) WHERE page NOT IN (SELECT seq FROM page)"
    ),
  ]
}

/// The facts that follow from the lines of a page.
private struct PageFacts {
  let seq: Int64
  var lines: Int64 = 0
  var times: (first: Int64, last: Int64) = (.max, .min)

  init(seq: Int64) { self.seq = seq }

  /// Whether the index leads from the device, the event and the command of a line to this page.
  func hasPlaces(of line: borrowing PageReader, _ db: Database) throws -> Bool {
    var hashes = [KeyHash(.device, line.device.span), KeyHash(.event, line.event.span)]
    if let command = line.command { hashes.append(KeyHash(.command, command)) }
    return try hashes.allSatisfy {
      try Row.fetchOne(
        db, cached: "SELECT 1 FROM place WHERE block = ? AND hash = ? AND page = ?",
        [seq >> AuditSchema.blockShift, $0.short, seq]) != nil
    }
  }

  /// Whether the id of a line lies in a run of this page, or is one of its strays.
  func hasId(of line: borrowing PageReader, _ db: Database) throws -> Bool {
    guard line.id.partition >= 0 else {
      let hash = KeyHash(.id, line.oddId.span).long
      return try Row.fetchOne(
        db, cached: #"SELECT 1 FROM stray WHERE partition = -1 AND "offset" = ? AND page = ?"#, [hash, seq]) != nil
    }
    let id = line.id
    return try Row.fetchOne(
      db,
      cached: """
        SELECT 1 FROM run WHERE page = ?1 AND partition = ?2 AND (firstOffset, firstOrdinal) <= (?3, ?4)
          AND (lastOffset, lastOrdinal) >= (?3, ?4)
        UNION ALL SELECT 1 FROM stray WHERE page = ?1 AND partition = ?2 AND "offset" = ?3 AND ordinal = ?4
        """, [seq, id.partition, id.offset, id.ordinal]) != nil
  }
}
