import Domain

/// The time zones of the planner's devices.
struct ZoneTable {
  private let offsets: TimeZoneOffsets
  private var zones: ContiguousArray<LocalZone> = []
  private var zoneByID: [String: ZoneSlot] = [:]

  init(offsets: TimeZoneOffsets) { self.offsets = offsets }

  /// Returns the slot of a zone, which is made if there is none.
  /// - Parameter now: Log time; the distant past before the first record.
  mutating func zone(_ id: String, now: Timestamp) -> ZoneSlot {
    if let slot = zoneByID[id] { return slot }
    // There are some 600 zones; spellings of offsets beyond any use are taken as GMT.
    if zones.count >= Int(UInt16.max) { return ZoneSlot(0) }
    let slot = ZoneSlot(UInt32(zones.count))
    var zone = LocalZone(id: id)
    if now != .distantPast { zone.refresh(now: now, offsets: offsets) }
    zones.append(zone)
    zoneByID[id] = slot
    return slot
  }

  /// Updates every zone for `now`.
  mutating func refresh(now: Timestamp) {
    for zone in zones.indices where !zones[zone].isFresh(now) { zones[zone].refresh(now: now, offsets: offsets) }
  }

  func id(of zone: ZoneSlot) -> String { zones[zone.index].id }

  /// Returns the local time of day; the zone's offset of now counts.
  @inline(__always)
  func timeOfDay(_ zone: ZoneSlot, _ instant: Timestamp) -> TimeOfDay { zones[zone.index].timeOfDay(instant) }

  /// Returns the zone's offset from UTC now.
  @inline(__always)
  func offset(_ zone: ZoneSlot) -> TimeSpan { zones[zone.index].offset }

  /// Returns the budget day that holds `now`.
  @inline(__always)
  mutating func budgetDay(_ zone: ZoneSlot, now: Timestamp, anchorMinute: Int) -> (start: Timestamp, end: Timestamp) {
    zones[zone.index].budgetDay(now: now, anchorMinute: anchorMinute, offsets: offsets)
  }

  /// Returns the first anchor at or after an instant.
  func firstAnchor(_ zone: ZoneSlot, atOrAfter instant: Timestamp, anchorMinute: Int) -> Timestamp {
    zones[zone.index].firstAnchor(atOrAfter: instant, anchorMinute: anchorMinute, offsets: offsets)
  }
}
