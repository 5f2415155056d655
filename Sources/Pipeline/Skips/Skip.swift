public import KafkaClient
import Logging

/// An operator's order to pass over records that stop the readers of a partition: a batch that cannot be unpacked, a log
/// record that no release wrote, or such a record of the state, which the restore then leaves out.
///
/// Orders are committed offsets of the group `<group>-skips`, which has no members: of the partition, with `next` as the
/// offset, and `first` as its remark. So they need no topic, each partition has one order at most, and the broker removes
/// it after `offsets.retention.minutes`. A reader takes an order only where it is stopped at `first`, so an order of
/// earlier days never applies to other records.
public struct Skip: Sendable, Hashable {
  /// The offset at which the readers are stopped, with its partition.
  public var first: KafkaPosition
  /// The offset at which reading continues; larger than the first.
  public var next: Int64
  /// The content of a state record, in words: what the planner has to go on without. Nil for records of other topics.
  public var loss: String?

  private static let remark = "skip from "

  /// Names records to pass over.
  ///
  /// - Parameters:
  ///   - first: The offset at which the readers are stopped, with its partition.
  ///   - next: The offset at which reading continues; larger than the first.
  ///   - loss: The content of a state record, in words.
  public init(_ first: KafkaPosition, next: Int64, loss: String? = nil) {
    precondition(next > first.offset, "a skip leads forward")
    self.loss = loss
    self.first = first
    self.next = next
  }

  /// Reads an order; nil for a committed offset that is none.
  init?(_ offset: KafkaCommittedOffset) {
    guard offset.metadata.hasPrefix(Self.remark), let first = Int64(offset.metadata.dropFirst(Self.remark.count)),
      first >= 0, offset.position.offset > first
    else { return nil }
    self.init(KafkaPosition(offset.position.partition, offset: first), next: offset.position.offset)
  }

  /// The committed offset that is the order.
  var committedOffset: KafkaCommittedOffset {
    KafkaCommittedOffset(
      KafkaPosition(first.partition, offset: next), metadata: "\(Self.remark)\(first.offset)")
  }

  /// Logs and counts that a stage took the order.
  func taken(_ logger: Logger, _ counters: PipelineCounters) {
    counters.add(.skipsTaken)
    logger.critical(
      "records were passed over, as an operator ordered",
      metadata: [
        "topic": "\(first.partition.topic)", "partition": "\(first.partition.partition)", "from": "\(first.offset)",
        "to": "\(next)",
      ])
  }
}

extension PipelineSettings {
  /// The group whose committed offsets are operators' orders to pass over records.
  var skipGroup: String { "\(group)-skips" }
}
