/// A record of `rouse.decisions`: the JSON documents of one or more decisions, one a line.
///
/// A line feed stands between two lines, and none after the last one. So tools that print a line feed after each record, such as `kcat`,
/// print one decision a line. A document holds no line feed: JSON escapes those of texts.
///
/// The record has no key. Its header ``countHeader`` holds the number of lines in decimal digits, so that a reader notices a
/// record that was cut. Each line can be read alone.
///
/// A block holds decisions of one log partition in the order in which they were made, of one step of a planner or of several log
/// records. It never holds decisions of two transactions. Where one block ends and the next begins means nothing: it follows from
/// ``bytesMax`` and from the moments of the commits.
public struct DecisionBlock: Sendable {
  /// The name of the header that holds the number of decisions.
  public static let countHeader = "rouse-decisions"
  /// The largest number of bytes of a block that holds several decisions.
  /// - Beyond: the next decision begins another block. A decision that is larger is alone in its block.
  public static let bytesMax = 64 << 10

  /// The value of the record.
  public let bytes: [UInt8]
  /// The value of the header ``countHeader``; nil if the record has no such header.
  private let count: [UInt8]?

  /// Takes over the parts of a record, which may be anything.
  /// - Parameters:
  ///   - value: The value of the record; nil reads as an empty one.
  ///   - count: The value of the header ``countHeader``; nil if the record has none.
  public init(_ value: [UInt8]?, count: [UInt8]?) {
    bytes = value ?? []
    self.count = count
  }

  /// The lines, as ranges of `bytes`. An empty value has one empty line. A line may be no decision.
  public var lines: Lines { Lines(bytes: bytes) }

  /// Copies of all lines.
  public var documents: [[UInt8]] { lines.map { Array(bytes[$0]) } }

  /// Returns the contradiction between the header and the lines, in words that name both numbers.
  /// - Parameter lines: The number of lines.
  /// - Returns: nil if the header holds this number.
  public func contradiction(lines: Int) -> String? {
    guard let count else { return "the record has no header \(Self.countHeader)" }
    if count.elementsEqual("\(lines)".utf8) { return nil }
    let stated = PrintableText(escaping: String(decoding: count.prefix(20), as: UTF8.self))
    return "the header \(Self.countHeader) says \(stated), and the record has \(lines) \(lines == 1 ? "line" : "lines")"
  }

  /// The lines of a block, in order.
  public struct Lines: Sequence, IteratorProtocol {
    let bytes: [UInt8]
    private var start: Int? = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the range of the next line, without its line feed; nil behind the last one.
    public mutating func next() -> Range<Int>? {
      guard let first = start else { return nil }
      let end = bytes[first...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      start = end < bytes.count ? end + 1 : nil
      return first..<end
    }
  }
}
