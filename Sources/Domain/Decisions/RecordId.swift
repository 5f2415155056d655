/// The id of a decision or a command, `d-<partition>-<offset>-<ordinal>` or `c-<partition>-<offset>-<ordinal>`, as numbers:
/// the partition and the offset of the log record that caused it, and its number among the decisions and commands that this
/// record caused.
package struct RecordId: Hashable, Sendable {
  /// Partition of `rouse.log`.
  package var partition: Int64
  /// Offset of the log record in its partition.
  package var offset: Int64
  /// Number among the decisions and commands that the log record caused.
  package var ordinal: Int64

  /// The kind of record that an id names. The raw value is the first letter of the id.
  package enum Kind: String, Sendable {
    case decision = "d"
    case command = "c"

    fileprivate var letter: UInt8 {
      switch self {
      case .decision: UInt8(ascii: "d")
      case .command: UInt8(ascii: "c")
      }
    }
  }

  /// Creates an id from its numbers.
  /// - Parameters:
  ///   - partition: The partition of `rouse.log`.
  ///   - offset: The offset of the log record.
  ///   - ordinal: The number among the decisions and commands that the log record caused.
  package init(partition: Int64, offset: Int64, ordinal: Int64) {
    self.partition = partition
    self.offset = offset
    self.ordinal = ordinal
  }

  /// Reads an id. Returns nil for any text that `text(of:)` would not give back byte for byte, such as one with a leading
  /// zero, and for numbers of more than 18 digits.
  /// - Parameter text: may be any text.
  package init?(_ text: Identifier, of kind: Kind) { self.init(text.utf8.span, of: kind) }

  /// Reads an id from its bytes, as the other initializer does.
  /// - Parameter text: may be any bytes.
  package init?(_ text: Span<UInt8>, of kind: Kind) {
    guard text.count >= 2, text[0] == kind.letter, text[1] == UInt8(ascii: "-") else { return nil }
    var at = 2
    guard let partition = Self.number(text, &at, until: UInt8(ascii: "-")),
      let offset = Self.number(text, &at, until: UInt8(ascii: "-")), let ordinal = Self.number(text, &at, until: nil)
    else { return nil }
    self.init(partition: partition, offset: offset, ordinal: ordinal)
  }

  /// The id as text.
  package func text(of kind: Kind) -> Identifier { "\(kind.rawValue)-\(partition)-\(offset)-\(ordinal)" }

  /// Whether `a` comes before `b`. Ids are ordered by partition; in a partition, the id that was made first comes
  /// first.
  package static func inLogOrder(_ a: RecordId, _ b: RecordId) -> Bool {
    (a.partition, a.offset, a.ordinal) < (b.partition, b.offset, b.ordinal)
  }

  /// Reads digits up to `end`, or to the end of the text if `end` is nil, and moves behind them. Returns nil for anything but 1 to 18
  /// digits without a leading zero.
  private static func number(_ text: Span<UInt8>, _ at: inout Int, until end: UInt8?) -> Int64? {
    var number: Int64 = 0
    var digits = 0
    while at < text.count {
      let byte = text[at]
      at += 1
      if byte == end { return digits > 0 ? number : nil }
      // 18 digits always fit in 64 bits.
      guard (48...57).contains(byte), digits < 18, !(digits > 0 && number == 0) else { return nil }
      number = number * 10 + Int64(byte - 48)
      digits += 1
    }
    return end == nil && digits > 0 ? number : nil
  }
}
