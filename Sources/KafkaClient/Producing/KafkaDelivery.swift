/// The report of a produced message that a broker acknowledged.
public struct KafkaDelivery: Sendable, Hashable {
  /// The tag that the message was sent with.
  public var tag: UInt64
  /// The number of the partition that has the message.
  public var partition: Int32
  /// The offset of the message.
  public var offset: Int64

  /// Makes a report.
  /// - Parameters:
  ///   - tag: The tag that the message was sent with.
  ///   - partition: The number of the partition that has the message.
  ///   - offset: The offset of the message.
  public init(tag: UInt64, partition: Int32, offset: Int64) {
    self.tag = tag
    self.partition = partition
    self.offset = offset
  }
}
