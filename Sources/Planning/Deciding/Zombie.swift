public import Domain

/// A Live Activity that runs and can no longer be updated or ended.
public struct Zombie: Hashable, Sendable {
  /// The sign by which an activity is known to be a zombie.
  public enum Sign: String, Sendable, CaseIterable {
    /// A push started it, and the device has not registered it within half an hour.
    case neverRegistered
    /// APNs has permanently refused its token.
    case tokenRejected
  }

  /// The id of the device.
  public var device: Identifier
  /// The subject that was started, or the first interest key of the activity.
  public var subject: Identifier
  /// The kind of the activity.
  public var kind: Identifier
  /// The time of its start.
  public var since: Timestamp
  /// The sign by which it is known to be one.
  public var cause: Sign
}
