import Domain

/// The tables that the records of one restore share.
struct RestoreTables {
  /// The events that wait. Devices share them, but the record of each device repeats them.
  var events: [RestoredEvent: EventSlot] = [:]
  /// The slots of apps, by id.
  var apps = NameNumbers()
  /// The slots of time zones, by id.
  var zones = NameNumbers()
  /// The slots of kinds, by name.
  var kinds = NameNumbers()
}

/// The identity of a waiting event. Records with the same identity describe the same event.
struct RestoredEvent: Hashable {
  var id: Identifier
  var traceparent: Identifier?
}
