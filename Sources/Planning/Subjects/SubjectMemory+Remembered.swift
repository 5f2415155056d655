import Domain
import Policies

extension SubjectMemory {
  /// The content of an entry: events of a subject and type, the truth of a subject for a set of displayed fields, or what is known of a
  /// subject by the templates of Live Activities.
  struct Newest: Equatable {
    /// The time of the newest event, at most the log time at which it arrived. For other sorts the log time of the last
    /// change.
    var time = Timestamp.distantPast
    /// The fields that templates know, in memory of their own, because few entries have them.
    private var known: Known?
    /// The remembered events, in the order in which they arrived, or the values of what the kind displays (`DisplayedTruth`). Empty for
    /// the third sort of entry. It comes last, so that what follows in `Remembered` fills the gap behind it.
    var items = KnownItems()

    private indirect enum Known: Equatable {
      case content(KnownContent)
    }

    /// The fields of the subject that templates know. Empty for another sort of entry.
    var content: KnownContent {
      get { if case .content(let content)? = known { content } else { KnownContent() } }
      set { known = newValue.isEmpty ? nil : .content(newValue) }
    }

    /// Whether templates know something.
    var hasContent: Bool { known != nil }

    /// Whether it has one of the three sorts of content.
    var isOfOneSort: Bool { items.isEmpty == hasContent }

    /// Takes over values, in place of those that are known.
    /// - Parameters:
    ///   - newer: The values.
    ///   - said: The places of the values that an event says, as bits.
    ///   - time: The time of the event.
    ///   - count: Changed by the difference in the number of values.
    /// - Returns: Whether any value has changed, and whether the time of one has.
    mutating func take(
      _ newer: Span<DisplayedValue>, said: UInt32, saidAt time: Timestamp, _ count: inout Int
    ) -> (changes: Bool, isSaidAgain: Bool) {
      var (changes, isSaidAgain) = (false, false)
      if items.count != newer.count {
        count += newer.count - items.count
        items = KnownItems(values: newer)
        changes = true
      }
      for place in newer.indices where said & 1 << UInt32(place) != 0 {
        if items[place].value != newer[place] {
          changes = true
        } else if items[place].time == time {
          continue
        }
        isSaidAgain = true
        items[place] = KnownItem(value: newer[place], time: time)
      }
      return (changes, isSaidAgain)
    }

    /// Returns the relation of an event to the earlier ones.
    func standing(id: KeyedHash, time: Timestamp, now: Timestamp) -> Standing {
      for place in 0..<items.count where items[place].event == id { return .duplicate }
      return min(time, now) < self.time ? .stale : .fresh
    }

    /// Adds an event that is not known yet, and forgets what there is no more room for, the event with the least time first.
    ///
    /// The same events are remembered in the end, however they are divided into those that a note has and those that are added to
    /// it: an event that is forgotten is never among those that a longer list would keep.
    /// - Parameters:
    ///   - id: The hash of the event's source and id.
    ///   - time: The time of the event.
    ///   - now: Log time.
    ///   - added: The number of the last of the events that are not in a note yet. The event counts if it is kept.
    /// - Returns: Whether anything has changed. A stale event that is older than all others changes nothing.
    mutating func add(id: KeyedHash, time: Timestamp, now: Timestamp, _ added: inout UInt8) -> Bool {
      let changes = min(time, now) > self.time
      self.time = max(self.time, min(time, now))
      items.append(KnownItem(event: id, time: time))
      added += 1
      while items.count > eventsMax {
        var least = 0
        for place in 1..<items.count where items[place].time < items[least].time { least = place }
        // The repeat of an event that is older than the newest one is stale, remembered or not. Any other would be decided again.
        if items[least].time >= self.time, items.count <= newestEventsMax { break }
        if least >= items.count - Int(added) { added -= 1 }
        items.remove(at: least)
      }
      return changes || items[items.count - 1].event == id
    }

    /// Takes over what a note adds. Some of its events may be known already.
    mutating func take(_ note: Newest) {
      time = max(time, note.time)
      var added: UInt8 = 0
      for event in note.items.array where !items.array.contains(where: { $0.event == event.event }) {
        _ = add(id: event.event, time: event.time, now: time, &added)
      }
    }
  }

  /// One entry of the memory.
  struct Remembered {
    var key = KeyedHash.none
    private var lastGeneration: Int32 = 0
    private var firstGeneration: Int32 = 0
    /// The number of events that were added since the entry was made; for a truth the number of changes. 0 when the slot is not
    /// in use.
    var noted: Int64 = 0
    /// The value of `noted` before the changes that the next note has. In a note that was read: before the changes that it has.
    var notedBefore: Int64 = 0
    var newest = Newest()
    /// The size of the newest whole note, so that its end needs no look-up.
    var size = EntrySize(0)
    /// The number of the last of the events that the last note lacks.
    var eventsToWrite: UInt8 = 0
    /// Whether the next `takeNotes` writes it.
    var isListed = false
    /// The place of its newest whole note in the chunks.
    var place = ChunkPlace.unwritten
    /// Probably the next entry of the same subject that an event needs (`SubjectMemory.slot(_:after:)`). The slot may be free or
    /// belong to another subject by now.
    var related = SubjectSlot.absent
    /// Probably the slot of the interest key that is the subject (`Fleet.interest(ofSubject:at:)`). That slot may be free or belong
    /// to another key by now. Absent for a truth, and when no such key was found so far.
    var interest = InterestSlot.absent

    /// Creates an entry that is not in use yet.
    /// - Parameters:
    ///   - key: Its key.
    ///   - generation: See `generation`.
    ///   - born: See `born`.
    init(key: KeyedHash = .none, generation: Int64 = 0, born: Int64 = 0) {
      self.key = key
      (self.generation, self.born) = (generation, born)
    }

    /// The generation in which the entry was last noted or prolonged. A duplicate prolongs it, too. It takes four bytes: a damaged record with a
    /// larger number is clamped.
    var generation: Int64 {
      get { Int64(lastGeneration) }
      set { lastGeneration = Int32(clamping: newValue) }
    }

    /// The generation in which the entry was made. A subject that comes again after it was forgotten is a new entry.
    var born: Int64 {
      get { Int64(firstGeneration) }
      set { firstGeneration = Int32(clamping: newValue) }
    }

    /// Whether the slot is in use.
    var isUsed: Bool { noted > 0 }
  }
}
