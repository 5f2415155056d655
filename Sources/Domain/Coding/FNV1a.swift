/// The 64-bit FNV-1a hash (Fowler, Noll, Vo). Unlike `Hasher` it gives the same number for the same bytes in every run, on every
/// machine and in every version, so records may hold it. It does not protect against attackers, who can easily find
/// two texts with the same hash.
@frozen
public struct FNV1a: Hashable, Sendable {
  /// The hash of the bytes that were added.
  @inlinable public var value: UInt64 { state }
  @usableFromInline var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Creates the hash of no bytes.
  @inlinable public init() {}

  /// Returns the hash of bytes.
  @inlinable
  public static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash = FNV1a()
    for byte in bytes { hash.add(byte) }
    return hash.value
  }

  /// Returns the hash of the UTF-8 bytes of a text.
  @inlinable public static func of(_ text: String) -> UInt64 { of(text.utf8) }

  /// Returns the hash of the bytes of an identifier.
  @inlinable public static func of(_ name: Identifier) -> UInt64 { of(name.utf8) }

  /// Adds one byte.
  @inlinable
  @inline(__always)
  public mutating func add(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

  /// Adds bytes.
  @inlinable
  @inline(__always)
  public mutating func add(_ bytes: Span<UInt8>) {
    for at in bytes.indices { add(bytes[at]) }
  }

  /// Adds the UTF-8 bytes of a text, and a byte that UTF-8 does not contain, so that "ab" and "c" differ from "a" and "bc".
  @inlinable
  @inline(__always)
  public mutating func add(text: Span<UInt8>) {
    add(text)
    add(0xff)
  }
}
