public import Domain

/// The question why a device did, or did not, reload.
public struct WhyQuestion: Equatable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// The instance in question; nil: every instance of the device.
  public var instance: Identifier?
  /// The kind in question; nil: every kind.
  public var kind: Identifier?
  /// The event in question; nil: the event of the newest decision about the device, up to `at`.
  public var event: Identifier?
  /// The latest log time at which a decision is looked for if `event` is nil; nil: no limit.
  public var at: Timestamp?

  /// - Parameters:
  ///   - device: the id of the device.
  ///   - instance: the id of an instance; nil: every instance.
  ///   - kind: a kind; nil: every kind.
  ///   - event: the id of an event; nil: the event of the newest decision, up to `at`.
  ///   - at: the latest log time of that decision, used without an event only; nil: no limit.
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
