public import Domain

/// The decisions about one event, over all devices.
public struct EventEffect: Equatable, Sendable {
  /// The decisions with the same verdict, reason, `final` and kind.
  public struct Count: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    public var final: Bool
    /// The kind of the instances.
    public var kind: Identifier
    /// The number of decisions.
    public var decisions: Int
    /// A few of the devices, in the order of storing.
    public var sampleDevices: [Identifier]
  }

  /// The id of the event.
  public var event: Identifier
  /// Whether the store has ever seen the event.
  public var isKnown: Bool
  /// The decisions by verdict, reason, `final` and kind, the most frequent first.
  public var counts: [Count]
  /// The number of all decisions about the event.
  public var decisions: Int
  /// The number of devices with a decision about the event.
  public var devices: Int
  /// The number of different commands that show the event.
  public var commands: Int
  /// The number of (device, instance) pairs without a final decision.
  public var pending: Int
  /// The time of the first decision.
  public var first: Timestamp?
  /// The time of the last decision.
  public var last: Timestamp?
}
