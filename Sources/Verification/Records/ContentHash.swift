import Domain

/// 64-bit FNV-1a hashes of names and records. Equal bytes have equal hashes in every process; different ones are taken for
/// equal with a probability of 2⁻⁶⁴ a pair.
enum ContentHash {
  static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The hash of the bytes of an identifier.
  static func of(_ name: Identifier) -> UInt64 { of(name.utf8) }
}
