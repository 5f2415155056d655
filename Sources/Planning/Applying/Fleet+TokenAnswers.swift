import Domain
import Policies

/// Answers to the tokens of Live Activities. While an activity has no token, or a dead one, its subject goes on. So a registration with a new
/// token is answered by a push with the newest content, or by the end if the subject has ended. Its timer leads to that push, so that
/// several registrations in a row are answered once.
extension Fleet {
  /// Notes that an activity with a new token is to be pushed what it should show, if anything is known.
  mutating func oweAnswer(to instance: InstanceSlot) {
    guard registry.addressed[instance]?.ended == false, newestSubject(of: instance) != nil else { return }
    registry[addressed: instance]?.owe(at: now)
  }

  /// Pushes an activity what it should show, because its token is new or APNs did not take the last push.
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
    guard rules[kind].enabled, let subject = newestSubject(of: instance) else { return }
    let content = subjects.slots[subject.slot].newest.content
    let session = content.session(rules[kind].name)
    let start = start(of: instance, subject.entry, state)
    // A card that a push has started shows what was known by then, one that the app has started what the app knew.
    let begun = start.map { session.start == .distantPast ? $0.at : session.start } ?? state.startedAt
    registry[addressed: instance]?.tell(of: SubjectMemory.contentKey(subject: subject.hash))
    if session.end >= max(begun, session.start), session.end != .distantPast {
      return sendEnd(as: .caughtUp, content.event(after: nil), instance, state, activity, into: &output)
    }
    let shownAt = state.timestamp > 0 ? Timestamp(microseconds: 0) + .seconds(state.timestamp) : begun
    let isNews = content.newest > shownAt || state.refusals > 0
    // What went to the token before this one may be lost, and the card of this id may be another than that of the start.
    guard isNews || start != nil || state.timestamp > 0 else { return }
    let isDeveloper = registry.isInDeveloperMode(device)
    guard isDeveloper || ledgers.apps.tokensLeft(registry.devices[device].app, now: now) != 0 else { return }
    let timestamp = max(now.seconds, state.timestamp + 1)
    let made = ActivityPayload.make(
      activity, event: content.event(after: nil), action: .update, asksForToken: false, isQuiet: true, relevance: nil,
      timestamp: timestamp, now: now)
    guard let body = made else { return }
    let band = rules.policy.profile.payloadBand(bytes: body.utf8.count, isBroadcast: false)
    if band >= .refused { return }
    let rate = ledgers.activityRate(frequentPushes: state.frequentPushes)
    let free = isDeveloper || rate.isUnlimited
    let isAtOnce = isNews && !isQuiet(instance, relevance: 0) && (free || rate.admits(state.rate, now: now))
    send(
      ActivityVerdict.Push(timestamp: timestamp, body: body, band: band, isEnd: false, starts: nil), as: .caughtUp,
      instance, priority: isAtOnce ? 10 : 5, charged: isAtOnce && !free, into: &output)
    registry.noteReload(instance, at: now)
    showNewest(subject.entry, kind, subject.hash)
  }

  /// Returns the subject that an activity listens to and of which something was said last; nil if nothing is known of any.
  private func newestSubject(of instance: InstanceSlot) -> (entry: EntrySlot, hash: SipHash, slot: SubjectSlot)? {
    var found: (entry: EntrySlot, hash: SipHash, slot: SubjectSlot)?
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      var hash = SipHash(key: hashKey)
      hash.add(
        utf8: registry.texts.bytes.span.extracting(
          registry.texts.range(of: registry.interests.key(of: registry.entries[entry].interest))))
      guard let slot = subjects.slot(SubjectMemory.contentKey(subject: hash)) else { continue }
      let newest = subjects.slots[slot].newest.content.newest
      if let other = found, subjects.slots[other.slot].newest.content.newest >= newest { continue }
      found = (entry, hash, slot)
    }
    return found
  }

  /// Returns the start by push that has made an activity; nil if the app has started it.
  private func start(
    of instance: InstanceSlot, _ entry: EntrySlot, _ state: AddressedState
  ) -> AddressedState.StartedSubject? {
    let (device, kind) = (registry.instances[instance].device, registry.instances[instance].kind)
    guard let starter = registry.find(Registration.starterID(kind: rules[kind].name), of: device) else { return nil }
    let subject = registry.key(of: entry)
    return registry.addressed[starter]?.started.first {
      $0.subject == subject && $0.begins(activityOf: state.startedAt)
    }
  }

  /// Notes that an entry shows all that is known of its subject.
  private mutating func showNewest(_ entry: EntrySlot, _ kind: KindSlot, _ subject: SipHash) {
    guard !rules[kind].display.isEmpty, let slot = subjects.slot(rules[kind].display.truthKey(subject: subject)) else {
      return
    }
    let shown = DisplayedTruth.fingerprint(
      subject: subject, subjects.truth(at: slot).values.span, rules[kind].display.fields)
    registry[screen: entry].current = shown
    registry[screen: entry].shown = shown
  }
}
