/// A Kafka record before anything in it is decoded, as the CloudEvents Kafka binding sees it.
public struct CloudEventRecord: Equatable, Sendable {
  /// The headers, in the order of the record.
  public var headers: [Header]
  /// The key; nil if there is none.
  public var key: [UInt8]?
  /// The value; nil for a tombstone.
  public var value: [UInt8]?
  /// The record's own timestamp. It is the time of events that state none.
  public var timestamp: Timestamp

  /// Creates a record.
  public init(headers: [Header] = [], key: [UInt8]? = nil, value: [UInt8]?, timestamp: Timestamp) {
    self.headers = headers
    self.key = key
    self.value = value
    self.timestamp = timestamp
  }

  /// One header.
  public struct Header: Equatable, Sendable {
    /// The name, in any letter case.
    public var name: String
    /// The value; nil if there is none.
    public var value: [UInt8]?

    /// Creates a header.
    public init(name: String, value: [UInt8]?) {
      self.name = name
      self.value = value
    }
  }

  /// Returns the value of the first header with a name, in any letter case; nil if there is none.
  func header(_ name: StaticString) -> [UInt8]? {
    for header in headers where equalsIgnoringCase(header.name, name) { return header.value }
    return nil
  }

  /// Whether a header carries a CloudEvents attribute, as in binary mode.
  var hasAttributeHeaders: Bool {
    headers.contains { equalsIgnoringCase(String($0.name.prefix(3)), "ce_") }
  }
}

/// Whether a text equals an ASCII name in lower case, regardless of the letter case of the text.
private func equalsIgnoringCase(_ text: String, _ name: StaticString) -> Bool {
  guard text.utf8.count == name.utf8CodeUnitCount else { return false }
  return name.withUTF8Buffer { name in
    var at = 0
    for byte in text.utf8 {
      let lower = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
      if unsafe lower != name[at] { return false }
      at += 1
    }
    return true
  }
}
