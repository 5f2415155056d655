/// An offset that a group has committed, and the remark beside it.
public struct KafkaCommittedOffset: Sendable, Hashable {
  /// The partition, and the offset of the next message to read.
  public var position: KafkaPosition
  /// The remark, which the broker keeps and does not interpret; empty for none. Brokers take 4,096 bytes by default.
  public var metadata: String

  /// Names an offset.
  /// - Parameters:
  ///   - position: The partition, and the offset of the next message to read.
  ///   - metadata: The remark, without NUL characters.
  public init(_ position: KafkaPosition, metadata: String) {
    self.position = position
    self.metadata = metadata
  }
}
