import Domain
import Policies

extension Fleet {
  /// Decides about the current event for a Live Activity or a push-to-start token, and carries the verdict out.
  mutating func decideActivity(
    _ event: borrowing EventInHand, _ displayed: DisplayedChange?, _ entry: EntrySlot, _ instance: InstanceSlot,
    _ device: DeviceSlot, into output: inout PlannerOutput
  ) {
    let verdict = activityVerdict(on: event, displayed, entry: entry, instance: instance, device: device)
    apply(verdict, on: event, entry: entry, instance: instance, device: device, into: &output)
  }

  /// Carries out the verdict on an activity.
  private mutating func apply(
    _ verdict: ActivityVerdict, on event: borrowing EventInHand, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot, into output: inout PlannerOutput
  ) {
    if let current = verdict.current {
      registry[screen: entry].current = current
      touch(device)
    }
    if verdict.isChange {
      learnChange(instance, device)
      touch(device)
    }
    // Whatever is made of the event, its subject is alive.
    if event.standing == .fresh, registry.instances[instance].surface == .activity {
      registry[addressed: instance]?.hear(at: now)
      touch(device)
    }
    if let large = verdict.largePayload {
      note(large.size, large.action, instance, event, verdict, into: &output)
    }
    guard let push = verdict.push else {
      let reason = verdict.reason ?? .noMatch
      noteRefusedStart(of: event, by: instance, reason)
      if event.addsToKnown { oweAddition(by: event, to: instance) }
      suppress(event, instance, reason, verdict.relevance, lane: verdict.lane, into: &output)
      return
    }
    assert(verdict.reason == nil, "what is refused is not pushed")
    let alertBefore = registry.addressed[instance].flatMap { $0.owesAlert ? $0.owedAt : nil }
    registry[addressed: instance]?.push(timestamp: push.timestamp)
    let told = AddressedState.Told(upTo: event.known.newest, score: push.score, at: now)
    let sent = send(push, of: event, instance, device, verdict.lane, verdict.relevance, into: &output)
    if let subject = push.starts {
      let wanted = max(event.saidAt, event.known.session(rules[registry.instances[instance].kind].name).start)
      know(subject, by: instance) { $0.start(served: wanted, telling: told, by: sent, at: $1) }
    } else {
      registry[addressed: instance]?.tell(told, of: SubjectMemory.contentKey(subject: event.subject))
      registry[addressed: instance]?.send(sent, isNews: true)
    }
    if push.isEnd {
      registry[addressed: instance]?.end()
    } else if push.starts == nil {
      // An end that APNs has refused is not sent again when the subject lives again.
      registry[addressed: instance]?.reopen(at: now)
      oweAlert(to: instance, after: verdict, alertBefore)
    }
    if push.starts == nil { setActivityTimer(instance) }
  }

  /// Sees to the alert of an update that went without it for want of a token, if the policy lets it wait and a token comes in time.
  /// - Parameters:
  ///   - instance: The activity.
  ///   - verdict: The verdict by which the update was sent.
  ///   - earlier: The log time at which an alert was to follow already.
  private mutating func oweAlert(to instance: InstanceSlot, after verdict: ActivityVerdict, _ earlier: Timestamp?) {
    guard verdict.lane.priority == 5 else { return }
    if let earlier { registry[addressed: instance]?.owe(alertAt: earlier) }
    guard !verdict.lane.isQuiet, let state = registry.addressed[instance],
      let alert = rules.activity(registry.instances[instance].kind)?.alert, let wait = alert.wait,
      verdict.relevance >= Float(alert.aboveRelevance)
    else { return }
    let rate = ledgers.activityRate(frequentPushes: state.frequentPushes)
    let due = rate.availableAt(state.rate)
    // One that has a token went at priority 5 because it is not worth it.
    if due > now, due <= now + wait { registry[addressed: instance]?.owe(alertAt: due) }
  }

