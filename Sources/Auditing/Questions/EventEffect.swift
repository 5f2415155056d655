public import Domain

/// The decisions about one event, over all devices.
public struct EventEffect: Equatable, Sendable {
  /// The decisions about the event with the same verdict, reason, `final` and kind, counted.
  public struct Count: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    public var final: Bool
    /// The kind of the instances that the decisions are about.
    public var kind: Identifier
    /// The number of decisions.
    public var decisions: Int
    /// A few of the devices that these decisions are about, in the order of storing.
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
  /// The log time of the first decision about the event; nil without any.
  public var first: Timestamp?
  /// The log time of the last decision about the event; nil without any.
  public var last: Timestamp?
}
