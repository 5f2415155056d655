public import Domain

/// A record of `rouse.state` that this release cannot read.
public struct StateRecordError: Error, Equatable, Sendable {
  /// The key of the record.
  public let key: [UInt8]
  /// The offset of the record in the topic; 0 for a record of a local snapshot.
  public let offset: Int64
  /// The reason.
  public let cause: BinaryError

  /// Names a record that cannot be read.
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - offset: The offset of the record in the topic.
  ///   - cause: The reason.
  public init(key: [UInt8], offset: Int64, cause: BinaryError) {
    self.key = key
    self.offset = offset
    self.cause = cause
  }
}

extension StateRecordError: CustomStringConvertible {
  /// The message: the content of the record, and where it is damaged.
  public var description: String { "\(StateKey.meaning(of: key)): \(cause)" }
}
