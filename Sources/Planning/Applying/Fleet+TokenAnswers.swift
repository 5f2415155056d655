import Domain
import Policies

/// Pushes to Live Activities that no event decides. While an activity has no token, or a dead one, its subject goes on. So a registration
/// with a new token is answered by a push with the newest content, or by the end if the subject has ended. Its timer leads to that push, so
/// that several registrations in a row are answered once.
extension Fleet {
  /// Notes that an activity with a new token is to be pushed what it should show, if anything is known.
  mutating func oweAnswer(to instance: InstanceSlot) {
    guard let state = registry.addressed[instance], state.life.isOnScreen, toldSubject(of: instance, state) != nil
    else { return }
    // The new token is answered at once, so an alert that cannot go with the answer does not go at all.
    if state.owesAlert, isQuiet(instance, relevance: 0) || lane(of: instance, isUrgent: true).priority == 5 {
      registry[addressed: instance]?.settle()
    }
    registry[addressed: instance]?.owe(at: now)
  }

  /// Notes that an activity is to be pushed what is known now, because an event that is not pushed itself, being older than another one of
  /// its type, has added to it.
  /// - Parameters:
  ///   - event: The event.
  ///   - instance: The activity, or a push-to-start token, to which it adds nothing.
  mutating func oweAddition(by event: borrowing EventInHand, to instance: InstanceSlot) {
    let kind = registry.instances[instance].kind
    let evaluation = event.evaluations[kind.index]
    guard registry.instances[instance].surface == .activity, evaluation.hasRule, evaluation.action == .update,
      !event.known.session(rules[kind].name).isOver, let state = registry.addressed[instance],
      case .running = state.life, !state.ended, toldSubject(of: instance, state)?.hash.value == event.subject.value
    else { return }
    // The push that is owed already carries the addition, too.
    if state.owedAt < .distantFuture { return }
    registry[addressed: instance]?.owe(at: now)
    setActivityTimer(instance)
    touch(registry.instances[instance].device)
  }

  /// Pushes an activity what it should show, because its token is new, APNs did not take the last push, or an event that came late has added
  /// something.
  /// - Parameters:
  ///   - instance: The activity, whose token is alive.
  ///   - state: Its state.
  ///   - activity: The policy of its kind.
  ///   - output: Receives the command.
  mutating func payOwed(
    to instance: InstanceSlot, _ state: AddressedState, _ activity: ActivityPolicy, into output: inout PlannerOutput
  ) {
    registry[addressed: instance]?.settle()
    let (device, kind) = (registry.instances[instance].device, registry.instances[instance].kind)
    guard rules[kind].enabled else {
      registry[addressed: instance]?.owe(at: now + .hours(1))
      return
    }
    guard let subject = toldSubject(of: instance, state) else { return }
    let content = subjects.slots[subject.slot].newest.content
    let session = content.session(rules[kind].name)
    let start = start(of: instance, subject.entry, state)
    let sessionStart = start.map { session.start == .distantPast ? $0.at : session.start } ?? state.startedAt
    if session.end >= max(sessionStart, session.start) {
      return sendEnd(as: .caughtUp, content.event(after: nil), instance, state, activity, into: &output)
    }
    // A card that a push has started shows what the start told, one that the app has started what the app knew.
    let shownUpTo = max(state.told.upTo, start?.told.upTo ?? state.startedAt)
    let isNews = content.newest > shownUpTo || state.refusals > 0
    // The content is sent again where it may be lost with the token before this one, where the card may be another than that of the
    // start, and where the clock of the device may be fast.
    let mayLack = start != nil || state.timestamp > 0 || content.newest > state.startedAt - ActivityTimes.clockError
    // Quiet hours may have begun since, and no record may have come for a while.
    let owesAlert = state.owesAlert && now - state.owedAt < ActivityTimes.lateAlert
    let lane = lane(of: instance, isUrgent: (isNews || owesAlert) && !isQuiet(instance, relevance: 0))
    let isAlert = owesAlert && lane.priority == 10
    guard isNews || isAlert || mayLack && !state.owesAlert else { return }
    if !registry.isInDeveloperMode(device), ledgers.apps.tokensLeft(registry.devices[device].app, now: now) == 0 {
      // An alert is no news the day after.
      if isAlert, !isNews { return }
      registry[addressed: instance]?.owe(
        at: Timestamp(microseconds: 0) + LocalZone.day * (AppTable.day(of: now) + 1) + device.spread)
      return
    }
    let timestamp = max(now.seconds, state.timestamp + 1)
    let score = [state.told, start?.told ?? AddressedState.Told()].reduce(0 as Float) {
      max($0, $1.score(at: now, inverseHalfLife: rules[kind].inverseHalfLife))
    }
    let known = content.event(after: nil)
    // An alert that is owed was relevant enough.
    let made = ActivityPayload.make(
      activity, event: known, action: .update, asksForToken: false, isQuiet: !isAlert, relevance: 1,
      score: score > 0 ? Double(score) : nil, timestamp: timestamp, now: now)
    guard let body = made else { return }
    let band = size(of: body, activity, known, isChannel: state.isChannel).band
    if band >= .refused { return }
    let push = ActivityVerdict.Push(timestamp: timestamp, body: body, band: band, isEnd: false, starts: nil)
    send(push, as: .caughtUp, instance, lane, into: &output)
    registry[addressed: instance]?.tell(
      AddressedState.Told(upTo: content.newest, score: score, at: now),
      of: SubjectMemory.contentKey(subject: subject.hash))
    registry.noteReload(instance, at: now)
    show(known, subject.entry, kind, subject.hash)
  }

