import Domain

/// The record that a planner works on, and the arrays that its steps use again and again.
struct RecordInHand {
  /// The place up to which the record was committed before a restart; nil where it begins here.
  private(set) var resumeAt: RecordCursor?
  var step = Step.idle
  /// The offset of the record in the log partition.
  private(set) var offset: Int64 = -1
  private(set) var nextOrdinal: UInt32 = 0
  var fanOut = FanOut()
  /// The events to release when the next record begins; until then decisions refer to them.
  var releasedEvents: [EventSlot] = []

  /// The interest entries of the device in hand that the event reaches.
  var entries: [EntrySlot] = []
  /// The instances that the push in hand reaches.
  var reached: [InstanceSlot] = []
  /// The instances of the device in hand on which the event waits; absent once a decision has said so.
  var waitingNow: [InstanceSlot] = []
  /// The terms of the examination in hand.
  var terms: ContiguousArray<InstanceTerms> = []

  enum Step {
    case idle
    case timers(LogRecord.Content)
    case fanOut
  }

  mutating func begin(offset: Int64) {
    self.offset = offset
    nextOrdinal = 0
    releasedEvents.removeAll(keepingCapacity: true)
    resumeAt = nil
  }

  mutating func resume(at cursor: RecordCursor) {
    nextOrdinal = cursor.nextOrdinal
    resumeAt = cursor
  }

  /// Returns the ordinal of the next decision or command of the record.
  mutating func takeOrdinal() -> UInt32 {
    defer { nextOrdinal += 1 }
    return nextOrdinal
  }
}
