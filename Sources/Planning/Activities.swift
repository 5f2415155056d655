import Domain
import Policies

/// The first iOS with push-to-start tokens; source: Apple's pushToStartTokenUpdates page.
private let pushToStartOS = OSVersion(major: 17, minor: 2)

extension Planner {
  /// After this time the system has ended an activity by itself. Source: Apple, Displaying live data with Live Activities.
  static let activityLife: Int64 = 8 * 3600 * 1_000_000
  /// How long a start is remembered: the life of an activity and the hours it may stay on the lock screen.
  static let startMemory: Int64 = 12 * 3600 * 1_000_000

  /// Decides about the event in hand for a Live Activity or a push-to-start token. Nothing is deferred: priority 5 is
  /// free, and a start needs the event's own data.
  mutating func decideActivity(entry: UInt32, instance: UInt32, device slot: UInt32, into output: inout PlannerOutput) {
    if let reason = refuse(entry: entry, instance: instance, device: slot) {
      suppressNew(instance: instance, reason: reason, into: &output)
      return
    }
    guard let event = fanOut.event, let state = addressed[instance],
      let activity = policy.kinds[kinds[Int(instances[instance].kind)].policyIndex].activity
    else {
      suppressNew(instance: instance, reason: .noMatch, into: &output)
      return
    }
    touch(device: slot)
    let evaluation = fanOut.evaluations[Int(instances[instance].kind)]
    let action = instances[instance].surface == .starter ? Rule.Action.start : evaluation.action
    let isStart = instances[instance].surface == .starter
    addressed[instance]?.lastEventAt = now
    if !devices[slot].flags.contains(.developerMode), appTokensLeft(devices[slot].app) == 0 {
      suppressNew(instance: instance, reason: .budgetApp, into: &output)
      return
    }
    let lane = weighLane(instance, device: slot, relevance: Double(evaluation.relevance), action: action)
    if let reason = lane.refused {
      suppressNew(instance: instance, reason: reason, weighing: lane.weighing, into: &output)
      return
    }
    let timestamp = max(now / 1_000_000, state.timestamp + 1)
    let told = action == .start && !isStart ? .update : action
    let body = ActivityPayload.make(
      activity, event: event, action: told, relevance: Double(evaluation.relevance), timestamp: timestamp, now: now)
    let band = policy.profile.payloadBand(bytes: body.utf8.count, isBroadcast: state.isChannel)
    if band >= .risky {
      output.note(
        band, kind: kinds[Int(instances[instance].kind)].name, event: event.id, bytes: body.utf8.count,
        bytesMax: policy.profile.payloadBytesMax(isBroadcast: state.isChannel)
      ) {
        ActivityPayload.largest(
          activity, event: event, action: told, relevance: Double(evaluation.relevance))
      }
    }
    guard band < .refused else {
      suppressNew(instance: instance, reason: .payloadTooLarge, weighing: lane.weighing, into: &output)
      return
    }
    addressed[instance]?.timestamp = timestamp
    if isStart { remember(start: event.subject, by: instance) }
    push(instance, device: slot, body: body, isEnd: action == .end, lane: lane, event: fanOut.slot, into: &output)
    if action == .end { addressed[instance]?.ended = true }
    if !isStart { setActivityTimer(instance) }
  }

