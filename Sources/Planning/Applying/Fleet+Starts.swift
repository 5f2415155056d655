import Domain
import Policies

/// The activities that push-to-start tokens know, and starts without an event. An event cannot always start an activity at once: the
/// token is not registered yet, APNs refuses the start, or an activity of the same subject is not over. The subject memory keeps what the
/// start needs, and the token's timer makes up for it within `ActivityTimes.lateStart`.
extension Fleet {
  /// Returns the push-to-start token of an activity's kind on its device; nil if the device has none.
  func starter(of activity: InstanceSlot) -> InstanceSlot? {
    let state = registry.instances[activity]
    guard let starter = registry.find(Registration.starterID(kind: rules[state.kind].name), of: state.device),
      registry.instances[starter].surface == .starter
    else { return nil }
    return starter
  }

  /// Changes the activity of a subject, as a push-to-start token knows it.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - starter: The token.
  ///   - change: Changes it. It also gets the log time.
  mutating func know(
    _ subject: Identifier, by starter: InstanceSlot, _ change: (inout SubjectActivity, Timestamp) -> Void
  ) {
    let (subjectsMax, now) = (bounds.startsPerTokenMax, now)
    registry[addressed: starter]?.know(subject, subjectsMax: subjectsMax, now: now) { change(&$0, now) }
  }

  /// Notes an event that does not concern a push-to-start token. An end that is read after the start behind it says that another session
  /// has begun, for which an activity may be wanted.
  mutating func noteUnconcerned(starter: InstanceSlot, _ event: borrowing EventInHand) {
    let kind = registry.instances[starter].kind
    guard event.standing != .duplicate, event.evaluations[kind.index].action == .end,
      event.known.session(rules[kind].name).start > event.saidAt, let subject = event.content?.subject,
      registry.addressed[starter]?.activity(of: subject)?.life(at: now).overSince != nil
    else { return }
    owe(startAt: now, by: starter)
  }

  /// Notes that an event that starts an activity has started none, for a reason that a later look would not change.
  mutating func noteRefusedStart(of event: borrowing EventInHand, by instance: InstanceSlot, _ reason: Reason) {
    guard registry.instances[instance].surface == .starter, event.standing == .fresh else { return }
    switch reason {
    case .unsupportedOS, .kindDisabled, .payloadTooLarge, .quietHours, .budgetDevice, .budgetApp, .belowPrice: break
    default: return
    }
    let session = event.known.session(rules[registry.instances[instance].kind].name)
    know(event.content?.subject ?? "", by: instance) { subject, _ in subject.serve(upTo: session.start) }
    touch(registry.instances[instance].device)
  }

  /// Returns whether another registered activity of a subject is on the screen beside one that is over.
  private func isShown(_ subject: Identifier, besides activity: InstanceSlot) -> Bool {
    let state = registry.instances[activity]
    return isShown(subject, rules[state.kind].name, on: state.device)
  }

