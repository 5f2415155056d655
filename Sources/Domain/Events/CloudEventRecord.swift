/// A record as the CloudEvents Kafka binding sees it: what intake has of a message before anything is decoded.
public struct CloudEventRecord: Equatable, Sendable {
  public var headers: [Header]
  public var key: [UInt8]?
  public var value: [UInt8]?
  /// The record's own timestamp: the time of events that state none.
  public var timestamp: Timestamp

  public init(headers: [Header] = [], key: [UInt8]? = nil, value: [UInt8]?, timestamp: Timestamp) {
    self.headers = headers
    self.key = key
    self.value = value
    self.timestamp = timestamp
  }

  public struct Header: Equatable, Sendable {
    public var name: String
    public var value: [UInt8]?
    public init(name: String, value: [UInt8]?) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first header with this name, whatever its case; nil where there is none.
  func header(_ name: StaticString) -> [UInt8]? {
    for header in headers where equalsIgnoringCase(header.name, name) { return header.value }
    return nil
  }

  /// Whether there is a header of binary mode.
  var hasAttributeHeaders: Bool {
    headers.contains { equalsIgnoringCase(String($0.name.prefix(3)), "ce_") }
  }
}

/// Compares with an ASCII name in lower case.
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
