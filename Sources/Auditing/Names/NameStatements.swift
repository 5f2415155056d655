import GRDB

/// The statements that find, add and mark the names of one table.
struct NameStatements {
  private let db: Database
  private let find: BoundStatement
  private let insert: BoundStatement
  /// The statement that marks a row as in use; nil for tables whose rows are never removed.
  private let mark: BoundStatement?
  private let columnCount: Int32

  /// - Parameters:
  ///   - db: the connection, within a transaction.
  ///   - table: the name of the table.
  ///   - columns: the columns that identify a row.
  ///   - marked: whether the table has the column `last`, the newest age that mentions the row.
  init(_ db: Database, table: String, columns: [String], marked: Bool = true) throws {
    self.db = db
    columnCount = Int32(columns.count)
    let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
    find = try BoundStatement(db, "SELECT n\(marked ? ", last" : "") FROM \(table) WHERE \(condition)")
    let all = marked ? columns + ["last"] : columns
    let places = all.map { _ in "?" }.joined(separator: ", ")
    insert = try BoundStatement(db, "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(places))")
    mark = marked ? try BoundStatement(db, "UPDATE \(table) SET last = ? WHERE n = ?") : nil
  }

  /// Returns the number of a string, from the cache if its mark there is not older than `age`. Otherwise the string's
  /// row is looked up, or added, and marked with `age`.
  /// - Parameters:
  ///   - key: the string, or the columns together.
  ///   - cache: the cache of the table.
  ///   - age: the age to mark the row with.
  ///   - bind: sets the arguments for `columns`, beginning with 1.
  func number<Key>(
    _ key: Key, in cache: inout NameCache<Key>, age: Int64, bind: (BoundStatement) -> Void
  ) throws -> Int64 {
    if let entry = cache.entry(key), entry.last >= age { return entry.n }
    find.begin()
    bind(find)
    let n: Int64
    if let found = try find.first() {
      n = found.0
      if let mark, found.1 < age { try mark.run(age, n) }
    } else {
      insert.begin()
      bind(insert)
      if mark != nil { insert.set(columnCount + 1, age) }
      try insert.run()
      n = db.lastInsertedRowID
    }
    cache.set(key, NameCache.Entry(n: n, last: mark == nil ? .max : age))
    return n
  }
}