  /// Steps 1 to 3 for activities.
  private mutating func refuse(entry: UInt32, instance: UInt32, device slot: UInt32) -> Reason? {
    switch fanOut.standing {
    case .duplicate: return .duplicate
    case .stale: return .staleEvent
    case .fresh: break
    }
    let kind = Int(instances[instance].kind)
    let evaluation = fanOut.evaluations[kind]
    let isStarter = instances[instance].surface == .starter
    guard evaluation.hasRule, !isStarter || evaluation.action == .start else { return .noMatch }
    // Also where nothing is sent: the next push shows it.
    if let displayed = evaluation.displayed, !isStarter { _ = show(displayed, entry: entry, device: slot) }
    let time = fanOut.time
    if evaluation.maxAge != .max, now &- time > evaluation.maxAge { return .staleEvent }
    if evaluation.relevance <= 0, evaluation.action != .end { return .cosmetic }
    if evaluation.displayed != nil, !isStarter, evaluation.action != .end, isShown(entry) { return .notVisible }
    if !kinds[kind].enabled { return .kindDisabled }
    guard let state = addressed[instance] else { return .noToken }
    if state.tokenDead { return .tokenDead }
    if isStarter {
      if devices[slot].osVersion < pushToStartOS { return .unsupportedOS }
      return hasStarted(fanOut.event?.subject ?? "", by: instance, device: slot) ? .alreadyStarted : nil
    }
    if state.ended || now &- state.startedAt >= Self.activityLife { return .activityEnded }
    return nil
  }

  // MARK: Lanes

  /// How an activity push goes out.
  struct Lane {
    /// 10: charged; 5: free.
    var priority: UInt8 = 5
    var ledger: Command.Ledger?
    var weighing = Weighing()
    /// Why a start is not made.
    var refused: Reason?
  }

  /// Priority 10 for what is worth its price and finds a token, priority 5 for the rest. A start always costs one.
  private mutating func weighLane(_ instance: UInt32, device slot: UInt32, relevance: Double, action: Rule.Action)
    -> Lane
  {
    var lane = Lane()
    let isStart = instances[instance].surface == .starter
    let kind = Int(instances[instance].kind)
    let rate = isStart ? startRate : activityRate(of: instance)
    let tat = isStart ? rare(slot).startTAT : addressed[instance]?.tat ?? 0
    let timeOfDay = zones[Int(devices[slot].zone)].timeOfDay(now)
    var quiet = false
    if let hours = policy.quietHours, quietEnd(hours, timeOfDay: timeOfDay) != nil,
      Float(relevance) < Float(hours.exceptRelevance)
    {
      quiet = true
    }
    lane.weighing.worth = relevance
    // A channel has no ledger: Apple states no figure for its publishing budget.
    let isChannel = addressed[instance]?.isChannel == true
    lane.weighing.price = isChannel ? kinds[kind].thetaPrior : burstPrice(kind: kind, rate: rate, tat: tat)
    let free = devices[slot].flags.contains(.developerMode)
    if isStart {
      if quiet, !free { lane.refused = .quietHours }
      if lane.refused == nil, !free, !rate.admits(tat: tat, now: now) { lane.refused = .budgetDevice }
      if lane.refused == nil, !free, relevance < lane.weighing.price { lane.refused = .belowPrice }
    }
    if isStart
      || ((relevance >= lane.weighing.price || action == .end) && (rate.admits(tat: tat, now: now) || free) && !quiet)
    {
      lane.priority = 10
      if !free, !isChannel, !rate.isUnlimited { lane.ledger = isStart ? .start : .activity }
    }
    return lane
  }

  func activityRate(of instance: UInt32) -> RateLedger {
    addressed[instance]?.frequentPushes == true ? frequentActivityRate : activityRate
  }

  /// θ · ((burst + s) / (left + s))²: dearer the fewer tokens are left of the burst. Without a limit, 0.
  private func burstPrice(kind: Int, rate: RateLedger, tat: Int64) -> Double {
    if rate.isUnlimited { return 0 }
    let smoothing = kinds[kind].smoothing
    let ratio = (Double(rate.burst) + smoothing) / (Double(rate.tokensLeft(tat: tat, now: now)) + smoothing)
    return kinds[kind].thetaPrior * ratio * ratio
  }

  // MARK: Starts

