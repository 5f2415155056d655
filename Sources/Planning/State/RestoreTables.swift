import Domain

/// The tables that the records of one restore share.
struct RestoreTables {
  /// The events that wait, by the offsets of their records. Devices share them, but the record of each device repeats them.
  var events: [Int64: EventSlot] = [:]
  /// The slots of apps, by id.
  var apps = NameNumbers()
  /// The slots of time zones, by id.
  var zones = NameNumbers()
  /// The slots of kinds, by name.
  var kinds = NameNumbers()
}