  /// Reports a body that is near or above the platform's limit to operators.
  private func note(
    _ size: ActivityVerdict.Size, _ action: Rule.Action, _ instance: InstanceSlot, _ event: borrowing EventInHand,
    _ verdict: ActivityVerdict, into output: inout PlannerOutput
  ) {
    let kind = registry.instances[instance].kind
    guard let content = event.told, let activity = rules.activity(kind) else { return }
    output.note(
      size.band, kind: rules[kind].name, event: content.id, bytes: size.bytes, bytesMax: size.bytesMax
    ) {
      ActivityPayload.largest(
        activity, event: content, action: action, isQuiet: verdict.lane.priority == 5,
        relevance: Double(verdict.relevance))
    }
  }

  // MARK: Pushing

  private mutating func send(
    _ push: ActivityVerdict.Push, of inHand: borrowing EventInHand, _ instance: InstanceSlot, _ device: DeviceSlot,
    _ lane: ActivityVerdict.Lane, _ relevance: Float, into output: inout PlannerOutput
  ) -> AddressedState.SentPush {
    let event = inHand.slot
    let payload = PlannedPayload(
      body: push.body, band: push.band, subject: push.starts,
      expires: expiry(of: instance, isEnd: push.isEnd, priority: lane.priority))
    let command = append(payload, instance, device, priority: lane.priority, event: event, into: &output)
    if let ledger = lane.ledger { charge(instance, device, ledger, command: command, into: &output) }
    if lane.priority == 10, !registry.isInDeveloperMode(device) {
      learnPush(instance, worth: lane.weighing.worth)
    }
    let isAppCharged = chargeApp(of: device, command: command, into: &output)
    markFresh(instance, after: inHand)
    registry.noteReload(instance, at: now)
    let reason: Reason = lane.priority == 10 ? .emitted : .emittedFree
    output.served.append(
      PlannedServed(instance: instance, reason: reason, causesStart: output.causes.count, causesCount: 1))
    output.causes.append(event)
    output.commands[command].servedCount = 1
    var decision = PlannedDecision(about: event, on: instance, .emit, reason, relevance: relevance)
    decision.note(lane.weighing, distance: lane.distance, looks: lane.looks)
    decision.command = Int32(command)
    (decision.causesStart, decision.causesCount) = (UInt32(output.causes.count - 1), 1)
    report(decision, into: &output)
    return sentPush(
      command, to: instance, isEnd: push.isEnd, isCharged: lane.ledger != nil, isAppCharged: isAppCharged, output)
  }

  private func sentPush(
    _ command: Int, to instance: InstanceSlot, isEnd: Bool, isCharged: Bool, isAppCharged: Bool, _ output: PlannerOutput
  ) -> AddressedState.SentPush {
    AddressedState.SentPush(
      offset: record.offset, ordinal: output.commands[command].ordinal, isEnd: isEnd, isCharged: isCharged,
      isFrequent: registry.addressed[instance]?.frequentPushes == true, isAppCharged: isAppCharged)
  }

  /// Returns the time until which a push is worth sending. An update at priority 10 is soon outdated. One at priority 5 may wait until the
  /// phone is used, so it is worth sending until it turns stale. An end must reach a phone that was switched off. Neither is of use
  /// when the activity's life is over.
  private func expiry(of instance: InstanceSlot, isEnd: Bool, priority: UInt8 = 10) -> Timestamp {
    let soon = now + bounds.commandLifetime
    guard isEnd || priority == 5, let state = registry.addressed[instance] else { return soon }
    let end = state.startedAt + ActivityTimes.life
    let stale = isEnd ? nil : rules.activity(registry.instances[instance].kind)?.staleAfter
    return max(soon, stale.map { min(now + $0, end) } ?? end)
  }