  /// Whether the subject has an activity on the device: one that runs, or one that was started by push.
  private func hasStarted(_ subject: String, by starter: UInt32, device slot: UInt32) -> Bool {
    var hash = Hash64()
    hash.add(subject)
    let key = hash.value
    if let started = addressed[starter]?.started,
      started.contains(where: { $0.subject == key && now &- $0.at < Self.startMemory })
    {
      return true
    }
    guard let interest = interests.id(of: subject, in: texts) else { return false }
    var instance = devices[slot].firstInstance
    while instance != none {
      if instances[instance].surface == .activity, instances[instance].kind == instances[starter].kind,
        !instances[instance].flags.contains(.retired), addressed[instance]?.ended == false
      {
        var entry = instances[instance].firstEntry
        while entry != none {
          if entries[entry].interest == interest { return true }
          entry = entries[entry].next
        }
      }
      instance = instances[instance].next
    }
    return false
  }

  private mutating func remember(start subject: String, by starter: UInt32) {
    var hash = Hash64()
    hash.add(subject)
    remember(AddressedState.StartedSubject(subject: hash.value, name: subject, at: now), by: starter)
  }

  /// The newest counts. What is over is forgotten with it, so that the list stays short.
  mutating func remember(_ start: AddressedState.StartedSubject, by starter: UInt32) {
    let now = now
    addressed[starter]?.started.removeAll { now &- $0.at >= Self.startMemory || $0.subject == start.subject }
    addressed[starter]?.started.append(start)
    if let count = addressed[starter]?.started.count, count > bounds.startsPerTokenMax {
      addressed[starter]?.started.removeFirst()
    }
  }

  // MARK: Pushing

  private mutating func push(
    _ instance: UInt32, device slot: UInt32, body: String, isEnd: Bool, lane: Lane, event: UInt32,
    into output: inout PlannerOutput
  ) {
    let command = appendCommand(
      instance, device: slot, body: body, isEnd: isEnd, priority: lane.priority, event: event, into: &output)
    if let ledger = lane.ledger { charge(instance, device: slot, ledger, command: command, into: &output) }
    chargeApp(device: slot, command: command, into: &output)
    markFresh(instance)
    instances[instance].lastReload = now
    let reason: Reason = lane.priority == 10 ? .emitted : .emittedFree
    output.served.append(
      PlannedServed(instance: instance, reason: reason, causesStart: output.causes.count, causesCount: 1))
    output.causes.append(event)
    output.commands[command].servedCount = 1
    report(
      instance: instance, event: event, verdict: .emit, reason: reason,
      relevance: fanOut.evaluations[Int(instances[instance].kind)].relevance, weighing: lane.weighing, command: command,
      causes: output.causes.count - 1..<output.causes.count, into: &output)
  }

  /// News is soon outdated. An end is not: a phone that was switched off must hear of it as long as its activity lives.
  private func expiry(of instance: UInt32, isEnd: Bool) -> Int64 {
    let soon = now &+ bounds.commandLifetime
    guard isEnd, let state = addressed[instance] else { return soon }
    return max(soon, state.startedAt &+ Self.activityLife)
  }

  private mutating func appendCommand(
    _ instance: UInt32, device slot: UInt32, body: String, isEnd: Bool, priority: UInt8, event: UInt32,
    into output: inout PlannerOutput
  ) -> Int {
    let subject = instances[instance].surface == .starter ? fanOut.event?.subject : nil
    let band = policy.profile.payloadBand(
      bytes: body.utf8.count, isBroadcast: addressed[instance]?.isChannel == true)
    output.payloads.append(
      PlannedPayload(body: body, band: band, subject: subject, expires: expiry(of: instance, isEnd: isEnd)))
    output.commands.append(
      PlannedCommand(
        device: slot, ordinal: takeOrdinal(),
        push: .activity(instance, payload: output.payloads.count - 1, priority: priority), event: event,
        servedStart: output.served.count, servedCount: 0, chargesStart: output.charges.count, chargesCount: 0))
    return output.commands.count - 1
  }

