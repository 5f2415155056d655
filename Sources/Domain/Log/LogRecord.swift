/// One record of `rouse.log`: the input of a planner, already validated.
public struct LogRecord: Equatable, Sendable {
  /// Where the record came from; nil for ticks and policies, which have no origin topic.
  public var origin: Origin?
  public var content: Content

  public init(origin: Origin?, content: Content) {
    self.origin = origin
    self.content = content
  }

  public enum Content: Equatable, Sendable {
    case event(DomainEvent)
    /// Beside, because it is large: each other record would be as large.
    indirect case registration(Registration)
    /// A tombstone on `rouse.devices`.
    case forget(device: String)
    case signal(Signal)
    /// The policy document (YAML text) in force from here on.
    case policy(document: String)
    /// Time passes: due timers fire.
    case tick
  }
}

/// A position in a public topic. Offsets of one (topic, partition) reach a log partition in rising order, so a planner
/// that has seen a higher one has seen this.
public struct Origin: Hashable, Sendable {
  public var topic: String
  public var partition: Int32
  public var offset: Int64

  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }
}
