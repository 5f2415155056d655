import Domain
import JSON
import Policies

extension Fleet {
  /// Carries out the verdict on a push to a device.
  mutating func apply(
    _ examination: Examination, fromTimer: Bool, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    switch examination.outcome {
    case .push: push(examination, fromTimer: fromTimer, event, &visit, into: &output)
    case .end(let reason): endAllCauses(of: examination.question.trigger, reason, into: &output)
    case .hold: hold(examination, fromTimer: fromTimer, event, &visit, into: &output)
    }
  }

  // MARK: Push

  /// Makes one push: charges its ledgers, ends every cause that waits on the instances that it reaches, and reports the command
  /// and the decisions.
  private mutating func push(
    _ examination: Examination, fromTimer: Bool, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    let (device, trigger) = (examination.question.device, examination.question.trigger)
    if case .unreachable = examination.route { assertionFailure("a push without a route has no token to be sent to") }
    let command = output.commands.count
    let newest = hasPending(trigger) ? newestCause(of: trigger).event : .absent
    output.commands.append(
      PlannedCommand(
        device: device, ordinal: record.takeOrdinal(),
        push: .reload(examination.route.rate, of: examination.route.target), event: newest,
        servedStart: output.served.count, servedCount: 0, chargesStart: output.charges.count, chargesCount: 0))
    // The instances are collected first: `names` asks what waits, which is ended below.
    visit.reached.clear()
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if registry.instances[instance].day.chargedByLast { ledgers.settle(&registry[day: instance]) }
      guard reaches(instance, examination.question), instance == trigger || !isSpentByTimeline(instance) else {
        continue
      }
      visit.reached.append(instance)
    }
    assert(
      visit.reached.contains(trigger), "a push reloads the instance that led to it, or it would be made again at once")
    if visit.reached.count > 1 { findTruthsOfReached(by: &visit, event) } else { visit.reachedTruths.clear() }
    charge(command, examination, visit, into: &output)
    let reason = fromTimer ? Reason.emittedAfterDefer : .emitted
    serve(
      trigger, visit.reached.firstIndex(of: trigger), command: command, as: reason, examination, event, visit,
      into: &output)
    for i in visit.reached.indices where visit.reached[i] != trigger {
      serve(visit.reached[i], i, command: command, as: .emittedShared, examination, event, visit, into: &output)
    }
    output.commands[command].servedCount = output.served.count - output.commands[command].servedStart
    assert(output.commands[command].servedCount > 0, "a command says for what it was made")
    if registry.devices[device].flags.contains(.rare) { registry.forgetShownBefore(of: visit.reached, device) }
    touch(device)
  }

  private mutating func charge(
    _ command: Int, _ examination: Examination, _ visit: borrowing DeviceVisit, into output: inout PlannerOutput
  ) {
    let device = examination.question.device
    registry[lastCommand: device].settle()
    if registry.isInDeveloperMode(device) { return }
    for i in visit.reached.indices {
      let instance = visit.reached[i]
      ledgers.charge(
        &registry[day: instance], of: instance, rules[registry.instances[instance].kind].day, now: now)
      let left = tokensLeft(instance)
      assert(left >= 0, "no push takes a token that is not there")
      learnPush(instance, worth: visit.terms(of: instance).worth)
      output.charges.append(PlannedCharge(ledger: .instance, instance: instance, left: Int32(left)))
    }
    chargeRate(examination, into: &output)
    let app = registry.devices[device].app
    ledgers.apps.charge(app, at: record.offset, now: now)
    let appLeft = ledgers.apps.tokensLeft(app, now: now)
    if appLeft >= 0 { output.charges.append(PlannedCharge(ledger: .app, instance: .absent, left: Int32(appLeft))) }
    output.commands[command].chargesCount = output.charges.count - output.commands[command].chargesStart
    registry[lastCommand: device] = LastCommand(
      offset: record.offset, ordinal: output.commands[command].ordinal, rate: examination.route.rate)
  }

  private mutating func chargeRate(_ examination: Examination, into output: inout PlannerOutput) {
    let (device, route) = (examination.question.device, examination.route)
    let rate = ledgers.rate(route.rate)
    // A rate that cannot save pushes has no price, so no surplus of it is kept.
    registry.note(surplus: rate.burst > 1 ? examination.weighing.surplus : 0, route.rate, device, now: now)
    if rate.isUnlimited { return }
    var state = registry[rate: route, device]
    rate.charge(&state, now: now)
    registry[rate: route, device] = state
    let left = Int32(rate.tokensLeft(state, now: now))
    assert(left >= 0, "no push takes a token of a rate that is not there")
    output.charges.append(PlannedCharge(ledger: route.rate.traits.ledger, instance: route.target, left: left))
  }

  /// Ends every cause that waits on one instance that the push reaches.
  /// - Parameters:
  ///   - place: Its place in `DeviceVisit.reached`.
  ///   - primary: The reason for the newest cause: for the trigger the reason of the push, for other instances
  ///     `EMITTED_SHARED`.
  private mutating func serve(
    _ instance: InstanceSlot, _ place: Int?, command: Int, as primary: Reason, _ examination: Examination,
    _ event: borrowing EventInHand, _ visit: borrowing DeviceVisit, into output: inout PlannerOutput
  ) {
    let waiting = registry.instances[instance].waiting
    // The screen is right afterwards, so what it was is asked first.
    let isServedWithoutEvent = !hasPending(instance) && catchesUp(instance, examination.question)
    registry.noteReload(instance, at: now)
    registry.set(.awaitsPush, true, instance)
    notePush(instance)
    let truth = place.flatMap { $0 < visit.reachedTruths.count ? visit.reachedTruths[$0].ifPresent : nil }
    markFresh(instance, truth: truth, after: event)
    guard hasPending(instance) else {
      if isServedWithoutEvent { serveWithoutEvent(instance, into: &output) }
      return
    }
    let start = output.causes.count
    var walk = pending.causes(of: waiting)
    while let cause = walk.next(pending) { output.causes.append(pending.causes[cause].event) }
    let range = start..<output.causes.count
    output.served.append(
      PlannedServed(
        instance: instance, reason: primary, causesStart: start, causesCount: range.count,
        leftOut: pending.eventsLeftOut(output.causes[range])))
    let isTrigger = primary != .emittedShared
    let newest = newestCause(of: instance)
    let terms = visit.terms(of: instance)
    var decision = PlannedDecision(about: newest.event, on: instance, .emit, primary, relevance: newest.relevance)
    decision.note(examination.weighing, distance: terms.distance, looks: terms.looks)
    decision.command = Int32(command)
    if isTrigger {
      decision.objective = result(of: newest, on: instance, as: primary)
      (decision.causesStart, decision.causesCount) = (UInt32(range.lowerBound), UInt32(range.count))
      report(decision, examined: examination.route, into: &output)
    }
    decision.verdict = .coalesce
    decision.reason = isTrigger ? .emittedCoalesced : .emittedShared
    (decision.causesStart, decision.causesCount) = (0, 0)
    while let cause = pending.takeCause(from: waiting, where: { _ in true }) {
      if !isTrigger || cause.event != newest.event {
        (decision.event, decision.relevance) = (cause.event, cause.relevance)
        decision.objective = result(of: cause, on: instance, as: decision.reason)
        report(decision, examined: examination.route, into: &output)
      }
      record.releasedEvents.append(cause.event)
    }
    assert(!hasPending(instance), "a push shows all that waits")
    pending.resum(&registry[waiting: instance], inverseHalfLife: 0, now: now)
    pending.clearDue(&registry[waiting: instance])
  }

  /// Notes that the push reaches an instance whose screen was wrong although no event waited. No decision tells of it.
  private mutating func serveWithoutEvent(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    output.served.append(
      PlannedServed(instance: instance, reason: .caughtUp, causesStart: output.causes.count, causesCount: 0))
    pending.clearDue(&registry[waiting: instance])
  }

  // MARK: Hold

  /// Holds back a push: sets timers, and reports a decision for each instance that the push would reach and on which the current
  /// event waits. If a timer led to the examination, it reports one for the trigger, and only if the reason has changed.
  private mutating func hold(
    _ examination: Examination, fromTimer: Bool, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    let trigger = examination.question.trigger
    assert(examination.weighing.block != nil, "a push is held back for a reason, which its decision tells")
    // The timer is at least a second away, so that an instance cannot be examined over and over at the same time.
    let clearAt = max(examination.weighing.clearAt, now + .seconds(1))
    if fromTimer {
      if hasPending(trigger) { reportHeldAgain(examination, until: clearAt, visit, into: &output) }
      setDue(trigger, min(clearAt, nextExpiry(trigger)))
      return
    }
    let isAlone = isSpentByTimeline(trigger)
    for i in visit.waiting.indices where !visit.waiting[i].isAbsent {
      let instance = visit.waiting[i]
      guard hasCause(event, instance), instance == trigger || reaches(instance, examination.question) else {
        continue
      }
      // A widget that a background push would reload, too, still has its own push.
      if examination.route == .backgroundPush, route(of: instance, device: examination.question.device) == .widgetPush {
        continue
      }
      // An instance without tokens of its own is no reason to hold back the others, nor they for it.
      guard instance == trigger || !isAlone && !isSpentByTimeline(instance) else { continue }
      visit.waiting[i] = .absent
      let cause = newestCause(of: instance)
      let until = min(clearAt, cause.expires)
      assert(until > now, "a decision that defers tells a time to come")
      let terms = visit.terms(of: instance)
      var decision = PlannedDecision(
        about: event.slot, on: instance, .defer, examination.weighing.block ?? .belowPrice,
        relevance: cause.relevance)
      decision.note(examination.weighing, distance: terms.distance, looks: terms.looks)
      decision.until = until
      report(decision, examined: examination.route, into: &output)
      setDue(instance, min(pending[registry.instances[instance].waiting].due, until))
      registry.set(heldFor: HeldReason(examination.weighing.block), instance)
    }
  }

  /// Reports a decision for the newest waiting event when a push is held back for another reason than before.
  private mutating func reportHeldAgain(
    _ examination: Examination, until: Timestamp, _ visit: borrowing DeviceVisit, into output: inout PlannerOutput
  ) {
    let trigger = examination.question.trigger
    let held = HeldReason(examination.weighing.block)
    guard let block = examination.weighing.block, held != registry.instances[trigger].heldFor else { return }
    registry.set(heldFor: held, trigger)
    let cause = newestCause(of: trigger)
    let terms = visit.terms(of: trigger)
    var decision = PlannedDecision(about: cause.event, on: trigger, .defer, block, relevance: cause.relevance)
    decision.note(examination.weighing, distance: terms.distance, looks: terms.looks)
    decision.until = cause.expires > now ? min(until, cause.expires) : until
    report(decision, examined: examination.route, into: &output)
  }
}

extension Pending {
  /// Returns the number of events that a command leaves out of its list for one instance: the oldest ones, as many as are
  /// needed to keep the list within `DomainBounds.servedEventBytesMax`. The newest event is always listed.
  /// - Parameter events: The events that the command delivers to the instance, oldest first.
  func eventsLeftOut(_ events: ArraySlice<EventSlot>) -> Int {
    // Two ids of the largest size fit, whatever they consist of.
    events.count > 2 ? countEventsLeftOut(events) : 0
  }

  private func countEventsLeftOut(_ events: ArraySlice<EventSlot>) -> Int {
    // Nearly always all fit, whatever the ids consist of, and then only their lengths are read.
    let most = events.reduce(0) { $0 + OutputSpan<UInt8>.quotedMax(self.events[$1].id.utf8.count) + 1 }
    if most <= DomainBounds.servedEventBytesMax { return 0 }
    var bytes = 0
    for place in events.indices.reversed() {
      bytes += OutputSpan<UInt8>.quotedCount(self.events[events[place]].id.utf8.span) + 1
      if bytes > DomainBounds.servedEventBytesMax {
        assert(place + 1 < events.endIndex, "the newest event of a command is always listed")
        return place + 1 - events.startIndex
      }
    }
    return 0
  }
}
