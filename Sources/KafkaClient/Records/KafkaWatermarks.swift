/// The two ends of a partition's log.
public struct KafkaWatermarks: Sendable, Hashable {
  /// The offset of the oldest message that the partition still holds.
  public var low: Int64
  /// The offset that the next message will get; with `isolation.level=read_committed`, the last stable offset.
  public var high: Int64

  /// Creates the ends of a log.
  /// - Parameters:
  ///   - low: The offset of the oldest message.
  ///   - high: The offset that the next message will get.
  public init(low: Int64, high: Int64) {
    self.low = low
    self.high = high
  }
}
