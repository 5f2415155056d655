/// A text that names something: an id, a kind, an event type, a subject, an interest key, an app, the path of a field.
///
/// Two identifiers are equal when their UTF-8 bytes are, as in Kafka's keys and in SQLite, and are ordered by these bytes.
/// Swift's `String` calls texts equal that Unicode calls canonically equivalent: `é` as one scalar and as two. So an
/// identifier is never compared, sorted or looked up as a `String`; this type has no such operation.
@frozen public struct Identifier: Sendable {
  /// The text, to be written, printed, or given to a format. Never compare it.
  public let text: String

  /// Creates an identifier from any text.
  @inlinable
  public init(_ text: String) { self.text = text }

  /// Creates an identifier from bytes. Bytes that are not UTF-8 are replaced.
  @inlinable
  public init(decoding bytes: some Collection<UInt8>) { text = String(decoding: bytes, as: UTF8.self) }

  /// The bytes.
  @inlinable
  public var utf8: String.UTF8View { text.utf8 }

  /// Whether the text has no bytes.
  @inlinable
  public var isEmpty: Bool { text.isEmpty }

  /// Whether the bytes of this identifier begin with those of another.
  @inlinable
  public func hasPrefix(_ prefix: Identifier) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension Identifier: Hashable, Comparable {
  /// Whether the bytes are equal.
  @inlinable
  public static func == (left: Identifier, right: Identifier) -> Bool {
    // Equal bits are one and the same text, whatever they mean: that of one small string or of one shared buffer.
    let (a, b) = unsafe (
      unsafeBitCast(left.text, to: (UInt64, UInt64).self), unsafeBitCast(right.text, to: (UInt64, UInt64).self)
    )
    if a == b { return true }
    // Texts that are not even equivalent have other bytes. Swift finds that out fast for most texts.
    guard left.text == right.text else { return false }
    let isEqual = left.text.utf8.span.isEqual(to: right.text.utf8.span)
    return isEqual
  }

  /// Whether the bytes of the left come first. A prefix comes before a longer text.
  @inlinable
  public static func < (left: Identifier, right: Identifier) -> Bool {
    let (a, b) = (left.text.utf8.span, right.text.utf8.span)
    for at in 0..<min(a.count, b.count) where a[at] != b[at] { return a[at] < b[at] }
    return a.count < b.count
  }

  /// Adds the bytes, and a byte that never occurs in UTF-8.
  @inlinable
  public func hash(into hasher: inout Hasher) {
    // The span keeps the bytes alive for the whole call.
    unsafe text.utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    hasher.combine(0xff as UInt8)
  }
}

extension Identifier: CustomStringConvertible, CustomDebugStringConvertible {
  /// The text.
  @inlinable
  public var description: String { text }

  /// The text in quotation marks, with escapes, as in lists of identifiers.
  public var debugDescription: String { text.debugDescription }
}

extension Identifier: ExpressibleByStringInterpolation {
  /// Creates an identifier from a literal, or from a text with interpolated values.
  @inlinable
  public init(stringLiteral value: String) { text = value }
}

extension Optional<Identifier> {
  /// The text; nil if there is no identifier.
  @inlinable
  public var text: String? { map(\.text) }
}
