/// An offset that a group has committed or will commit, and the remark that is stored with it.
public struct KafkaCommittedOffset: Sendable, Hashable {
  /// The partition, and the offset of the next message to read.
  public var position: KafkaPosition
  /// The remark, which the broker keeps and does not interpret; empty for none. Brokers take 4,096 bytes by default.
  public var metadata: String

  /// Makes an offset to commit, with its remark.
  /// - Parameters:
  ///   - position: The partition, and the offset of the next message to read.
  ///   - metadata: The remark, without NUL characters.
  public init(_ position: KafkaPosition, metadata: String) {
    self.position = position
    self.metadata = metadata
  }
}