  /// Returns the subject that an activity is about: the one of its start, else the one that the last push told of, else the one of which
  /// something was said last; nil if nothing is known of any that it listens to.
  func toldSubject(
    of instance: InstanceSlot, _ state: AddressedState
  ) -> (entry: EntrySlot, hash: SipHash, slot: SubjectSlot)? {
    var found: (entry: EntrySlot, hash: SipHash, slot: SubjectSlot)?
    var best = (0, Timestamp.distantPast)
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      var hash = SipHash(key: hashKey)
      hash.add(
        utf8: registry.texts.bytes.span.extracting(
          registry.texts.range(of: registry.interests.key(of: registry.entries[entry].interest))))
      let key = SubjectMemory.contentKey(subject: hash)
      guard let slot = subjects.slot(key) else { continue }
      let rank = start(of: instance, entry, state) != nil ? 2 : key == state.content ? 1 : 0
      let merit = (rank, subjects.slots[slot].newest.content.newest)
      if found != nil, merit <= best { continue }
      (found, best) = ((entry, hash, slot), merit)
    }
    return found
  }

  /// Returns the starts and ends of the subject that an activity is about; nil if nothing is known of it.
  func toldSession(of instance: InstanceSlot, _ state: AddressedState) -> KnownContent.Session? {
    toldSubject(of: instance, state).map {
      subjects.slots[$0.slot].newest.content.session(rules[registry.instances[instance].kind].name)
    }
  }

  /// Returns the start by push that has made an activity; nil if the app has started it.
  func start(
    of instance: InstanceSlot, _ entry: EntrySlot, _ state: AddressedState
  ) -> SubjectActivity? {
    guard let starter = starter(of: instance) else { return nil }
    let known = registry.addressed[starter]?.activity(of: registry.key(of: entry))
    guard let known, known.isPushed, known.begins(activityOf: state.startedAt, within: bounds.commandLifetime) else {
      return nil
    }
    return known
  }

  /// Notes that an entry shows all that is known of its subject.
  private mutating func show(_ known: DomainEvent, _ entry: EntrySlot, _ kind: KindSlot, _ subject: SipHash) {
    guard !rules[kind].display.isEmpty, let slot = subjects.slot(rules[kind].display.truthKey(subject: subject)) else {
      return
    }
    let (truth, fields) = (subjects.truth(at: slot).values, rules[kind].display.fields)
    let fingerprint = DisplayedTruth.fingerprint(subject: subject, truth.span, fields)
    // The card may show a field of a late event, which is not part of the displayed state. Then nothing is known to be shown, so that the next
    // event is pushed even if it repeats that state.
    let isTruth = fields.indices.allSatisfy { place in
      guard let value = fields[place].value(in: known) else { return true }
      return fields[place].look(of: value) == fields[place].look(of: truth[place])
    }
    registry[screen: entry].current = fingerprint
    registry[screen: entry].shown = isTruth ? fingerprint : .none
  }
}
