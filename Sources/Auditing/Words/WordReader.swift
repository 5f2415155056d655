import Domain
import GRDB

/// Looks up the words of numbers within one read.
final class WordReader {
  /// The number of words that a question to an audit store keeps in memory.
  /// - Beyond: all are forgotten, and read from the file again.
  private static let wordsMax = 10_000
  private let db: Database
  private var words: [Int64: Identifier] = [:]

  init(_ db: Database) { self.db = db }

  /// Returns the word with a number.
  /// - Throws: `StoredValueError` for a number without a row.
  func word(_ n: Int64) throws -> Identifier {
    if let known = words[n] { return known }
    guard let row = try Row.fetchOne(db, cached: "SELECT text FROM word WHERE n = ?", [n]) else {
      throw StoredValueError(reason: "lacks word number \(n)")
    }
    if words.count >= Self.wordsMax { words.removeAll() }
    let word = try row.identifier(0)
    words[n] = word
    return word
  }
}
