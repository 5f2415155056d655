public import Domain

/// A Live Activity that runs and that pushes do not update or end.
public struct Zombie: Hashable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// The subject that was started, or the first interest key of the activity.
  public var subject: Identifier
  /// The kind of the activity.
  public var kind: Identifier
  /// The time of its start.
  public var since: Timestamp
  /// The sign by which it is known to be one.
  public var cause: ZombieSign
}
