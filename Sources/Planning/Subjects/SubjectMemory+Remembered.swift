import Domain
import Policies

extension SubjectMemory {
  /// An event that is remembered.
  struct KnownEvent: Equatable {
    /// The hash of its source and id.
    var id: UInt64
    /// Its time, which may be after the log time at which it arrived.
    var time: Timestamp
  }

  /// The content of an entry: events of a subject and type, or the truth of a subject for a set of displayed fields.
  struct Newest: Equatable {
    /// The time of the newest event, at most the log time at which it arrived. For a truth the log time of its last change.
    var time = Timestamp.distantPast
    /// The latest time of an event that is forgotten; the distant past when none is.
    var forgotten = Timestamp.distantPast
    /// The last `eventsMax` events, in the order in which they arrived. Empty for a truth.
    var events: [KnownEvent] = []
    /// The values of what the kind displays (`DisplayedTruth`). Empty for events.
    var values = KnownValues()

    /// Takes over values, in place of those that are known.
    /// - Parameters:
    ///   - newer: The values.
    ///   - count: Changed by the difference in the number of values.
    /// - Returns: Whether any value has changed.
    mutating func take(_ newer: Span<DisplayedValue>, _ count: inout Int) -> Bool {
      guard values.count == newer.count else {
        count += newer.count - values.count
        values = KnownValues(newer)
        return true
      }
      var changes = false
      for place in newer.indices where values[place] != newer[place] {
        values[place] = newer[place]
        changes = true
      }
      return changes
    }

    /// Returns the relation of an event to the earlier ones.
    func standing(id: UInt64, time: Timestamp, now: Timestamp) -> Standing {
      for event in events where event.id == id { return .duplicate }
      let arrived = min(time, now)
      // Events of one time that all are the newest are decided, however many there are: with coarse times they are not repeats.
      if time <= forgotten, arrived < self.time || time > now && time < forgotten { return .tooOld }
      return arrived < self.time ? .stale : .fresh
    }

    /// Adds an event that is not known yet.
    /// - Returns: Whether another event was forgotten for it.
    mutating func add(id: UInt64, time: Timestamp, now: Timestamp) -> Bool {
      let isFull = events.count >= eventsMax
      if isFull { forgotten = max(forgotten, events.removeFirst().time) }
      events.append(KnownEvent(id: id, time: time))
      self.time = max(self.time, min(time, now))
      return isFull
    }
  }

  /// One entry of the memory.
  struct Remembered {
    var key: UInt64 = 0
    var newest = Newest()
    /// The generation in which the entry was last noted or prolonged. A duplicate prolongs it, too.
    var generation: Int64 = 0
    /// The generation in which the entry was made. A subject that comes again after it was forgotten is a new entry.
    var born: Int64 = 0
    /// The number of events noted since the entry was made, of which `newest` holds the last `eventsMax`; for a truth
    /// the number of changes. 0 when the slot is not in use.
    var noted: Int64 = 0
    /// The place of its newest whole note in the chunks.
    var place = ChunkPlace.unwritten
    /// Probably the next entry of the same subject that an event needs (`SubjectMemory.slot(_:after:)`). The slot may be free or
    /// belong to another subject by now.
    var related = SubjectSlot.absent
    /// Probably the slot of the interest key that is the subject (`Planner.interest(ofSubject:at:)`). That slot may be free or belong
    /// to another key by now. Absent for a truth, and when no such key was found so far.
    var interest = InterestSlot.absent
    /// The size of that note, so that its end needs no look-up.
    var size = EntrySize(0)
    /// The number of events noted since the last `takeNotes`, at most `eventsMax`.
    var eventsToWrite: UInt8 = 0
    /// Whether the next `takeNotes` writes it.
    var isListed = false

    /// Whether the slot is in use.
    var isUsed: Bool { noted > 0 }

    /// Whether `newest` holds every event that is remembered. A truth is always whole, because its values are written together.
    var isWhole: Bool { isWhole(events: newest.events.count) }

    /// Returns whether a note with this number of events is whole.
    func isWhole(events: Int) -> Bool {
      !newest.values.isEmpty || events == Int(min(noted, Int64(SubjectMemory.eventsMax)))
    }
  }
}
