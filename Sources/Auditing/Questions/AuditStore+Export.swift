import Domain
import GRDB

extension AuditStore {
  /// Passes every decision and command of a range to `row`, nearly in the order of storing: decisions
  /// that filled up a page come before the commands that were stored between them. It reads in short steps, so that a long
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

  /// Returns the next entries of an export that is made step by step, such as for a client that takes its time. The entries are those that
  /// `export` passes, in the same order.
  /// - Parameters:
  ///   - range: the range of log time.
  ///   - from: the `next` of the step before; 0 for the first step.
  /// - Returns: the entries, about 500 at most, and where to go on; nil at the end. There may be none although others follow.
  /// - Throws: `AuditError` when the file cannot be read.
  public func exportStep(
    _ range: TimeRange = .all, from: Int64 = 0
  ) throws(AuditError) -> (entries: [AuditEntry], next: Int64?) {
    // The numbers of one page, and the most steps over numbers of removed records.
    let (stepRows, stepsMax) = (Int64(PageFormat.linesMax), 256)
    let blocks = try read { try $0.blocks(in: range) }
    var start = from
    for _ in 0..<stepsMax {
      guard let block = blocks.first(where: { $0.endSeq > start }) else { return ([], nil) }
      start = max(start, block.firstSeq)
      let end = min(start.addingSaturating(stepRows), block.endSeq)
      let entries = try entries(range, from: start, below: end)
      if !entries.isEmpty { return (entries, end) }
      start = end
    }
    return ([], start)
  }

  /// Reads the entries of a range of sequence numbers.
  private func entries(_ range: TimeRange, from start: Int64, below end: Int64) throws(AuditError) -> [AuditEntry] {
    try read { db in
      let words = WordReader(db)
      var decisions: [(seq: Int64, decision: Decision)] = []
      let pages = try Row.fetchAll(
        db, sql: "SELECT seq, body FROM page WHERE seq >= ? AND seq < ? ORDER BY seq", arguments: [start, end])
      for page in pages {
        let seq = try page.integer(0)
        var reader = try PageReader(try page.bytes(1), words: words)
        while try reader.next() { if range.contains(reader.at) { decisions.append((seq, try reader.decision())) } }
      }
      var entries: [AuditEntry] = []
      entries.reserveCapacity(decisions.count)
      var rest = decisions[...]
      let commands = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT \(CommandRow.columns) FROM command WHERE seq >= ? AND seq < ? ORDER BY seq"),
        arguments: [start, end])
      while let row = try commands.next() {
        let row = try CommandRow(row)
        guard range.contains(row.at) else { continue }
        while let next = rest.first, next.seq < row.seq { entries.append(.decision(rest.removeFirst().decision)) }
        entries.append(.command(try row.command(words)))
      }
      return entries + rest.map { .decision($0.decision) }
    }
  }
}
