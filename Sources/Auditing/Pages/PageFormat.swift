/// The form of a page: up to `linesMax` decisions as one run of bytes, in the order in which they were stored.
///
/// A page begins with the byte `version`. Each line begins with its flags, as a varint, and states only what differs from the line
/// before; the line before the first one has empty texts and zeros. The members of a line come in this order:
///
/// | member | written if | form |
/// | --- | --- | --- |
/// | id | always | `oddId`: a text. Else the partition (if `newPartition`), the difference of the offset, and the ordinal, or its difference if the offset is the same |
/// | verdict, reason, `final`, objective | always | `DecisionCode` |
/// | `at` | always | difference in microseconds |
/// | event | `newEvent` | text, beginning like the event before |
/// | events | `events` | number, then texts, beginning like the event; without the flag the event is the only one |
/// | device | always | text, beginning like the device before |
/// | instance | always | text, beginning like the device |
/// | kind | `newKind` | number of a word |
/// | surface | `newSurface` | code |
/// | policy | `newPolicy` | numbers of two words |
/// | traceparent | `newTrace` | 0 for nil, or 1 and a text, beginning like the one before |
/// | relevance | `newRelevance` | number |
/// | wrong, looks, value, price | `weighed` | numbers; without the flag they are 0 |
/// | tokens left | `instanceTokens`, `deviceTokens`, `appTokens` | integers |
/// | until | `until` | microseconds after `at` |
/// | command | `ownCommand` | difference of the ordinals, for a command of the same log record |
/// | command | `otherCommand` | text |
///
/// A *text* is the number of first bytes that it shares with a known one, the number of further bytes, and these. A *number* is twice
/// the integer of its millionths, zigzag; any other value is the varint 1 and its eight bytes. Every value is read back equal.
enum PageFormat {
  /// The first byte of a page.
  static let version: UInt8 = 1
  /// The number of decisions in a page of the audit store. It is also the number of sequence numbers that a page takes.
  /// - Beyond: the next decision begins another page.
  static let linesMax = 512
  /// The number of bytes of a page of the audit store.
  /// - Beyond: the decision with which the page reaches it is the last one of the page.
  static let bytesMax = 32 << 10
  /// The number of bytes below which the last page of an audit store takes the next decisions, which rewrites it. So a store that is
  /// fed few decisions at a time does not fill with tiny pages.
  /// - Beyond: the next decisions begin another page.
  static let reopenedBytesMax = 4 << 10

  /// The flags of a line.
  struct Flags: OptionSet {
    var rawValue: UInt64
    static let newEvent = Flags(rawValue: 1 << 0)
    static let newKind = Flags(rawValue: 1 << 1)
    static let weighed = Flags(rawValue: 1 << 2)
    static let newRelevance = Flags(rawValue: 1 << 3)
    static let until = Flags(rawValue: 1 << 4)
    static let instanceTokens = Flags(rawValue: 1 << 5)
    static let deviceTokens = Flags(rawValue: 1 << 6)
    static let ownCommand = Flags(rawValue: 1 << 7)
    static let newTrace = Flags(rawValue: 1 << 8)
    static let newPartition = Flags(rawValue: 1 << 9)
    static let newPolicy = Flags(rawValue: 1 << 10)
    static let newSurface = Flags(rawValue: 1 << 11)
    static let events = Flags(rawValue: 1 << 12)
    static let appTokens = Flags(rawValue: 1 << 13)
    static let otherCommand = Flags(rawValue: 1 << 14)
    static let oddId = Flags(rawValue: 1 << 15)
  }
}
