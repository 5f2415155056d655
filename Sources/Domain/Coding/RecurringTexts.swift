/// Texts that come again from record to record: event types, sources, paths of fields. A reader that has them makes no new text of bytes
/// that it has read before, and need not check their UTF-8 again.
///
/// A table of 256 places: the hash of a text gives its place, and a new text replaces the one that was there. Texts up to the size
/// that Swift stores without an allocation, and long ones, are made each time. Not thread-safe: one owner.
public struct RecurringTexts: Sendable {
  private var texts: ContiguousArray<Identifier>

  /// The number of places, a power of two.
  private static let placeCount = 256
  /// The sizes of the texts that are kept, in bytes. With the table they take at most some 32 KB.
  private static let sizes = 16...64

  /// Creates an empty table.
  public init() { texts = ContiguousArray(repeating: "", count: Self.placeCount) }

  /// Returns the text of bytes that were read before; nil for others.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - place: Receives the place for the text; −1 if it is not to be kept.
  func find(_ bytes: Span<UInt8>, _ place: inout Int) -> Identifier? {
    guard Self.sizes.contains(bytes.count) else {
      place = -1
      return nil
    }
    var hash = FNV1a()
    hash.add(bytes)
    place = Int((hash.value ^ hash.value >> 32) & UInt64(Self.placeCount - 1))
    let known = texts[place].utf8.span
    guard known.count == bytes.count else { return nil }
    for at in bytes.indices where known[at] != bytes[at] { return nil }
    return texts[place]
  }

  /// Keeps a text.
  /// - Parameters:
  ///   - text: The text.
  ///   - place: The place that `find` gave.
  mutating func keep(_ text: Identifier, at place: Int) {
    if place >= 0 { texts[place] = text }
  }
}
