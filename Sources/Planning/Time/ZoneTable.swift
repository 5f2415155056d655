import Domain
import Policies

/// The time zones of the planner's devices, each with a slot that fits into 16 bits.
struct ZoneTable {
  private let offsets: any TimeZoneOffsets
  private var zones: ContiguousArray<LocalZone> = []
  private var zoneByID: [Identifier: ZoneSlot] = [:]
  /// The quiet hours of the policy; nil if it has none.
  private var quiet: QuietHours?

  /// The bound on zones other than GMT, which always finds a slot. The database has some 600, but devices may send any
  /// text: the database also takes spellings of offsets.
  /// - Beyond: further zones count as GMT.
  static let zonesMax = Int(UInt16.max)
  private static let gmt = "GMT"

  /// - Parameter offsets: The offsets of the zones from UTC.
  init(offsets: any TimeZoneOffsets) { self.offsets = offsets }

  /// Returns the slot of a zone, which is added if it is not known. When the table holds `zonesMax` zones, any further
  /// one is taken as GMT.
  /// - Parameters:
  ///   - id: The IANA id of the zone. An unknown id has the offsets of GMT.
  ///   - now: Log time; the distant past before the first record.
  mutating func zone(_ id: String, now: Timestamp) -> ZoneSlot {
    if let slot = zoneByID[Identifier(id)] { return slot }
    if zones.count >= Self.zonesMax, id != Self.gmt { return zone(Self.gmt, now: now) }
    let slot = ZoneSlot(UInt32(zones.count))
    var zone = LocalZone(id: id)
    if now != .distantPast { zone.refresh(now: now, quiet: quiet, offsets: offsets) }
    zones.append(zone)
    zoneByID[Identifier(id)] = slot
    return slot
  }

  /// Returns the slot of a zone that was added; nil if it was not.
  func slot(named id: Identifier) -> ZoneSlot? { zoneByID[id] }

  /// Updates the offset and the quiet hours of every zone.
  /// - Parameter now: Log time.
  mutating func refresh(now: Timestamp) {
    for zone in zones.indices where !zones[zone].isFresh(now) {
      zones[zone].refresh(now: now, quiet: quiet, offsets: offsets)
    }
  }

  /// Takes over the quiet hours of a policy, and the time zones of its broadcast channels.
  /// - Parameters:
  ///   - policy: The policy.
  ///   - now: Log time; the distant past before the first record.
  mutating func use(_ policy: Policy, now: Timestamp) {
    for kind in policy.kinds {
      if let zone = kind.activity?.timeZone { _ = self.zone(zone.text, now: now) }
    }
    use(policy.quietHours, now: now)
  }

  /// Takes over quiet hours.
  /// - Parameters:
  ///   - quiet: The quiet hours; nil for none.
  ///   - now: Log time; the distant past before the first record.
  mutating func use(_ quiet: QuietHours?, now: Timestamp) {
    if quiet == self.quiet { return }
    self.quiet = quiet
    for zone in zones.indices { zones[zone].forgetQuietHours() }
    if now != .distantPast { refresh(now: now) }
  }

  /// Returns the end of the quiet hours that hold in a zone at the instant of the last `refresh`; nil if none hold.
  func quietEnd(_ zone: ZoneSlot) -> Timestamp? { zones[zone.index].quietEnd }

  /// Returns the end of the quiet hours that will hold in a zone at a later instant; nil if none will hold.
  func quietEnd(_ zone: ZoneSlot, at instant: Timestamp) -> Timestamp? {
    var later = LocalZone(id: zones[zone.index].id)
    later.refresh(now: instant, quiet: quiet, offsets: offsets)
    return later.quietEnd
  }

  /// Returns the IANA id of a zone, as a registration gave it.
  func id(of zone: ZoneSlot) -> String { zones[zone.index].id }

  /// Returns the local time of day of an instant, with the offset that `refresh` found last.
  @inline(__always)
  func timeOfDay(_ zone: ZoneSlot, _ instant: Timestamp) -> TimeOfDay { zones[zone.index].timeOfDay(instant) }

  /// Returns the zone's offset from UTC that `refresh` found last.
  func offset(_ zone: ZoneSlot) -> TimeSpan { zones[zone.index].offset }

  /// Returns the budget day that holds `now`, which lasts from one anchor to the next.
  /// - Parameters:
  ///   - zone: The zone in which the day is counted.
  ///   - now: Log time.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  mutating func budgetDay(_ zone: ZoneSlot, now: Timestamp, anchorMinute: Int) -> (start: Timestamp, end: Timestamp) {
    zones[zone.index].budgetDay(now: now, anchorMinute: anchorMinute, offsets: offsets)
  }

  /// Returns the first beginning of a budget day at or after an instant.
  /// - Parameters:
  ///   - zone: The zone in which the day is counted.
  ///   - instant: The earliest instant to return.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  func firstAnchor(_ zone: ZoneSlot, atOrAfter instant: Timestamp, anchorMinute: Int) -> Timestamp {
    zones[zone.index].firstAnchor(atOrAfter: instant, anchorMinute: anchorMinute, offsets: offsets)
  }
}
