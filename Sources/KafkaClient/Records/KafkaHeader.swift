/// A header of a message. Names may repeat, and their order is kept.
public struct KafkaHeader: Sendable, Hashable {
  /// The header's name.
  public var name: String
  /// The header's value; `nil` is a null value, which differs from an empty one.
  public var value: [UInt8]?

  /// Makes a header.
  /// - Parameters:
  ///   - name: The header's name.
  ///   - value: The header's value, copied as it is; `nil` is a null value.
  public init(_ name: String, _ value: [UInt8]?) {
    self.name = name
    self.value = value
  }

  /// Makes a header with a text value.
  /// - Parameters:
  ///   - name: The header's name.
  ///   - value: The text, which is encoded as UTF-8.
  public init(_ name: String, _ value: String) {
    self.init(name, Array(value.utf8))
  }
}
