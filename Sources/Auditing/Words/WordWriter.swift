import Domain
import GRDB

/// The numbers of words that a store has, for its writer. Words are never removed from a store, so a number that was committed stays
/// right. A failed write may leave numbers that were rolled back; the store then empties the cache.
final class WordCache {
  /// The number of words (kinds, policies, headers) whose numbers the writer of an audit store keeps in memory.
  /// - Beyond: all are forgotten, and read from the file again.
  private static let wordsMax = 10_000
  private var numbers: [UInt64: (bytes: [UInt8], n: Int64)] = [:]

  /// Returns the number of a word; nil if it is not cached.
  func number(_ word: Span<UInt8>, hash: UInt64) -> Int64? {
    guard let known = numbers[hash], known.bytes.count == word.count else { return nil }
    let bytes = known.bytes.span
    for at in bytes.indices where bytes[at] != word[at] { return nil }
    return known.n
  }

  /// Adds a word. Of two words with the same hash, the newer one is kept.
  func set(_ word: Identifier, hash: UInt64, _ n: Int64) {
    if numbers.count >= Self.wordsMax { numbers.removeAll(keepingCapacity: true) }
    numbers[hash] = (Array(word.utf8), n)
  }

  /// Forgets all words.
  func removeAll() { numbers.removeAll() }

  /// Compares the cache with the file.
  /// - Returns: Whether each cached word has its number there.
  func agrees(with db: Database) throws -> Bool {
    for (bytes, n) in numbers.values {
      let stored = Identifier(decoding: bytes).stored
      let found = try Int64.fetchOne(db, sql: "SELECT n FROM word WHERE text = ?", arguments: [stored])
      if found != n { return false }
    }
    return true
  }
}

/// Gives numbers to words within one transaction. A word that is not stored yet is added.
struct WordWriter {
  private let cache: WordCache
  private let db: Database
  private let find: BoundStatement
  private let insert: BoundStatement

  init(_ db: Database, cache: WordCache) throws {
    self.db = db
    self.cache = cache
    find = try BoundStatement(db, "SELECT n, 0 FROM word WHERE text = ?")
    insert = try BoundStatement(db, "INSERT INTO word (text) VALUES (?)")
  }

  /// Returns the number of a word.
  func number(_ word: Identifier) throws -> Int64 { try number(word.utf8.span) }

  /// Returns the number of the word with these bytes of UTF-8.
  func number(_ word: Span<UInt8>) throws -> Int64 {
    var hash = FNV1a()
    hash.add(word)
    if let known = cache.number(word, hash: hash.value) { return known }
    let text = Identifier(decoding: word.indices.map { word[$0] })
    find.begin()
    find.set(1, text)
    let n: Int64
    if let found = try find.first() {
      n = found.0
    } else {
      insert.begin()
      insert.set(1, text)
      try insert.run()
      n = db.lastInsertedRowID
    }
    cache.set(text, hash: hash.value, n)
    return n
  }
}