  private mutating func append(
    _ payload: PlannedPayload, _ instance: InstanceSlot, _ device: DeviceSlot, priority: UInt8, event: EventSlot,
    into output: inout PlannerOutput
  ) -> Int {
    output.payloads.append(payload)
    output.commands.append(
      PlannedCommand(
        device: device, ordinal: record.takeOrdinal(),
        push: .activity(instance, payload: output.payloads.count - 1, priority: priority), event: event,
        servedStart: output.served.count, servedCount: 0, chargesStart: output.charges.count, chargesCount: 0))
    return output.commands.count - 1
  }

  private mutating func charge(
    _ instance: InstanceSlot, _ device: DeviceSlot, _ ledger: Command.Ledger, command: Int,
    into output: inout PlannerOutput
  ) {
    let left: Int
    if ledger == .start {
      ledgers.activityStarts.charge(&registry[startRate: device], now: now)
      left = ledgers.activityStarts.tokensLeft(registry[startRate: device], now: now)
    } else {
      let rate = ledgers.activityRate(frequentPushes: registry.addressed[instance]?.frequentPushes == true)
      var state = registry[ownRate: instance]
      rate.charge(&state, now: now)
      registry[ownRate: instance] = state
      left = rate.tokensLeft(state, now: now)
    }
    assert(left >= 0, "no push takes a token that is not there")
    assert(output.commands[command].chargesCount == 0, "a push is charged once")
    output.charges.append(PlannedCharge(ledger: ledger, instance: instance, left: Int32(left)))
    output.commands[command].chargesCount = 1
  }

  /// Charges the app. An end is sent even when the app's daily limit is spent, because every activity must end. It is not charged then, so
  /// no ledger is overspent.
  /// - Returns: Whether it is charged.
  private mutating func chargeApp(of device: DeviceSlot, command: Int, into output: inout PlannerOutput) -> Bool {
    let app = registry.devices[device].app
    if registry.isInDeveloperMode(device) || ledgers.apps.tokensLeft(app, now: now) == 0 { return false }
    ledgers.apps.charge(app, at: record.offset, now: now)
    let left = ledgers.apps.tokensLeft(app, now: now)
    if left >= 0 {
      output.charges.append(PlannedCharge(ledger: .app, instance: .absent, left: Int32(left)))
      output.commands[command].chargesCount += 1
    }
    return true
  }

  // MARK: Ends

  /// Sets the time at which the activity must be examined: when its subject has been silent too long, or its life is over.
  mutating func setActivityTimer(_ instance: InstanceSlot) {
    guard let state = registry.addressed[instance] else { return }
    pending.clearDue(&registry[waiting: instance])
    if !state.life.isOnScreen, !state.isChannel { return }
    var due = min(state.startedAt + ActivityTimes.life, state.endCounts ?? .distantFuture)
    // An activity that no push can reach is not examined after a silence.
    if state.isReachable, let activity = rules.activity(registry.instances[instance].kind) {
      due = min(due, state.owedAt)
      if !state.ended { due = min(due, state.lastEventAt + activity.quietEnd) }
    }
    setDue(instance, max(due, now + TimeSpan(microseconds: 1)))
  }

  /// Handles the timer of an activity. After its life the system has ended it; after a silence a push ends it.
  mutating func fireActivity(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard registry.instances[instance].surface == .activity else { return startWanted(by: instance, into: &output) }
    guard let state = registry.addressed[instance] else { return }
    if let counts = state.endCounts, counts <= now {
      registry[addressed: instance]?.noteAccepted()
      noteEndTaken(of: instance)
    }
    if now - state.startedAt >= ActivityTimes.life {
      registry[addressed: instance]?.close()
      if state.life.isOnScreen { noteOver(instance, .ended(at: now), served: now) }
      // A channel has no registration of its own, so it is removed together with its last activity.
      if state.isChannel { forget(registry.id(of: registry.instances[instance].device), into: &output) }
      return
    }
    if state.isReachable, let activity = rules.activity(registry.instances[instance].kind) {
      let isDue = state.owedAt <= now
      let isSilent = now - state.lastEventAt >= activity.quietEnd
      let content = toldSubject(of: instance, state).map { subjects.slots[$0.slot].newest.content }
      let isOver = content?.session(rules[registry.instances[instance].kind].name).isOver ?? true
      // An end that APNs has refused is sent again if the subject does not live again.
      if state.ended ? isDue && (isSilent || isOver) : isSilent {
        sendEnd(
          as: state.ended ? .caughtUp : .endedQuiet, content?.event(after: nil), instance, state, activity,
          into: &output)
      } else if isDue {
        registry[addressed: instance]?.reopen(at: now)
        payOwed(to: instance, state, activity, into: &output)
      }
    }
    setActivityTimer(instance)
  }

