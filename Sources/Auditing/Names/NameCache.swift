/// Caches the numbers of recently used strings of one table, so that most rows need no look-up in the file. It is
/// bounded: entries are kept in two generations, and a full young generation replaces the old one.
struct NameCache<Key: Hashable> {
  /// The cached columns of a string's row.
  struct Entry: Equatable {
    /// The number of the string in its table.
    var n: Int64
    /// The newest age (`AuditSchema.ageShift`) in which the row is marked as in use; `Int64.max` in tables whose rows
    /// are never removed.
    var last: Int64
  }
  /// The largest number of entries of one generation. An entry takes about 100 bytes.
  private static var entriesMax: Int { 400_000 }
  private var young: [Key: Entry] = [:]
  private var old: [Key: Entry] = [:]
  /// The last entry asked for. One event fills many rows in a row, and comparing is quicker than hashing.
  private var latest: (key: Key, entry: Entry)?

  /// Returns the entry of a string and marks it as recently used; nil if the string is not cached.
  mutating func entry(_ key: Key) -> Entry? {
    if let latest, latest.key == key { return latest.entry }
    if let entry = young[key] {
      latest = (key, entry)
      return entry
    }
    guard let entry = old[key] else { return nil }
    set(key, entry)
    return entry
  }

  /// Adds an entry or replaces it.
  mutating func set(_ key: Key, _ entry: Entry) {
    if young.count >= Self.entriesMax {
      swap(&young, &old)
      young.removeAll(keepingCapacity: true)
    }
    young[key] = entry
    latest = (key, entry)
  }

  /// Removes every entry.
  mutating func removeAll() {
    young.removeAll()
    old.removeAll()
    latest = nil
  }

  /// The entries that `entry` would return; for tests.
  var entries: [Key: Entry] {
    var entries = old.merging(young) { _, young in young }
    if let latest { entries[latest.key] = latest.entry }
    return entries
  }
}
