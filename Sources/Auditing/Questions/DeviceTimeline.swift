public import Domain

/// The decisions about one device and the commands to it.
public struct DeviceTimeline: Equatable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// Whether the store has ever seen the device.
  public var isKnown: Bool
  /// The entries, oldest first. A command comes before the decisions of the same instant.
  public var entries: [AuditEntry]
  /// The number of older entries in the range, which the limit left out.
  public var omitted: Int
}