  /// Sends an end that no event causes.
  /// - Parameters:
  ///   - reason: The reason for the command.
  ///   - known: An event with all that is known of the activity's subject; nil for an end without content.
  ///   - instance: The activity.
  ///   - state: Its state.
  ///   - activity: The policy of its kind.
  ///   - output: Receives the command.
  mutating func sendEnd(
    as reason: Reason, _ known: DomainEvent?, _ instance: InstanceSlot, _ state: AddressedState,
    _ activity: ActivityPolicy, into output: inout PlannerOutput
  ) {
    let timestamp = max(now.seconds, state.timestamp + 1)
    let (body, band) = end(activity, known, isChannel: state.isChannel, timestamp: timestamp)
    let push = ActivityVerdict.Push(timestamp: timestamp, body: body, band: band, isEnd: true, starts: nil)
    send(push, as: reason, instance, lane(of: instance, isUrgent: !isQuiet(instance, relevance: 0)), into: &output)
    registry[addressed: instance]?.end()
  }

  /// Sends a push that no event causes.
  /// - Parameters:
  ///   - push: The push.
  ///   - reason: The reason for the command.
  ///   - instance: The activity.
  ///   - lane: Its priority, and the ledger that it is charged to.
  ///   - output: Receives the command.
  /// - Returns: The push.
  @discardableResult
  mutating func send(
    _ push: ActivityVerdict.Push, as reason: Reason, _ instance: InstanceSlot, _ lane: ActivityVerdict.Lane,
    into output: inout PlannerOutput
  ) -> AddressedState.SentPush {
    let device = registry.instances[instance].device
    let payload = PlannedPayload(
      body: push.body, band: push.band, subject: push.starts,
      expires: expiry(of: instance, isEnd: push.isEnd, priority: lane.priority))
    let command = append(payload, instance, device, priority: lane.priority, event: .absent, into: &output)
    if let ledger = lane.ledger { charge(instance, device, ledger, command: command, into: &output) }
    let isAppCharged = chargeApp(of: device, command: command, into: &output)
    output.served.append(
      PlannedServed(instance: instance, reason: reason, causesStart: output.causes.count, causesCount: 0))
    output.commands[command].servedCount = 1
    registry[addressed: instance]?.push(timestamp: push.timestamp)
    let sent = sentPush(
      command, to: instance, isEnd: push.isEnd, isCharged: lane.ledger != nil, isAppCharged: isAppCharged, output)
    if push.starts == nil { registry[addressed: instance]?.send(sent, isNews: false) }
    return sent
  }

  /// Returns the priority of a push to an activity that no event causes.
  /// - Parameters:
  ///   - instance: The activity.
  ///   - isUrgent: Whether it has priority 10 if that is free, or the activity has a token for it.
  func lane(of instance: InstanceSlot, isUrgent: Bool) -> ActivityVerdict.Lane {
    let (device, state) = (registry.instances[instance].device, registry.addressed[instance] ?? AddressedState())
    let rate = ledgers.activityRate(frequentPushes: state.frequentPushes)
    var lane = ActivityVerdict.Lane()
    guard isUrgent else { return lane }
    if registry.isInDeveloperMode(device) || rate.isUnlimited || state.isChannel {
      lane.priority = 10
    } else if rate.admits(state.rate, now: now) {
      (lane.priority, lane.ledger) = (10, .activity)
    }
    return lane
  }
}
