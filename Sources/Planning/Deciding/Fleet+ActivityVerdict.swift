import Domain
import Policies

extension Fleet {
  /// Decides about the current event for a Live Activity or a push-to-start token. Nothing is deferred, because priority 5 is
  /// free, and because a start needs the data of its own event.
  func activityVerdict(
    on event: borrowing EventInHand, _ displayed: DisplayedChange?, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot
  ) -> ActivityVerdict {
    assert(registry.instances[instance].surface.isActivity, "a widget or control is decided by `admission`")
    assert(registry.entries[entry].instance == instance, "an entry leads to its own instance")
    var verdict = ActivityVerdict(relevance: relevance(of: event, entry, instance))
    verdict.reason = refusal(
      of: event, displayed, entry: entry, instance: instance, device: device, verdict.relevance, &verdict.current)
    if verdict.reason != nil { return verdict }
    let kind = registry.instances[instance].kind
    guard let content = event.told, let state = registry.addressed[instance],
      let activity = rules.activity(kind)
    else {
      verdict.reason = .noMatch
      return verdict
    }
    verdict.isChange = true
    let isStart = registry.instances[instance].surface == .starter
    let action = isStart ? Rule.Action.start : event.evaluations[kind.index].action
    addPush(action, saying: content, activity, state, instance: instance, device: device, to: &verdict)
    return verdict
  }

  /// Adds to a verdict the push, or the reason why there is none: a budget, its price, missing content or its size.
  /// - Parameters:
  ///   - action: The action of the rule. A start rule updates an activity that already runs.
  ///   - content: An event with all that is known of the subject.
  ///   - activity: The policy of the kind.
  ///   - state: The state of the activity, or of the push-to-start token.
  ///   - instance: The activity or the token.
  ///   - device: Its device.
  ///   - verdict: The verdict, with the relevance.
  func addPush(
    _ action: Rule.Action, saying content: DomainEvent, _ activity: ActivityPolicy, _ state: AddressedState,
    instance: InstanceSlot, device: DeviceSlot, to verdict: inout ActivityVerdict
  ) {
    let isStart = registry.instances[instance].surface == .starter
    let kind = registry.instances[instance].kind
    // An end is sent without a token of the app, because every activity must end.
    if action != .end, !registry.isInDeveloperMode(device),
      ledgers.apps.tokensLeft(registry.devices[device].app, now: now) == 0
    {
      verdict.reason = .budgetApp
      return
    }
    verdict.lane = lane(of: instance, device: device, relevance: Double(verdict.relevance), action: action)
    verdict.reason = verdict.lane.refused
    if verdict.reason != nil { return }
    let told = action == .start && !isStart ? .update : action
    let timestamp = max(now.seconds, state.timestamp + 1)
    assert(timestamp > state.timestamp, "the system drops an update that is not newer than the last one")
    // A small change does not make a card that matters less important than one about which nothing happens.
    let score = max(verdict.relevance, state.told.score(at: now, inverseHalfLife: rules[kind].inverseHalfLife))
    let made = ActivityPayload.make(
      activity, event: content, action: told, asksForToken: isStart && asksForToken(instance),
      isQuiet: verdict.lane.priority == 5, relevance: Double(verdict.relevance), score: Double(score),
      timestamp: timestamp, now: now)
    guard var body = made else {
      verdict.reason = .contentIncomplete
      return
    }
    let size = size(of: body, activity, content, isChannel: state.isChannel)
    var band = size.band
    if band >= .risky { verdict.largePayload = (size, told) }
    if band >= .refused, action == .end {
      (body, band) = end(activity, nil, isChannel: state.isChannel, timestamp: timestamp)
    }
    if band >= .refused {
      verdict.reason = .payloadTooLarge
    } else {
      verdict.push = ActivityVerdict.Push(
        timestamp: timestamp, body: body, band: band, isEnd: action == .end, score: score,
        starts: isStart ? content.subject : nil)
    }
  }

