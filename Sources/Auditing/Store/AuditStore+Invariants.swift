import Domain
import GRDB

extension AuditStore {
  /// Compares the tables with each other. Reads every row, so it is for tests.
  /// - Returns: the invariants that do not hold, one sentence each; none in a sound store.
  /// - Throws: `AuditError` when the file cannot be read.
  func brokenInvariants() throws(AuditError) -> [String] {
    try read { db in
      var broken: [String] = []
      for (sentence, sql) in Self.invariants {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(sql))") ?? 0
        if count > 0 { broken.append("\(sentence) (\(count) rows differ)") }
      }
      // Another connection may have removed names since.
      if try Int64.fetchOne(db, sql: "PRAGMA data_version") == dataVersion { broken += try names.brokenInvariants(db) }
      return broken
    }
  }

  /// The invariants of every sound store, each with a query for the rows that violate it.
  private static let invariants: [(sentence: String, sql: String)] = [
    (
      "the tally of each hour counts its decisions",
      """
      SELECT hour, code, kind, sum(count) AS n FROM (
        SELECT hour, code, kind, count FROM tally
        UNION ALL
        SELECT (at - (at % \(Int64.hourMicroseconds) + \(Int64.hourMicroseconds)) % \(Int64.hourMicroseconds))
          / \(Int64.hourMicroseconds), code, kind, -1 FROM decision JOIN instance ON instance.n = instance)
      GROUP BY 1, 2, 3 HAVING n <> 0
      """
    ),
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
      "each row lies in a block whose times include its own",
      """
      SELECT seq FROM (SELECT seq, at FROM decision UNION ALL SELECT seq, at FROM command)
      LEFT JOIN block ON n = seq >> \(AuditSchema.blockShift)
      WHERE n IS NULL OR at < atMin OR at > atMax
      """
    ),
    (
      "no sequence number belongs to both a decision and a command",
      "SELECT seq FROM decision WHERE seq IN (SELECT seq FROM command)"
    ),
    (
      "each decision's names are stored and marked as in use",
      """
      SELECT seq FROM decision
      LEFT JOIN event ON event.n = event LEFT JOIN device ON device.n = device
      LEFT JOIN instance ON instance.n = instance LEFT JOIN policy ON policy.n = policy
      WHERE policy.n IS NULL
        OR min(ifnull(event.last, -1), ifnull(device.last, -1), ifnull(instance.last, -1))
          < seq >> \(AuditSchema.blockShift + AuditSchema.ageShift)
      """
    ),
    (
      "each command's device is stored and marked as in use",
      """
      SELECT seq FROM command LEFT JOIN device ON device.n = device
      WHERE ifnull(device.last, -1) < seq >> \(AuditSchema.blockShift + AuditSchema.ageShift)
      """
    ),
    (
      "each instance has a kind that is stored",
      "SELECT n FROM instance WHERE kind NOT IN (SELECT n FROM kind)"
    ),
  ]
}
