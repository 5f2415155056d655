/// Offsets from UTC by IANA zone id. They are passed in, so that a planner reads no database itself.
public struct TimeZoneOffsets: Sendable {
  /// Returns the seconds east of UTC at an instant (Unix seconds); 0 for an unknown zone.
  public let secondsEast: @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64

  /// - Parameter secondsEast: Returns the offset of a zone. It must return the same for the same arguments, or a replay
  ///   decides otherwise.
  public init(secondsEast: @escaping @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64) {
    self.secondsEast = secondsEast
  }
}
