import Domain
import GRDB

extension AuditStore {
  /// Passes every decision and command of a range to `row`, in the order of storing. It reads in short steps, so that a long
  /// export blocks neither the writer nor the truncation of the write-ahead log. Records that are stored meanwhile may be
  /// included.
  /// - Parameters:
  ///   - range: the range of log time.
  ///   - row: takes one entry; returns false to end the export.
  /// - Returns: the number of entries passed.
  /// - Throws: `AuditError` when the file cannot be read, or what `row` throws.
  @discardableResult
  public func export(_ range: TimeRange = .all, row: (AuditEntry) throws -> Bool) throws -> Int {
    let stepRows: Int64 = 4_096
    var count = 0
    for block in try read({ try $0.blocks(in: range) }) {
      for start in stride(from: block.firstSeq, to: block.endSeq, by: Int64.Stride(stepRows)) {
        for entry in try entries(range, from: start, below: start.addingSaturating(stepRows)) {
          count += 1
          guard try row(entry) else { return count }
        }
      }
    }
    return count
  }

  /// Reads the entries of a range of sequence numbers.
  private func entries(_ range: TimeRange, from start: Int64, below end: Int64) throws(AuditError) -> [AuditEntry] {
    try read { db in
      let names = NameReader(db)
      let place = "WHERE seq >= ? AND seq < ? ORDER BY seq"
      var entries: [(seq: Int64, entry: AuditEntry)] = []
      let decisions = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT \(DecisionRow.columns) FROM decision \(place)"), arguments: [start, end])
      while let row = try decisions.next() {
        let row = try DecisionRow(row)
        if range.contains(row.at) { entries.append((row.seq, .decision(try row.decision(names)))) }
      }
      let commands = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT \(CommandRow.columns) FROM command \(place)"), arguments: [start, end])
      while let row = try commands.next() {
        let row = try CommandRow(row)
        if range.contains(row.at) { entries.append((row.seq, .command(try row.command(names)))) }
      }
      return entries.sorted { $0.seq < $1.seq }.map(\.entry)
    }
  }
}
