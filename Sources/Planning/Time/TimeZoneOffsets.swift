/// The offsets of time zones from UTC. They are passed in, so that a planner reads no database itself.
public struct TimeZoneOffsets: Sendable {
  /// Returns the offset of a zone, given by its IANA id, in seconds east of UTC at an instant in Unix seconds; 0 for an
  /// unknown zone. It may be called on any thread.
  public let secondsEast: @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64

  /// Creates the offsets from a function.
  /// - Parameter secondsEast: Returns the offset of a zone, as `secondsEast` says. It must always return the same number for
  ///   the same arguments. Otherwise a replay of the log makes other decisions.
  public init(secondsEast: @escaping @Sendable (_ zone: String, _ unixSeconds: Int64) -> Int64) {
    self.secondsEast = secondsEast
  }
}
