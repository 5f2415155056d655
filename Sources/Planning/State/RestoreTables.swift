/// Tables that the records of one restore share.
struct RestoreTables {
  /// Events are shared between the devices they wait on; records repeat them.
  var events: [RestoredEvent: EventSlot] = [:]
  var apps = NameNumbers()
  var zones = NameNumbers()
  var kinds = NameNumbers()
}

/// The identity of a waiting event: two that agree in this are one.
struct RestoredEvent: Hashable {
  var id: String
  var traceparent: String?
}
