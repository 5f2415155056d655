public import Domain

/// What a log record will make its planner look up first. See `Planner.prefetch`.
public struct LookUpHint: Hashable, Sendable {
  /// Hash of the subject as an interest key.
  fileprivate let interest: UInt32
  /// Key of subject and type in `SubjectMemory`.
  fileprivate let subject: UInt64

  private init(type: Span<UInt8>, subject: Span<UInt8>) {
    interest = HashIndex.hash(subject)
    self.subject = SubjectMemory.key(subject: subject, type: type)
  }

  /// Of a record of `rouse.log`; nil for what is no event.
  public init?(logRecord bytes: [UInt8]) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    self.init(type: bytes.span.extracting(places.type), subject: bytes.span.extracting(places.subject))
  }

  public init(_ event: DomainEvent) {
    self.init(type: event.type.utf8.span, subject: event.subject.utf8.span)
  }
}

extension Planner {
  /// How many hints `prefetch` takes at once: what so many events touch stays in the processor's caches until they are
  /// planned, and their waits overlap enough.
  public static let hintsMax = 16  // the size of the arrays below

  /// Brings what the next events will look up into the processor's caches. The tables of a large fleet are larger than
  /// those, so an event that reaches few devices mostly waits for memory: index, key, listener, instance, device, each
  /// look-up after the one before it. For several events side by side the waits of each step overlap. Nothing changes.
  /// - Parameter hints: of the next records, at most `hintsMax`; more are passed over.
  /// - Returns: a sum over what was read, which is why the reading is not optimised away. It means nothing.
  @inline(never) @discardableResult
  public borrowing func prefetch(_ hints: [LookUpHint]) -> UInt32 {
    var sum: UInt32 = 0
    // What the last step has found for each event, and what it has found of the event's subject.
    var found = InlineArray<16, UInt32>(repeating: none)
    var slots = InlineArray<16, UInt32>(repeating: none)
    let count = min(hints.count, Self.hintsMax)
    for i in 0..<count {
      found[i] = interests.candidate(hints[i].interest) ?? none
      slots[i] = subjects.candidate(hints[i].subject) ?? none
    }
    for i in 0..<count where slots[i] != none {
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].generation)
    }
    for i in 0..<count where slots[i] != none {
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.ids.count)
    }
    for i in 0..<count where found[i] != none {
      sum &+= UInt32(truncatingIfNeeded: texts.range(of: interests.key(of: found[i])).lowerBound)
      found[i] = interests.count(of: found[i]) > 0 ? interests.entry(0, of: found[i]) : none
    }
    for i in 0..<count where found[i] != none { found[i] = entries[found[i]].instance }
    for i in 0..<count where found[i] != none { found[i] = instances[found[i]].device }
    for i in 0..<count where found[i] != none {
      let device = devices[found[i]]
      sum &+= device.commandOrdinal
      found[i] = device.firstInstance
    }
    for i in 0..<count where found[i] != none { sum &+= instances[found[i]].next }
    return sum
  }

  /// The same for devices whose records are written next: what their records are made of.
  @inline(never) @discardableResult
  borrowing func prefetch(devices slots: ArraySlice<UInt32>) -> UInt32 {
    var sum: UInt32 = 0
    var instance = InlineArray<16, UInt32>(repeating: none)
    var entry = InlineArray<16, UInt32>(repeating: none)
    let count = min(slots.count, Self.hintsMax)
    for i in 0..<count {
      let device = devices[slots[slots.startIndex + i]]
      instance[i] = device.firstInstance
      entry[i] = device.id
    }
    for i in 0..<count where entry[i] != TextPool.noText {
      sum &+= UInt32(truncatingIfNeeded: texts.range(of: entry[i]).upperBound)
    }
    // The first few: most devices have no more.
    for _ in 0..<4 {
      for i in 0..<count {
        entry[i] = none
        if instance[i] == none { continue }
        let state = instances[instance[i]]
        entry[i] = state.firstEntry
        if state.waiting != none { sum &+= waitings[state.waiting].firstCause }
        instance[i] = state.next
      }
      for i in 0..<count where entry[i] != none { entry[i] = interests.key(of: entries[entry[i]].interest) }
      for i in 0..<count where entry[i] != none && entry[i] != TextPool.noText {
        sum &+= UInt32(truncatingIfNeeded: texts.range(of: entry[i]).upperBound)
      }
    }
    return sum
  }
}
