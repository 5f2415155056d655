/// One record of `rouse.log`, the input of planners. Its content has been validated.
public struct LogRecord: Equatable, Sendable {
  /// The origin of the record; nil for ticks and policies, which come from no public topic.
  public var origin: Origin?
  /// The content.
  public var content: Content

  /// Creates a record.
  public init(origin: Origin?, content: Content) {
    self.origin = origin
    self.content = content
  }

  /// The content of a record.
  public enum Content: Equatable, Sendable {
    /// A domain event.
    case event(DomainEvent)
    /// A registration. Like a signal it is boxed, so that an event, of which there are most, is the largest of the other cases.
    indirect case registration(Registration)
    /// A tombstone on `rouse.devices`: the device is forgotten.
    case forget(device: Identifier)
    /// A signal.
    indirect case signal(Signal)
    /// The text of the policy document that is in force from this record on.
    case policy(document: String)
    /// Claims of devices of other log partitions to tokens.
    case claims([TokenClaim])
    /// A tick. The planner fires the timers that are due at its timestamp.
    case tick
  }
}

/// The position of a record in a public topic. The offsets of one topic partition reach a log partition in rising order, so a
/// planner that has seen a higher offset of the same generation has seen this record.
public struct Origin: Hashable, Sendable {
  /// The name of the topic.
  public var topic: String
  /// The partition of the topic.
  public var partition: Int32
  /// The offset in the partition.
  public var offset: Int64
  /// Distinguishes topics of one name: a topic that was deleted and made again has another generation, and counts its
  /// offsets from 0 again. 0 if it is not known.
  public var generation: Int64

  /// Creates an origin.
  public init(topic: String, partition: Int32, offset: Int64, generation: Int64 = 0) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.generation = generation
  }
}
