import Domain

/// The walk of the current event through the devices that it concerns: by its interest keys, in the order of device slots, so that it can
/// be continued after a restart.
///
///     begin    notes the event in the subject memory, evaluates it for each kind, and finds the lists of its keys
///     advance  visits the next devices; each one once, with all of its instances that the event reaches
///     finish   notes what the event has made true
struct FanOut {
  /// The first device that the walk has not visited yet. One that is resumed after a restart continues there.
  private(set) var nextDevice = DeviceSlot(0)
  /// The count of the events that had too many interest keys, so that some of their keys were ignored.
  private(set) var keysLeftOut = KeysLeftOut()
  /// The interest keys of the event, the subject first.
  private var keys: [Identifier] = []
  /// The lists of the interest entries that listen to these keys, one cursor for each list.
  private var cursors: [Cursor] = []

  /// The place of the next entry in the list of an interest key.
  struct Cursor {
    var interest: InterestSlot
    /// The key's bit in `KindEvaluation.keys`.
    var bit: UInt64
    var place: Int
    /// The place up to which `prefetch` has asked for what the entries lead to.
    var prefetched = 0
  }

  /// Begins the walk of an event.
  /// - Parameters:
  ///   - event: The event.
  ///   - inHand: Receives what is the same about it for every device.
  ///   - fleet: The fleet, with the record that holds the event.
  mutating func begin(_ event: consuming DomainEvent, _ inHand: inout EventInHand, in fleet: inout Fleet) {
    let hashes = fleet.hashes(of: event)
    inHand.begin(event, subject: hashes.subject, in: &fleet)
    nextDevice = DeviceSlot(0)
    let noted: SubjectSlot
    let resumed = fleet.record.resumeAt.flatMap { cursor in cursor.nextDevice.map { (cursor.standing, $0) } }
    if let (standing, _) = resumed {
      inHand.standing = SubjectMemory.Standing(rawValue: standing) ?? .fresh
      noted = .absent
    } else {
      noted = inHand.note(event, hashes.entry, in: &fleet)
    }
    keys.clear()
    keys.append(event.subject)
    let leftOut = inHand.evaluate(event, noted: noted, keys: &keys, in: &fleet)
    if leftOut > 0 { keysLeftOut = KeysLeftOut(events: keysLeftOut.events + 1, newest: event.id, count: leftOut) }
    inHand.subjectInterest = fleet.interest(ofSubject: event.subject, hashes.interest, at: noted) ?? .absent
    findCursors(inHand.subjectInterest, in: fleet)
    if let (_, device) = resumed { skip(to: DeviceSlot(device), in: fleet) }
    inHand.content = consume event
  }

  private mutating func findCursors(_ subject: InterestSlot, in fleet: borrowing Fleet) {
    cursors.clear()
    if !subject.isAbsent { cursors.append(Cursor(interest: subject, bit: 1, place: 0)) }
    for bit in keys.indices.dropFirst() {
      guard let interest = fleet.registry.interests.id(of: keys[bit], in: fleet.registry.texts) else { continue }
      cursors.append(Cursor(interest: interest, bit: 1 << UInt64(bit), place: 0))
    }
  }

  /// Moves the cursors to the first device that is not decided yet.
  private mutating func skip(to device: DeviceSlot, in fleet: borrowing Fleet) {
    nextDevice = device
    let order = fleet.registry.entryOrder
    for cursor in cursors.indices {
      cursors[cursor].place = fleet.registry.interests.position(
        of: UInt64(device.number) << 16, in: cursors[cursor].interest, by: order)
    }
  }

  /// Decides about the event for the next devices, in the order of their slots. Each device is visited once, with all interest
  /// entries that the event reaches.
  /// - Parameters:
  ///   - fleet: The fleet.
  ///   - event: The event.
  ///   - visit: Receives what is found out about each device.
  ///   - output: Receives the decisions and commands.
  ///   - decisionsMax: The approximate number of decisions to make at most.
  /// - Returns: Whether the walk is complete.
  mutating func advance(
    _ event: borrowing EventInHand, through fleet: inout Fleet, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput, decisionsMax: Int
  ) -> Bool {
    while true {
      var device = DeviceSlot.absent
      for cursor in cursors.indices {
        let interest = cursors[cursor].interest
        let place = cursors[cursor].place
        guard place < fleet.registry.interests.count(of: interest) else { continue }
        let entry = fleet.registry.interests.entry(place, of: interest)
        device = min(device, fleet.registry.instances[fleet.registry.entries[entry].instance].device)
      }
      if device.isAbsent { return true }
      if output.decisions.count >= decisionsMax {
        nextDevice = device
        return false
      }
      visit.entries.clear()
      for cursor in cursors.indices { collect(event, device: device, cursor: cursor, in: fleet, into: &visit) }
      if cursors.count > 1 { fleet.registry.order(&visit.entries) }
      fleet.decide(event, device, &visit, into: &output)
    }
  }

  /// Moves a cursor past a device, and collects the entries of instances whose kind has a rule that names the cursor's key.
  @inline(__always)
  private mutating func collect(
    _ event: borrowing EventInHand, device: DeviceSlot, cursor: Int, in fleet: borrowing Fleet,
    into visit: inout DeviceVisit
  ) {
    let interest = cursors[cursor].interest
    let count = fleet.registry.interests.count(of: interest)
    let bit = cursors[cursor].bit
    var place = cursors[cursor].place
    // Each group is asked for one group ahead, so that it arrives while the devices before it are decided.
    if place + Fleet.prefetchMax >= cursors[cursor].prefetched {
      let from = max(place, cursors[cursor].prefetched)
      if from + Fleet.prefetchedMin <= count {
        fleet.prefetch(fanOutFrom: from, of: interest)
        cursors[cursor].prefetched = from + Fleet.prefetchMax
      }
    }
    while place < count {
      let entry = fleet.registry.interests.entry(place, of: interest)
      let instance = fleet.registry.entries[entry].instance
      guard fleet.registry.instances[instance].device == device else { break }
      place += 1
      if event.evaluations[fleet.registry.instances[instance].kind.index].keys & bit != 0 {
        visit.entries.append(entry)
      }
    }
    cursors[cursor].place = place
  }

  /// Ends the walk: the states that the event has brought are the newest ones, and the event is released with the next record.
  func finish(_ inHand: inout EventInHand, in fleet: inout Fleet) {
    assert(!inHand.slot.isAbsent, "the walk of an event ends once")
    for place in inHand.truths.indices where !inHand.truths[place].isRepeated {
      let truth = inHand.truths[place]
      fleet.subjects.note(
        truth.key, at: truth.slot, values: inHand.values.span.extracting(truth.after), said: truth.said,
        saidAt: inHand.saidAt, now: fleet.now)
    }
    if !inHand.known.isEmpty {
      fleet.subjects.note(
        SubjectMemory.contentKey(subject: inHand.subject), content: inHand.known.bounded, now: fleet.now)
    }
    fleet.record.releasedEvents.append(inHand.slot)
    inHand.slot = .absent
    inHand.content = nil
  }
}
