public import Domain

/// The decisions about one device and the commands to it.
public struct DeviceTimeline: Equatable, Sendable {
  /// All decisions of the range about one instance.
  public struct InstanceCounts: Equatable, Sendable {
    /// A decision about the instance, in short.
    public struct BriefDecision: Equatable, Sendable {
      /// The log time.
      public var at: Timestamp
      /// The reason.
      public var reason: Reason
      /// The kind of the instance.
      public var kind: Identifier
      /// The surface of the instance.
      public var surface: Surface
      /// The tokens that the instance had left; nil without a limit.
      public var tokensLeft: Int?
    }

    /// The id of the instance.
    public var instance: Identifier
    /// The number of decisions.
    public var decisions = 0
    /// The number of decisions after which the event was shown by a push.
    public var shown = 0
    /// The latest decision.
    public var last: BriefDecision
    /// The latest decision that tells whether the token of the instance works: a push, or a refused token. Nil if there is none.
    public var lastOfToken: BriefDecision?
  }

  /// The id of the device.
  public var device: Identifier
  /// Whether the store has ever seen the device.
  public var isKnown: Bool
  /// The entries, oldest first. A command comes before the decisions of the same instant.
  public var entries: [AuditEntry]
  /// The number of older entries in the range, which the limit left out.
  public var omitted: Int
  /// The counts of the instances in the range, also of the entries that the limit left out, by id.
  public var instances: [InstanceCounts] = []
}
