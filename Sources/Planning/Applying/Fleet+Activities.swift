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
      note(large.band, bytes: large.bytes, large.action, instance, event, verdict, into: &output)
    }
    guard let push = verdict.push else {
      suppress(event, instance, verdict.reason ?? .noMatch, verdict.relevance, lane: verdict.lane, into: &output)
      return
    }
    assert(verdict.reason == nil, "what is refused is not pushed")
    registry[addressed: instance]?.push(timestamp: push.timestamp)
    let told = AddressedState.Told(upTo: event.known.newest, score: push.score, at: now)
    let sent = send(push, of: event, instance, device, verdict.lane, verdict.relevance, into: &output)
    if let subject = push.starts {
      remember(AddressedState.StartedSubject(subject: subject, at: now, told: told, push: sent), by: instance)
    } else {
      registry[addressed: instance]?.tell(told, of: SubjectMemory.contentKey(subject: event.subject))
      registry[addressed: instance]?.send(sent, isNews: true)
    }
    if push.isEnd { registry[addressed: instance]?.end() }
    if push.starts == nil { setActivityTimer(instance) }
  }

  /// Reports a body that is near or above the platform's limit to operators.
  private func note(
    _ band: PayloadBand, bytes: Int, _ action: Rule.Action, _ instance: InstanceSlot, _ event: borrowing EventInHand,
    _ verdict: ActivityVerdict, into output: inout PlannerOutput
  ) {
    let kind = registry.instances[instance].kind
    guard let content = event.told, let activity = rules.activity(kind) else { return }
    output.note(
      band, kind: rules[kind].name, event: content.id, bytes: bytes,
      bytesMax: rules.policy.profile.payloadBytesMax(isBroadcast: registry.addressed[instance]?.isChannel == true)
    ) {
      ActivityPayload.largest(
        activity, event: content, action: action, isQuiet: verdict.lane.isQuiet, relevance: Double(verdict.relevance))
    }
  }

  /// Remembers a start by a push-to-start token.
  mutating func remember(_ start: AddressedState.StartedSubject, by starter: InstanceSlot) {
    let (startsMax, now) = (bounds.startsPerTokenMax, now)
    registry[addressed: starter]?.remember(start, startsMax: startsMax, now: now)
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
    if state.ended, !state.isChannel, state.owedAt == .distantFuture { return }
    var due = state.startedAt + ActivityTimes.life
    // An activity that no push can reach is not examined after a silence.
    if state.isReachable, let activity = rules.activity(registry.instances[instance].kind) {
      due = min(due, state.owedAt)
      if !state.ended { due = min(due, state.lastEventAt + activity.quietEnd) }
    }
    setDue(instance, max(due, now + TimeSpan(microseconds: 1)))
  }

  /// Handles the timer of an activity. After its life the system has ended it; after a silence a push ends it.
  mutating func fireActivity(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard registry.instances[instance].surface == .activity, let state = registry.addressed[instance] else { return }
    if now - state.startedAt >= ActivityTimes.life {
      registry[addressed: instance]?.end()
      // A channel has no registration of its own, so it is removed together with its last activity.
      if state.isChannel { forget(registry.id(of: registry.instances[instance].device), into: &output) }
      return
    }
    if state.isReachable, let activity = rules.activity(registry.instances[instance].kind) {
      let isSilent = !state.ended && now - state.lastEventAt >= activity.quietEnd
      if isSilent || state.ended && state.owedAt <= now {
        let known = subjects.slot(state.content).map { subjects.slots[$0].newest.content.event(after: nil) }
        sendEnd(as: isSilent ? .endedQuiet : .caughtUp, known, instance, state, activity, into: &output)
      } else if state.owedAt <= now {
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
    send(
      ActivityVerdict.Push(timestamp: timestamp, body: body, band: band, isEnd: true, starts: nil), as: reason,
      instance,
      isUrgent: true, into: &output)
    registry[addressed: instance]?.end()
  }

  /// Sends a push that no event causes.
  /// - Parameters:
  ///   - push: The push.
  ///   - reason: The reason for the command.
  ///   - instance: The activity.
  ///   - isUrgent: Whether the push has priority 10 if that is free, or the activity has a token for it.
  ///   - output: Receives the command.
  mutating func send(
    _ push: ActivityVerdict.Push, as reason: Reason, _ instance: InstanceSlot, isUrgent: Bool,
    into output: inout PlannerOutput
  ) {
    let (device, state) = (registry.instances[instance].device, registry.addressed[instance] ?? AddressedState())
    let rate = ledgers.activityRate(frequentPushes: state.frequentPushes)
    let free = registry.isInDeveloperMode(device) || rate.isUnlimited || state.isChannel
    let charged = isUrgent && !free && rate.admits(state.rate, now: now)
    let priority: UInt8 = charged || isUrgent && free ? 10 : 5
    let payload = PlannedPayload(
      body: push.body, band: push.band, subject: nil,
      expires: expiry(of: instance, isEnd: push.isEnd, priority: priority))
    let command = append(payload, instance, device, priority: priority, event: .absent, into: &output)
    if charged { charge(instance, device, .activity, command: command, into: &output) }
    let isAppCharged = chargeApp(of: device, command: command, into: &output)
    output.served.append(
      PlannedServed(instance: instance, reason: reason, causesStart: output.causes.count, causesCount: 0))
    output.commands[command].servedCount = 1
    registry[addressed: instance]?.push(timestamp: push.timestamp)
    let sent = sentPush(
      command, to: instance, isEnd: push.isEnd, isCharged: charged, isAppCharged: isAppCharged, output)
    registry[addressed: instance]?.send(sent, isNews: false)
  }
}
