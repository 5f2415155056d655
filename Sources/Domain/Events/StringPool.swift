/// A cache of identifiers that repeat, such as field paths and event types. Looking a string up costs less than making
/// it. The cache is direct-mapped, so it is bounded; two texts that share a slot replace each other.
struct StringPool {
  private static let slots = 1024
  private static let bytesMax = 64
  private var hashes = [UInt64](repeating: 0, count: slots)
  private var texts = [Identifier](repeating: "", count: slots)

  /// Returns the identifier with these UTF-8 bytes, which must be valid.
  mutating func string(_ bytes: Span<UInt8>) -> Identifier {
    guard bytes.count <= StringPool.bytesMax else { return StringPool.make(bytes) }
    var content = FNV1a()
    content.add(bytes)
    let hash = content.value
    let slot = Int(truncatingIfNeeded: (hash ^ (hash >> 32)) & UInt64(StringPool.slots - 1))
    if hashes[slot] == hash, StringPool.equal(texts[slot], bytes) { return texts[slot] }
    let text = StringPool.make(bytes)
    hashes[slot] = hash
    texts[slot] = text
    return text
  }

  /// Returns the identifier with these UTF-8 bytes, which must be valid.
  mutating func string(_ bytes: [UInt8]) -> Identifier { string(bytes.span) }

  private static func equal(_ text: Identifier, _ bytes: Span<UInt8>) -> Bool {
    let utf8 = text.text.utf8.span
    guard utf8.count == bytes.count else { return false }
    for at in 0..<bytes.count where utf8[at] != bytes[at] { return false }
    return true
  }

  private static func make(_ bytes: Span<UInt8>) -> Identifier {
    // The closure only reads the buffer, which lives as long as the closure runs.
    unsafe bytes.withUnsafeBufferPointer { unsafe Identifier(decoding: $0) }
  }
}
