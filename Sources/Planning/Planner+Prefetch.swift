extension Planner {
  /// The number of hints that `prefetch` takes at once. The memory that so many events touch stays in the processor's caches
  /// until they are planned, and so many are enough to overlap the waits for memory.
  public static let hintsMax = 16  // the size of the arrays below

  /// Loads the table entries that the next events will look up into the processor's caches. It changes no state.
  ///
  /// The tables of a large fleet are larger than the caches, so planning an event that reaches few devices mostly waits for
  /// memory: index, key, subscriber, instance and device, each look-up after the one before. Here each step is made for
  /// several events at once, so that their waits overlap.
  /// - Parameter hints: The hints of the next records; those beyond `hintsMax` are ignored.
  /// - Returns: A sum over the values read, without meaning. It keeps the compiler from removing the reads.
  @inline(never) @discardableResult
  public borrowing func prefetch(_ hints: [LookUpHint]) -> UInt32 {
    var sum: UInt32 = 0
    // The slots that the step before found for each event.
    var slots = InlineArray<16, SubjectSlot>(repeating: .absent)
    var interests = InlineArray<16, InterestSlot>(repeating: .absent)
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    let count = min(hints.count, Self.hintsMax)
    for i in 0..<count {
      interests[i] = registry.interests.candidate(hints[i].interest) ?? .absent
      slots[i] = subjects.candidate(hints[i].subject) ?? .absent
    }
    for i in 0..<count where !slots[i].isAbsent {
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].generation)
    }
    for i in 0..<count where !slots[i].isAbsent {
      sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.events.count)
    }
    // Only the first three entries that follow: most event types concern no more kinds.
    for _ in 0..<3 {
      for i in 0..<count where !slots[i].isAbsent { slots[i] = subjects.slots[slots[i]].related }
      for i in 0..<count where !slots[i].isAbsent {
        sum &+= UInt32(truncatingIfNeeded: subjects.slots[slots[i]].newest.values.count)
      }
    }
    for i in 0..<count where !interests[i].isAbsent {
      let key = registry.interests.key(of: interests[i])
      sum &+= UInt32(truncatingIfNeeded: registry.texts.range(of: key).lowerBound)
      if registry.interests.count(of: interests[i]) > 0 {
        entries[i] = registry.interests.entry(0, of: interests[i])
      }
    }
    for i in 0..<count where !entries[i].isAbsent { instances[i] = registry.entries[entries[i]].instance }
    return sum &+ prefetch(reached: &instances, count: count)
  }

  /// Loads the table entries of the next devices that a fan-out reaches into the processor's caches. It changes no state.
  /// - Parameters:
  ///   - place: The place of the next entry in the interest's list.
  ///   - interest: The interest.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  borrowing func prefetch(fanOutFrom place: Int, of interest: InterestSlot) -> UInt32 {
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    let count = min(registry.interests.count(of: interest) - place, Self.hintsMax)
    for i in 0..<count { instances[i] = registry.entries[registry.interests.entry(place + i, of: interest)].instance }
    return prefetch(reached: &instances, count: count)
  }

  /// Loads the table entries that decisions about these instances read: their devices, what waits on them, and the other
  /// instances of the devices.
  @inline(__always)
  private borrowing func prefetch(reached instances: inout InlineArray<16, InstanceSlot>, count: Int) -> UInt32 {
    var sum: UInt32 = 0
    var devices = InlineArray<16, DeviceSlot>(repeating: .absent)
    var waiting = InlineArray<16, WaitingSlot>(repeating: .absent)
    for i in 0..<count where !instances[i].isAbsent {
      let state = registry.instances[instances[i]]
      (devices[i], waiting[i]) = (state.device, state.waiting)
    }
    for i in 0..<count where !devices[i].isAbsent {
      let device = registry.devices[devices[i]]
      sum &+= device.lastCommand.ordinal
      instances[i] = device.firstInstance
    }
    for i in 0..<count where !waiting[i].isAbsent { sum &+= pending[waiting[i]].lastCause.number }
    // Only the first four instances: most devices have no more.
    for _ in 0..<4 {
      for i in 0..<count where !instances[i].isAbsent { instances[i] = registry.instances[instances[i]].next }
    }
    for i in 0..<count { sum &+= instances[i].number }
    return sum
  }

  /// Loads the table entries of the devices whose state records are written next into the processor's caches. It changes no
  /// state.
  /// - Parameter slots: The devices; those beyond `hintsMax` are ignored.
  /// - Returns: A sum over the values read, without meaning.
  @inline(never) @discardableResult
  borrowing func prefetch(devices slots: ArraySlice<DeviceSlot>) -> UInt32 {
    var sum: UInt32 = 0
    var instances = InlineArray<16, InstanceSlot>(repeating: .absent)
    var texts = InlineArray<16, TextHandle>(repeating: .absent)
    var entries = InlineArray<16, EntrySlot>(repeating: .absent)
    let count = min(slots.count, Self.hintsMax)
    for i in 0..<count {
      let device = registry.devices[slots[slots.startIndex + i]]
      instances[i] = device.firstInstance
      texts[i] = device.id
    }
    for i in 0..<count where !texts[i].isAbsent {
      sum &+= UInt32(truncatingIfNeeded: registry.texts.range(of: texts[i]).upperBound)
    }
    // Only the first four instances: most devices have no more.
    for _ in 0..<4 {
      for i in 0..<count {
        entries[i] = .absent
        if instances[i].isAbsent { continue }
        let state = registry.instances[instances[i]]
        entries[i] = state.firstEntry
        if !state.waiting.isAbsent { sum &+= pending[state.waiting].firstCause.number }
        instances[i] = state.next
      }
      for i in 0..<count {
        texts[i] =
          entries[i].isAbsent ? .absent : registry.interests.key(of: registry.entries[entries[i]].interest)
      }
      for i in 0..<count where !texts[i].isAbsent {
        sum &+= UInt32(truncatingIfNeeded: registry.texts.range(of: texts[i]).upperBound)
      }
    }
    return sum
  }
}
