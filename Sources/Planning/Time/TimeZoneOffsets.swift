package import Domain

/// The offsets of time zones from UTC. They are passed in, so that a planner reads no database itself.
///
/// A planner holds an `any TimeZoneOffsets`. How large its value is shows only at run time, so the compiler uses a planner where it stands
/// instead of taking its hundreds of fields apart, which takes minutes for a single function.
public protocol TimeZoneOffsets: Sendable {
  /// Returns the offset of a zone at an instant. It must always return the same number for the same arguments. Otherwise a replay of
  /// the log makes other decisions. It may be called on any thread.
  /// - Parameters:
  ///   - zone: The IANA id of the zone.
  ///   - unixSeconds: The instant, in Unix seconds.
  /// - Returns: Seconds east of UTC; 0 for an unknown zone.
  func secondsEast(_ zone: String, _ unixSeconds: Int64) -> Int64
}

extension TimeZoneOffsets {
  /// Returns the first instant at which the clocks of a zone show a local time, or a later one: the only way in which Rouse
  /// resolves local times.
  ///
  /// If the clocks show the time twice, the first instant is returned; if they skip it, the instant at which they are put
  /// forward. The zone must not change its offset twice within 30 hours.
  /// - Parameters:
  ///   - local: The local time, as if it were UTC.
  ///   - zone: The IANA id of the zone.
  package func firstInstant(of local: Timestamp, in zone: String) -> Timestamp {
    // Offsets from UTC are between -12 and +14 hours.
    var (before, after) = (local.seconds - 16 * 3600, local.seconds + 14 * 3600)
    let (old, new) = (secondsEast(zone, before), secondsEast(zone, after))
    let byOld = local - .seconds(old)
    if old == new { return byOld }
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if secondsEast(zone, middle) == old { before = middle } else { after = middle }
    }
    let change = Timestamp(microseconds: 0) + .seconds(after)
    return byOld < change ? byOld : max(change, local - .seconds(new))
  }
}
