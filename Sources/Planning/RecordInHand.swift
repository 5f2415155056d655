import Domain

/// The record that a planner is processing: its place in the log, and how far its processing is.
struct RecordInHand {
  /// The place up to which the record was committed before a restart; nil if nothing of it was committed.
  private(set) var resumeAt: RecordCursor?
  /// The offset of the record in the log partition.
  private(set) var offset: Int64 = -1
  /// Whether the timestamp of the record lies before the log time.
  private(set) var isLate = false
  /// The ordinal of the record's next decision or command: the last part of its id.
  private(set) var nextOrdinal: UInt32 = 0
  /// Whether the timers that are due are postponed instead of fired.
  var postponesTimers = false
  /// The hashes of the record's event, if they were made before.
  var hashes: EventHashes?
  /// The events to release when the next record begins. Until then decisions refer to them.
  var releasedEvents: [EventSlot] = []

  /// Begins a record.
  mutating func begin(offset: Int64, isLate: Bool) {
    self.offset = offset
    self.isLate = isLate
    nextOrdinal = 0
    releasedEvents.clear()
    resumeAt = nil
    (postponesTimers, hashes) = (false, nil)
  }

  /// Continues a record whose first steps were committed before a restart.
  mutating func resume(at cursor: RecordCursor) {
    nextOrdinal = cursor.nextOrdinal
    resumeAt = cursor
  }

  /// Returns the ordinal for a new decision or command of the record, and advances to the next one.
  mutating func takeOrdinal() -> UInt32 {
    defer { nextOrdinal += 1 }
    return nextOrdinal
  }
}
