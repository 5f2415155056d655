public import Domain

/// A Live Activity that runs and that cannot be updated or ended any more.
public struct Zombie: Hashable, Sendable {
  public enum Cause: String, Sendable, CaseIterable {
    /// Started by push; half an hour later the device has registered no activity for it.
    case neverRegistered
    /// Registered, but APNs has refused its token for good.
    case tokenRejected
  }

  public var device: String
  /// The subject that was started, or the first interest key of the activity.
  public var subject: String
  public var kind: String
  /// The time of its start.
  public var since: Timestamp
  public var cause: Cause
}