  /// Returns the size of a body with content. One with more data than an activity may have is refused, too.
  /// - Parameters:
  ///   - body: The body.
  ///   - activity: The policy of the kind.
  ///   - known: An event with all that is known of the activity's subject.
  ///   - isChannel: Whether it goes to a broadcast channel.
  func size(
    of body: String, _ activity: ActivityPolicy, _ known: DomainEvent, isChannel: Bool
  ) -> ActivityVerdict.Size {
    let profile = rules.policy.profile
    let (bytes, dataBytes) = (body.utf8.count, ActivityPayload.dataBytes(activity, known))
    let band = profile.payloadBand(bytes: bytes, isBroadcast: isChannel)
    if band < .refused, dataBytes > ActivityPayload.dataBytesMax {
      return ActivityVerdict.Size(band: .refused, bytes: dataBytes, bytesMax: ActivityPayload.dataBytesMax)
    }
    return ActivityVerdict.Size(band: band, bytes: bytes, bytesMax: profile.payloadBytesMax(isBroadcast: isChannel))
  }

  /// Returns the body of an end, and its band. It has no content where that would be larger than the platform takes: every activity must
  /// end, and keeps its last content then.
  /// - Parameters:
  ///   - activity: The policy of the kind.
  ///   - known: An event with all that is known of the activity's subject; nil for an end without content.
  ///   - isChannel: Whether the end goes to a broadcast channel.
  ///   - timestamp: The `timestamp` of the push, in Unix seconds.
  func end(
    _ activity: ActivityPolicy, _ known: DomainEvent?, isChannel: Bool, timestamp: Int64
  ) -> (body: String, band: PayloadBand) {
    let body = ActivityPayload.end(activity, known, timestamp: timestamp, now: now)
    guard let known else {
      return (body, rules.policy.profile.payloadBand(bytes: body.utf8.count, isBroadcast: isChannel))
    }
    let band = size(of: body, activity, known, isChannel: isChannel).band
    if band < .refused { return (body, band) }
    return end(activity, nil, isChannel: isChannel, timestamp: timestamp)
  }

  /// Checks the current event for an activity, in the order of `Reason`, as far as the checks concern the activity alone.
  /// - Returns: The reason of the first check that holds; nil when none does.
  private func refusal(
    of event: borrowing EventInHand, _ displayed: DisplayedChange?, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot, _ relevance: Float, _ newCurrent: inout KeyedHash?
  ) -> Reason? {
    switch event.standing {
    case .duplicate: return .duplicate
    case .stale: return .staleEvent
    case .fresh: break
    }
    let kind = registry.instances[instance].kind
    let evaluation = event.evaluations[kind.index]
    let isStarter = registry.instances[instance].surface == .starter
    assert(!isStarter || concerns(starter: instance, event), "a push-to-start token is asked about starts alone")
    let subject = event.content?.subject ?? ""
    if isStarter, awaitsToken(subject, by: instance) { return .awaitingToken }
    guard evaluation.hasRule else { return .noMatch }
    // One that comes late does not end the session that has begun since, nor begin one that is over.
    let session = event.known.session(rules[kind].name)
    if evaluation.action == .end, max(session.start, ownStart(of: instance, entry)) > event.saidAt {
      return .staleEvent
    }
    if isStarter, session.end > event.saidAt { return .staleEvent }
    // The current state is updated even when nothing is sent, because the next push will show it.
    let (shown, current) = registry[screen: entry].compare(isStarter ? nil : displayed)
    newCurrent = current
    if now - event.time > evaluation.maxAge { return .staleEvent }
    if evaluation.isRelevanceStated, relevance <= 0, evaluation.action != .end { return .cosmetic }
    if shown, evaluation.action != .end { return .notVisible }
    guard let state = registry.addressed[instance] else { return .noToken }
    if state.hasLostToken { return .noToken }
    if state.tokenDead { return .tokenDead }
    if state.isMirror { return .unsupportedOS }
    if isStarter, let reason = systemRefusal(of: instance) { return reason }
    if !rules[kind].enabled { return .kindDisabled }
    if isStarter {
      let wanted = evaluation.action == .start ? event.saidAt : session.start
      return startRefusal(of: subject, wantedAt: wanted, session, by: instance)
    }
    if now - state.startedAt >= ActivityTimes.life { return .activityEnded }
    // An end that APNs has refused is not sent again when the subject lives again. A channel serves the next session, too.
    let mayReopen = state.isEndRefused || state.isChannel && evaluation.action == .start
    return state.ended && (!mayReopen || session.isOver) ? .activityEnded : nil
  }