  private mutating func charge(
    _ instance: UInt32, device slot: UInt32, _ ledger: Command.Ledger, command: Int, into output: inout PlannerOutput
  ) {
    let left: Int
    if ledger == .start {
      var tat = rare(slot).startTAT
      startRate.charge(tat: &tat, now: now)
      changeRare(slot) { $0.startTAT = tat }
      left = startRate.tokensLeft(tat: tat, now: now)
    } else {
      let rate = activityRate(of: instance)
      rate.charge(tat: &addressed[instance, default: AddressedState()].tat, now: now)
      left = rate.tokensLeft(tat: addressed[instance]?.tat ?? 0, now: now)
    }
    output.charges.append(PlannedCharge(ledger: ledger, instance: instance, left: Int32(left)))
    output.commands[command].chargesCount = 1
  }

  /// Every command counts for its app. An end after a silence goes out also where the app's day is spent: an activity
  /// that was started must end. It takes nothing then: no ledger is overspent.
  private mutating func chargeApp(device slot: UInt32, command: Int, into output: inout PlannerOutput) {
    if devices[slot].flags.contains(.developerMode) || appTokensLeft(devices[slot].app) == 0 { return }
    chargeApp(devices[slot].app)
    let left = appTokensLeft(devices[slot].app)
    if left < 0 { return }
    output.charges.append(PlannedCharge(ledger: .app, instance: none, left: Int32(left)))
    output.commands[command].chargesCount += 1
  }

  // MARK: Ends

  /// When the activity must be looked at: its subject may have gone quiet, or its life be over.
  mutating func setActivityTimer(_ instance: UInt32) {
    guard let state = addressed[instance] else { return }
    clearDue(instance)
    if state.ended, !state.isChannel { return }
    let kind = Int(instances[instance].kind)
    var due = state.startedAt &+ Self.activityLife
    // Where no push can reach it, silence is no reason to look again and again.
    if !state.ended, !state.tokenDead, kinds[kind].policyIndex >= 0,
      let activity = policy.kinds[kinds[kind].policyIndex].activity
    {
      due = min(due, state.lastEventAt &+ activity.quietEnd.microseconds)
    }
    setDue(instance, max(due, now &+ 1))
  }

  /// The timer of an activity: past its life the system has ended it; after a silence it is ended by push.
  mutating func fireActivity(_ instance: UInt32, into output: inout PlannerOutput) {
    guard instances[instance].surface == .activity, let state = addressed[instance] else { return }
    let kind = Int(instances[instance].kind)
    if now &- state.startedAt >= Self.activityLife {
      addressed[instance]?.ended = true
      // Nobody takes a channel back: it is forgotten with its last activity.
      if state.isChannel { forget(deviceID(instances[instance].device), into: &output) }
      return
    }
    guard !state.ended, kinds[kind].policyIndex >= 0, let activity = policy.kinds[kinds[kind].policyIndex].activity,
      now &- state.lastEventAt >= activity.quietEnd.microseconds, !state.tokenDead
    else {
      setActivityTimer(instance)
      return
    }
    let device = instances[instance].device
    let timestamp = max(now / 1_000_000, state.timestamp + 1)
    addressed[instance]?.timestamp = timestamp
    addressed[instance]?.ended = true
    let rate = activityRate(of: instance)
    let free = devices[device].flags.contains(.developerMode) || rate.isUnlimited || state.isChannel
    let charged = !free && rate.admits(tat: state.tat, now: now)
    let command = appendCommand(
      instance, device: device, body: ActivityPayload.end(activity, timestamp: timestamp, now: now), isEnd: true,
      priority: charged || free ? 10 : 5, event: none, into: &output)
    if charged { charge(instance, device: device, .activity, command: command, into: &output) }
    chargeApp(device: device, command: command, into: &output)
    output.served.append(
      PlannedServed(instance: instance, reason: .endedQuiet, causesStart: output.causes.count, causesCount: 0))
    output.commands[command].servedCount = 1
    setActivityTimer(instance)
  }

  /// What a decision about the instance is about.
  @inline(__always)
  func surface(of instance: UInt32, route: Route) -> Surface {
    switch instances[instance].surface {
    case .widget: route == .backgroundPush ? .background : .widget
    case .control: .control
    case .activity, .starter: addressed[instance]?.isChannel == true ? .broadcast : .liveActivity
    }
  }
}
