/// The place in a partition where reading begins.
public enum KafkaOffset: Sendable, Hashable {
  /// The message at this offset, from 0.
  case at(Int64)
  /// The oldest message that the partition still holds.
  case beginning
  /// The place behind the newest message.
  case end
  /// The group's committed offset; without one, the place that `auto.offset.reset` chooses.
  case committed
}
