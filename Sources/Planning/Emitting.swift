import Domain
import Policies

extension Planner {
  /// One push: charges every ledger it draws on, delivers everything pending on the instances it reaches, and says so.
  mutating func emit(
    device slot: UInt32, trigger: UInt32, fromTimer: Bool, background: Bool, _ weighing: Weighing,
    into output: inout PlannerOutput
  ) {
    let command = output.commands.count
    let newest = causes[instances[trigger].lastCause].event
    output.commands.append(
      PlannedCommand(
        device: slot, ordinal: takeOrdinal(), background: background, event: newest, servedStart: output.served.count,
        servedCount: 0, chargesStart: output.charges.count, chargesCount: 0))
    // Which instances it reaches must be known before anything pending is taken away.
    workingInstances.removeAll(keepingCapacity: true)
    var instance = devices[slot].firstInstance
    while instance != none {
      instances[instance].flags.remove(.chargedByLast)
      if reaches(instance, device: slot, background: background) { workingInstances.append(instance) }
      instance = instances[instance].next
    }
    charge(device: slot, command: command, background: background, into: &output)
    serve(
      trigger, command: command, isTrigger: true, fromTimer: fromTimer, background: background, weighing, into: &output)
    for i in workingInstances.indices where workingInstances[i] != trigger {
      serve(
        workingInstances[i], command: command, isTrigger: false, fromTimer: fromTimer, background: background, weighing,
        into: &output)
    }
    output.commands[command].servedCount = output.served.count - output.commands[command].servedStart
    touch(device: slot)
  }

  private mutating func charge(device slot: UInt32, command: Int, background: Bool, into output: inout PlannerOutput) {
    devices[slot].commandOffset = -1
    if devices[slot].flags.contains(.developerMode) { return }
    for i in workingInstances.indices {
      chargeInstance(workingInstances[i])
      output.charges.append(
        PlannedCharge(
          ledger: .instance, instance: workingInstances[i], left: Int32(tokensLeft(workingInstances[i]))))
    }
    let left: Int
    if background {
      backgroundRate.charge(tat: &devices[slot].backgroundTAT, now: now)
      left = backgroundRate.tokensLeft(tat: devices[slot].backgroundTAT, now: now)
    } else {
      pushRate.charge(tat: &devices[slot].pushTAT, now: now)
      left = pushRate.tokensLeft(tat: devices[slot].pushTAT, now: now)
    }
    if left >= 0 {
      output.charges.append(
        PlannedCharge(ledger: background ? .background : .device, instance: none, left: Int32(left)))
    }
    chargeApp(devices[slot].app)
    let appLeft = appTokensLeft(devices[slot].app)
    if appLeft >= 0 { output.charges.append(PlannedCharge(ledger: .app, instance: none, left: Int32(appLeft))) }
    output.commands[command].chargesCount = output.charges.count - output.commands[command].chargesStart
    devices[slot].commandOffset = offset
    devices[slot].commandOrdinal = output.commands[command].ordinal
    if background {
      devices[slot].flags.insert(.commandWasBackground)
    } else {
      devices[slot].flags.remove(.commandWasBackground)
    }
  }

  /// Closes every cause pending on one instance that the push reaches.
  private mutating func serve(
    _ instance: UInt32, command: Int, isTrigger: Bool, fromTimer: Bool, background: Bool, _ weighing: Weighing,
    into output: inout PlannerOutput
  ) {
    instances[instance].lastReload = now
    markFresh(instance)
    guard instances[instance].firstCause != none else { return }
    let start = output.causes.count
    var cause = instances[instance].firstCause
    while cause != none {
      output.causes.append(causes[cause].event)
      cause = causes[cause].next
    }
    let range = start..<output.causes.count
    let primary: Reason = isTrigger ? (fromTimer ? .emittedAfterDefer : .emitted) : .emittedShared
    output.served.append(
      PlannedServed(instance: instance, reason: primary, causesStart: start, causesCount: range.count))
    let newest = instances[instance].lastCause
    if isTrigger {
      report(
        instance: instance, event: causes[newest].event, verdict: .emit, reason: primary,
        relevance: causes[newest].relevance, weighing: weighing, background: background, command: command,
        causes: range, into: &output)
    }
    cause = instances[instance].firstCause
    while cause != none {
      let entry = causes[cause]
      if !(isTrigger && cause == newest) {
        report(
          instance: instance, event: entry.event, verdict: .coalesce,
          reason: isTrigger ? .emittedCoalesced : .emittedShared, relevance: entry.relevance, weighing: weighing,
          background: background, command: command, into: &output)
      }
      releasedEvents.append(entry.event)
      causes.remove(cause, leaving: Cause())
      cause = entry.next
    }
    instances[instance].firstCause = none
    instances[instance].lastCause = none
    instances[instance].causes = 0
    instances[instance].pendingValue = 0
    instances[instance].due = .max
  }

  // MARK: Reporting

  /// A final suppress of the event in hand.
  @inline(__always)
  mutating func suppressNew(instance: UInt32, reason: Reason, into output: inout PlannerOutput) {
    report(
      instance: instance, event: fanOut.slot, verdict: .suppress, reason: reason,
      relevance: fanOut.evaluations[Int(instances[instance].kind)].relevance, into: &output)
  }

  @inline(__always)
  mutating func report(
    instance: UInt32, event: UInt32, verdict: Verdict, reason: Reason, relevance: Float,
    weighing: Weighing = Weighing(), background: Bool = false, until: Int64 = .max, command: Int = -1,
    causes: Range<Int> = 0..<0, into output: inout PlannerOutput
  ) {
    let device = instances[instance].device
    rollWindow(instance, zone: Int(devices[device].zone))
    let rate = background ? backgroundRate : pushRate
    let tat = background ? devices[device].backgroundTAT : devices[device].pushTAT
    output.decisions.append(
      PlannedDecision(
        event: event, instance: instance, kind: instances[instance].kind, command: Int32(command),
        causesStart: UInt32(causes.lowerBound),
        causesCount: UInt32(causes.count), ordinal: takeOrdinal(), verdict: verdict, reason: reason,
        // The decision that closes a duplicate is the first delivery's.
        final: verdict != .defer && reason != .duplicate, background: background, relevance: relevance,
        value: Float(weighing.worth), price: Float(weighing.price), leftInstance: Int32(tokensLeft(instance)),
        leftDevice: Int32(rate.tokensLeft(tat: tat, now: now)), leftApp: Int32(appTokensLeft(devices[device].app)),
        until: until))
  }
}