  /// Notes that a registered activity is not on the screen any more, and that its subject may be started again.
  /// - Parameters:
  ///   - instance: The activity.
  ///   - life: `ended` or `dismissed`.
  ///   - served: Events that wanted a start until then want none any more.
  mutating func noteOver(_ instance: InstanceSlot, _ life: ActivityLife, served: Timestamp) {
    guard let starter = starter(of: instance), let state = registry.addressed[instance] else { return }
    let isDismissed = if case .dismissed = life { true } else { false }
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      let subject = registry.key(of: entry)
      if !isDismissed, isShown(subject, besides: instance) { continue }
      noteOver(subject, life, startedAt: state.startedAt, served: served, by: starter)
    }
  }

  /// Notes that a pushed end is taken: by APNs, or as far as is known. An event that starts the subject after the event that has ended it,
  /// and was read before this, still wants its start.
  mutating func noteEndTaken(of instance: InstanceSlot) {
    guard let starter = starter(of: instance), let state = registry.addressed[instance] else { return }
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      let subject = registry.key(of: entry)
      if isShown(subject, besides: instance) { continue }
      let session = content(of: subject)?.session(rules[registry.instances[instance].kind].name)
      let end = session.map { $0.isOver ? $0.end : $0.endBefore } ?? .distantPast
      let begun = registry.addressed[starter]?.activity(of: subject)?.begun ?? .distantPast
      // No event has ended one that was ended because its subject was silent.
      let served = end > begun ? end : Timestamp(microseconds: state.timestamp * 1_000_000)
      noteOver(subject, .ended(at: now), startedAt: state.startedAt, served: served, by: starter)
    }
  }

  /// Notes that the activity of a subject is not on the screen any more.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - life: `ended` or `dismissed`.
  ///   - startedAt: The instant at which the activity was started, by the clock of the device; nil if it is not known.
  ///   - served: Events that wanted a start until then want none any more.
  ///   - starter: The push-to-start token.
  mutating func noteOver(
    _ subject: Identifier, _ life: ActivityLife, startedAt: Timestamp?, served: Timestamp, by starter: InstanceSlot
  ) {
    let known = registry.addressed[starter]?.activity(of: subject)
    if let known, known.life(at: now).isOnScreen, isOther(known, startedAt, served, by: starter) { return }
    know(subject, by: starter) { $0.close(life, startedAt: startedAt, served: served, at: $1) }
    startSoon(by: starter)
  }

  /// Returns whether the activity that a push-to-start token knows was started after one that is over.
  /// - Parameters:
  ///   - known: The activity, which is on the screen.
  ///   - startedAt: The instant at which the other one was started, by the clock of the device; nil if it is not known.
  ///   - served: The time up to which events want no start any more because of the other one.
  ///   - starter: The token.
  func isOther(
    _ known: SubjectActivity, _ startedAt: Timestamp?, _ served: Timestamp, by starter: InstanceSlot
  ) -> Bool {
    if known.at - ActivityTimes.clockError > startedAt ?? served { return true }
    if known.isPushed, known.begun > served { return true }
    // The subject has ended in between.
    guard known.isPushed, let startedAt, let content = content(of: known.subject) else { return false }
    let end = content.session(rules[registry.instances[starter].kind].name).endBefore
    return startedAt < end && end < known.begun
  }

  /// Returns all that is known of a subject; nil if nothing is.
  func content(of subject: Identifier) -> KnownContent? {
    var hash = SipHash(key: hashKey)
    hash.add(utf8: subject.utf8.span)
    return subjects.slot(SubjectMemory.contentKey(subject: hash)).map { subjects.slots[$0].newest.content }
  }

  /// Sets the timer of a push-to-start token if a subject is still to be started.
  mutating func startSoon(by starter: InstanceSlot) {
    if wanted(by: starter).isEmpty {
      registry[addressed: starter]?.settle()
    } else {
      owe(startAt: now, by: starter)
    }
  }

  /// Sets the time at which a push-to-start token starts what is still to be started.
  mutating func owe(startAt due: Timestamp, by starter: InstanceSlot) {
    guard !registry.instances[starter].flags.contains(.retired), let state = registry.addressed[starter] else { return }
    let due = min(due, state.owedAt)
    registry[addressed: starter]?.owe(at: due)
    setDue(starter, max(due, now + TimeSpan(microseconds: 1)))
  }

  /// Returns the subjects of a push-to-start token that are still to be started, with all that is known of them.
  private func wanted(by starter: InstanceSlot) -> [(subject: Identifier, content: KnownContent)] {
    guard rules.activity(registry.instances[starter].kind) != nil else { return [] }
    let name = rules[registry.instances[starter].kind].name
    // The event of a refused start may have led to the token by another key than its subject.
    let refused = registry.addressed[starter]?.refusedStarts ?? []
    var wanted = refused
    var walk = registry.entries(of: starter)
    while let entry = walk.next(registry) {
      let key = registry.key(of: entry)
      if !refused.contains(key) { wanted.append(key) }
    }
    return wanted.compactMap { subject in
      guard let content = content(of: subject), wantsStart(content.session(name), of: subject, by: starter) else {
        return nil
      }
      return (subject, content)
    }
  }

  /// Starts what is still to be started.
  mutating func startWanted(by starter: InstanceSlot, into output: inout PlannerOutput) {
    registry[addressed: starter]?.settle()
    guard registry.addressed[starter]?.isReachable == true else { return }
    for wanted in wanted(by: starter) {
      let verdict = startVerdict(on: wanted.subject, wanted.content, by: starter)
      let session = wanted.content.session(rules[registry.instances[starter].kind].name)
      if let push = verdict.push {
        let sent = send(push, as: .caughtUp, starter, verdict.lane, into: &output)
        let told = AddressedState.Told(upTo: wanted.content.newest, score: push.score, at: now)
        know(wanted.subject, by: starter) { $0.start(served: session.start, telling: told, by: sent, at: $1) }
      } else if verdict.reason != .contentIncomplete {
        know(wanted.subject, by: starter) { subject, _ in subject.serve(upTo: session.start) }
      }
    }
  }
}