  /// Returns the instant at which the app has started an activity; the distant past if a push has, or if it listens to a channel, which
  /// activities join at any time.
  private func ownStart(of instance: InstanceSlot, _ entry: EntrySlot) -> Timestamp {
    guard let state = registry.addressed[instance], !state.isChannel, registry.instances[instance].surface == .activity,
      start(of: instance, entry, state) == nil
    else { return .distantPast }
    return state.startedAt
  }

  // MARK: Lanes

  /// Returns priority 10 for a push that is worth its price and has a token, otherwise priority 5. A start always costs a token.
  func lane(
    of instance: InstanceSlot, device: DeviceSlot, relevance: Double, action: Rule.Action
  ) -> ActivityVerdict.Lane {
    var lane = ActivityVerdict.Lane()
    let kind = registry.instances[instance].kind
    let isStart = registry.instances[instance].surface == .starter
    let state = registry.addressed[instance] ?? AddressedState()
    let rate = isStart ? ledgers.activityStarts : ledgers.activityRate(frequentPushes: state.frequentPushes)
    let tokens = isStart ? registry[startRate: device] : state.rate
    let timeOfDay = zones.timeOfDay(registry.devices[device].zone, now)
    lane.distance = relevance
    lane.looks = pricing.looks(ahead: timeOfDay, kind, habits(of: device))
    lane.weighing.worth = ReloadWorth.looks(distance: lane.distance, ahead: lane.looks)
    if !rate.isUnlimited {
      // A channel has no ledger, because Apple publishes no figure for its budget. It is priced as an activity of which
      // nothing was spent.
      let free = state.isChannel ? Int(rate.burst) : rate.tokensLeft(tokens, now: now)
      let left = free + Int(LocalZone.hour.microseconds / rate.interval.microseconds)
      lane.weighing.instancePrice = pricing.ratePrice(registry.instances[instance].demand, left: left, now: now).looks
    }
    let free = registry.isInDeveloperMode(device)
    lane.isQuiet = isQuiet(instance, relevance: relevance)
    if isStart, !free {
      if lane.isQuiet {
        lane.refused = .quietHours
      } else if !rate.admits(tokens, now: now) {
        lane.refused = .budgetDevice
      } else if lane.weighing.worth < lane.weighing.price {
        lane.refused = .belowPrice
      }
    }
    let isWorthIt = lane.weighing.worth >= lane.weighing.price || action == .end
    if isStart || (isWorthIt && (rate.admits(tokens, now: now) || free) && !lane.isQuiet) {
      lane.priority = 10
      if !free, !state.isChannel, !rate.isUnlimited { lane.ledger = isStart ? .start : .activity }
    }
    assert(lane.ledger == nil || lane.priority == 10, "priority 5 is free")
    assert(
      lane.ledger == nil || rate.admits(tokens, now: now) || lane.refused != nil,
      "only a token that is there is charged")
    return lane
  }

  /// Returns whether quiet hours hold for an event on an instance. For a broadcast channel, whose devices are everywhere, only those of a
  /// stated time zone do.
  func isQuiet(_ instance: InstanceSlot, relevance: Double) -> Bool {
    guard let hours = rules.policy.quietHours else { return false }
    var zone: ZoneSlot? = registry.devices[registry.instances[instance].device].zone
    if registry.addressed[instance]?.isChannel == true {
      zone = rules.activity(registry.instances[instance].kind)?.timeZone.flatMap { zones.slot(named: $0) }
    }
    guard let zone else { return false }
    return zones.quietEnd(zone) != nil && Float(relevance) < Float(hours.exceptRelevance)
  }
}
