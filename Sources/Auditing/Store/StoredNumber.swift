import GRDB

/// The form of a relevance, a distance, looks, a value or a price in the file. Topics carry these numbers rounded to
/// millionths. Such a number is stored as the integer of its millionths, which takes at most 3 bytes for numbers up to
/// 8; any other number is stored as it is, in 8 bytes. Every number is read back equal.
enum StoredNumber {
  private static let scale = 1e6

  /// Binds a number to an argument of a statement.
  static func set(_ index: Int32, _ value: Double, in statement: BoundStatement) {
    let scaled = (value * scale).rounded()
    // The condition is false for "not a number", which SQLite stores as NULL.
    if scaled.magnitude < 1e15, scaled / scale == value {
      statement.set(index, Int64(scaled))
    } else {
      statement.set(index, value)
    }
  }

  /// Reads a column; "not a number" for NULL and for values of other types.
  static func read(_ value: DatabaseValue) -> Double {
    switch value.storage {
    case .int64(let scaled): Double(scaled) / scale
    case .double(let value): value
    case .null, .string, .blob: .nan
    }
  }
}
