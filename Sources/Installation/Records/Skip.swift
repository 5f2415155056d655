public import KafkaClient

/// An operator's order to pass over records that stop the readers of a partition: a batch that cannot be unpacked, a log
/// record that no release wrote, or such a record of the state, which the restore then leaves out.
///
/// An order is stored as a committed offset of the group `<group>-skips`, which has no members: the offset is `next`,
/// and its metadata names `first`. So orders need no topic, each partition has one order at most, and the broker
/// removes it after `offsets.retention.minutes`. A reader takes an order only where it is stopped at `first`, so an old
/// order never applies to other records.
public struct Skip: Sendable, Hashable {
  /// The offset at which the readers are stopped, with its partition.
  public var first: KafkaPosition
  /// The offset at which reading continues; larger than the first.
  public var next: Int64
  /// The content of the state record that is left out, in words. Nil for records of other topics, and for an order that
  /// was read from the broker.
  public var loss: String?

  private static let remark = "skip from "

  /// Makes an order, which is not given yet.
  ///
  /// - Parameters:
  ///   - first: The offset at which the readers are stopped, with its partition.
  ///   - next: The offset at which reading continues; larger than the first.
  ///   - loss: The content of the state record that is left out, in words; nil for records of other topics.
  public init(_ first: KafkaPosition, next: Int64, loss: String? = nil) {
    precondition(next > first.offset, "a skip leads forward")
    self.loss = loss
    self.first = first
    self.next = next
  }

  /// Reads an order from a committed offset of the group for orders; nil if the offset is not an order.
  package init?(_ offset: KafkaCommittedOffset) {
    guard offset.metadata.hasPrefix(Self.remark), let first = Int64(offset.metadata.dropFirst(Self.remark.count)),
      first >= 0, offset.position.offset > first
    else { return nil }
    self.init(KafkaPosition(offset.position.partition, offset: first), next: offset.position.offset)
  }

  /// The committed offset that stores the order.
  package var committedOffset: KafkaCommittedOffset {
    KafkaCommittedOffset(
      KafkaPosition(first.partition, offset: next), metadata: "\(Self.remark)\(first.offset)")
  }
}
