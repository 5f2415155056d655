public import Domain

/// The question why a device did, or did not, reload.
public struct WhyQuestion: Equatable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// The instance in question; nil: every instance of the device.
  public var instance: Identifier?
  /// The kind in question; nil: every kind.
  public var kind: Identifier?
  /// The event in question; nil: the last event, up to `at`, that was decided about.
  public var event: Identifier?
  /// The moment in question where `event` is nil; nil: the newest decision.
  public var at: Timestamp?

  /// - Parameters:
  ///   - device: the id of the device.
  ///   - instance: the id of an instance; nil: every instance.
  ///   - kind: a kind; nil: every kind.
  ///   - event: the id of an event; nil: the last one up to `at`.
  ///   - at: a moment, where no event is given; nil: the newest decision.
  public init(
    device: Identifier, instance: Identifier? = nil, kind: Identifier? = nil, event: Identifier? = nil,
    at: Timestamp? = nil
  ) {
    self.device = device
    self.instance = instance
    self.kind = kind
    self.event = event
    self.at = at
  }
}
