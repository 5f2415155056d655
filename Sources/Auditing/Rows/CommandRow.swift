import Domain
import GRDB

/// A row of `command` as it is stored. Questions filter and sort rows before they look up any names.
struct CommandRow {
  /// The columns in the order in which `init` reads them.
  static let columns = #"seq, partition, "offset", ordinal, device, surface, at, body"#
  var seq: Int64
  var id: RecordId
  var device, surface, at: Int64
  var body: [UInt8]

  /// Whether the columns do not hold the id, because it is not one of a log record. `id.offset` is then its hash.
  var hasOddId: Bool { id.partition < 0 }

  /// - Throws: `StoredValueError` for a column of another type.
  init(_ row: Row) throws(StoredValueError) {
    seq = try row.integer(0)
    id = RecordId(partition: try row.integer(1), offset: try row.integer(2), ordinal: try row.integer(3))
    device = try row.integer(4)
    surface = try row.integer(5)
    at = try row.integer(6)
    body = try row.bytes(7)
  }

  /// Whether `a` comes before `b`: by time, and at the same time in the order of the log.
  static func inOrder(_ a: CommandRow, _ b: CommandRow) -> Bool {
    (a.at, a.id.partition, a.id.offset, a.id.ordinal) < (b.at, b.id.partition, b.id.offset, b.id.ordinal)
  }

  /// The full command.
  /// - Throws: `StoredValueError` or `BinaryError` for a row that this program did not write.
  func command(_ words: WordReader) throws -> Command { try CommandBody.decode(self, words: words) }
}
