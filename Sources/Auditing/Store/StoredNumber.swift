import GRDB

/// A relevance, value or price in the file. The topics carry them rounded to millionths: such a number is stored as the
/// integer of its millionths (at most 3 bytes up to 8), any other as it is (8 bytes). What is read equals what was set.
enum StoredNumber {
  private static let scale = 1e6

  static func set(_ index: Int32, _ value: Double, in statement: BoundStatement) {
    let scaled = (value * scale).rounded()
    // False for "not a number", which SQLite keeps as NULL.
    if scaled.magnitude < 1e15, scaled / scale == value {
      statement.set(index, Int64(scaled))
    } else {
      statement.set(index, value)
    }
  }

  static func read(_ value: DatabaseValue) -> Double {
    switch value.storage {
    case .int64(let scaled): Double(scaled) / scale
    case .double(let value): value
    case .null, .string, .blob: .nan
    }
  }
}
