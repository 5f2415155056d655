/// The places of one record's key and value in a buffer that holds the bytes of many records.
public struct KafkaRecordPlace: Sendable, Hashable {
  /// The byte range of the key; `nil` is a null key.
  public var key: Range<Int>?
  /// The byte range of the value; `nil` is a null value, on a compacted topic a tombstone.
  public var value: Range<Int>?

  /// Creates a place.
  /// - Parameters:
  ///   - key: The byte range of the key; `nil` is a null key.
  ///   - value: The byte range of the value; `nil` is a null value.
  public init(key: Range<Int>?, value: Range<Int>?) {
    self.key = key
    self.value = value
  }
}
