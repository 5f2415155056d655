/// `d-<partition>-<offset>-<ordinal>` as numbers. Only texts that come back exactly the same are read.
struct RecordId: Hashable {
  var partition: Int64
  var offset: Int64
  var ordinal: Int64

  static let decision = UInt8(ascii: "d")
  static let command = UInt8(ascii: "c")

  init(partition: Int64, offset: Int64, ordinal: Int64) {
    self.partition = partition
    self.offset = offset
    self.ordinal = ordinal
  }

  init?(_ text: String, prefix: UInt8) {
    var bytes = text.utf8.makeIterator()
    guard bytes.next() == prefix, bytes.next() == UInt8(ascii: "-") else { return nil }
    var parts: (Int64, Int64, Int64) = (0, 0, 0)
    guard Self.number(&bytes, until: UInt8(ascii: "-"), into: &parts.0),
      Self.number(&bytes, until: UInt8(ascii: "-"), into: &parts.1),
      Self.number(&bytes, until: nil, into: &parts.2)
    else { return nil }
    (partition, offset, ordinal) = parts
  }

  func text(prefix: String) -> String { "\(prefix)-\(partition)-\(offset)-\(ordinal)" }

  private static func number(
    _ bytes: inout String.UTF8View.Iterator, until end: UInt8?, into number: inout Int64
  ) -> Bool {
    var digits = 0
    while let byte = bytes.next() {
      if byte == end { return digits > 0 }
      guard (48...57).contains(byte), digits < 18, !(digits > 0 && number == 0) else { return false }
      number = number * 10 + Int64(byte - 48)
      digits += 1
    }
    return end == nil && digits > 0
  }
}
