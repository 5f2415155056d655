import Domain

/// The hashes under which a store finds devices, events and commands.
///
/// Two keys can have the same hash. So a hash only says where to look, and whoever finds a candidate compares the text.
struct KeyHash: Hashable {
  /// The properties of decisions and commands that a store finds records by.
  enum Key: UInt8 { case device = 1, event, command, id }

  /// All 64 bits, evenly spread.
  let value: UInt64

  /// Creates the hash of a text.
  init(_ key: Key, _ text: Span<UInt8>) {
    var hash = FNV1a()
    hash.add(key.rawValue)
    hash.add(text)
    // The finalizer of MurmurHash3 (A. Appleby): FNV-1a alone leaves the high bits of similar short texts alike.
    var mixed = hash.value
    mixed = (mixed ^ mixed >> 33) &* 0xff51_afd7_ed55_8ccd
    mixed = (mixed ^ mixed >> 33) &* 0xc4ce_b9fe_1a85_ec53
    value = mixed ^ mixed >> 33
  }

  /// Creates the hash of a name.
  init(_ key: Key, _ name: Identifier) { self.init(key, name.utf8.span) }

  /// The upper 32 bits, which the index holds. SQLite stores them in four bytes.
  var short: Int64 { Int64(Int32(truncatingIfNeeded: value >> 32)) }
  /// The form of all bits in a column.
  var long: Int64 { Int64(bitPattern: value) }
}
