import Domain
import Policies

extension Planner {
  /// One push: charges every ledger it draws on, delivers everything pending on the instances it reaches, and says so.
  mutating func emit(
    device slot: UInt32, trigger: UInt32, fromTimer: Bool, route: Route, _ weighing: Weighing,
    into output: inout PlannerOutput
  ) {
    let command = output.commands.count
    let newest = causes[waiting(trigger).lastCause].event
    output.commands.append(
      PlannedCommand(
        device: slot, ordinal: takeOrdinal(), push: route.push, event: newest, servedStart: output.served.count,
        servedCount: 0, chargesStart: output.charges.count, chargesCount: 0))
    // Which instances it reaches must be known before anything pending is taken away.
    workingInstances.removeAll(keepingCapacity: true)
    var instance = devices[slot].firstInstance
    while instance != none {
      instances[instance].flags.remove(.chargedByLast)
      if reaches(instance, device: slot, route: route) { workingInstances.append(instance) }
      instance = instances[instance].next
    }
    charge(device: slot, command: command, route: route, into: &output)
    serve(
      trigger, command: command, isTrigger: true, fromTimer: fromTimer, route: route, weighing, into: &output)
    for i in workingInstances.indices where workingInstances[i] != trigger {
      serve(
        workingInstances[i], command: command, isTrigger: false, fromTimer: fromTimer, route: route, weighing,
        into: &output)
    }
    output.commands[command].servedCount = output.served.count - output.commands[command].servedStart
    touch(device: slot)
  }

  private mutating func charge(device slot: UInt32, command: Int, route: Route, into output: inout PlannerOutput) {
    devices[slot].commandOffset = -1
    if devices[slot].flags.contains(.developerMode) { return }
    for i in workingInstances.indices {
      chargeInstance(workingInstances[i])
      output.charges.append(
        PlannedCharge(
          ledger: .instance, instance: workingInstances[i], left: Int32(tokensLeft(workingInstances[i]))))
    }
    chargeRate(device: slot, route: route, into: &output)
    chargeApp(devices[slot].app)
    let appLeft = appTokensLeft(devices[slot].app)
    if appLeft >= 0 { output.charges.append(PlannedCharge(ledger: .app, instance: none, left: Int32(appLeft))) }
    output.commands[command].chargesCount = output.charges.count - output.commands[command].chargesStart
    devices[slot].commandOffset = offset
    devices[slot].commandOrdinal = output.commands[command].ordinal
    devices[slot].commandRoute = route.stored
  }

  private mutating func chargeRate(device slot: UInt32, route: Route, into output: inout PlannerOutput) {
    var tat = tat(of: route, device: slot)
    let rate = rate(of: route)
    if rate.isUnlimited { return }
    rate.charge(tat: &tat, now: now)
    set(tat: tat, of: route, device: slot)
    let left = Int32(rate.tokensLeft(tat: tat, now: now))
    switch route {
    case .widgetPush, .unreachable: output.charges.append(PlannedCharge(ledger: .device, instance: none, left: left))
    case .backgroundPush: output.charges.append(PlannedCharge(ledger: .background, instance: none, left: left))
    case .controlPush(let control):
      output.charges.append(PlannedCharge(ledger: .control, instance: control, left: left))
    }
  }

  mutating func set(tat: Int64, of route: Route, device slot: UInt32) {
    switch route {
    case .widgetPush, .unreachable: devices[slot].pushTAT = tat
    case .backgroundPush: devices[slot].backgroundTAT = tat
    case .controlPush(let control): addressed[control]?.tat = tat
    }
  }

  /// Closes every cause pending on one instance that the push reaches.
  private mutating func serve(
    _ instance: UInt32, command: Int, isTrigger: Bool, fromTimer: Bool, route: Route, _ weighing: Weighing,
    into output: inout PlannerOutput
  ) {
    instances[instance].lastReload = now
    markFresh(instance)
    guard waiting(instance).firstCause != none else { return }
    let start = output.causes.count
    var cause = waiting(instance).firstCause
    while cause != none {
      output.causes.append(causes[cause].event)
      cause = causes[cause].next
    }
    let range = start..<output.causes.count
    let primary: Reason = isTrigger ? (fromTimer ? .emittedAfterDefer : .emitted) : .emittedShared
    output.served.append(
      PlannedServed(instance: instance, reason: primary, causesStart: start, causesCount: range.count))
    let newest = waiting(instance).lastCause
    if isTrigger {
      report(
        instance: instance, event: causes[newest].event, verdict: .emit, reason: primary,
        relevance: causes[newest].relevance, weighing: weighing, route: route, command: command,
        causes: range, into: &output)
    }
    cause = waiting(instance).firstCause
    while cause != none {
      let entry = causes[cause]
      if !(isTrigger && cause == newest) {
        report(
          instance: instance, event: entry.event, verdict: .coalesce,
          reason: isTrigger ? .emittedCoalesced : .emittedShared, relevance: entry.relevance, weighing: weighing,
          route: route, command: command, into: &output)
      }
      releasedEvents.append(entry.event)
      causes.remove(cause, leaving: Cause())
      cause = entry.next
    }
    let waiting = instances[instance].waiting
    waitings[waiting].firstCause = none
    waitings[waiting].lastCause = none
    waitings[waiting].causes = 0
    waitings[waiting].pendingValue = 0
    clearDue(instance)
  }

  // MARK: Reporting

  /// A final suppress of the event in hand.
  @inline(__always)
  mutating func suppressNew(
    instance: UInt32, reason: Reason, weighing: Weighing = Weighing(), into output: inout PlannerOutput
  ) {
    report(
      instance: instance, event: fanOut.slot, verdict: .suppress, reason: reason,
      relevance: fanOut.evaluations[Int(instances[instance].kind)].relevance, weighing: weighing, into: &output)
  }

  @inline(__always)
  mutating func report(
    instance: UInt32, event: UInt32, verdict: Verdict, reason: Reason, relevance: Float,
    weighing: Weighing = Weighing(), route: Route? = nil, until: Int64 = .max, command: Int = -1,
    causes: Range<Int> = 0..<0, into output: inout PlannerOutput
  ) {
    let device = instances[instance].device
    rollWindow(instance, zone: Int(devices[device].zone))
    let route = route ?? self.route(of: instance, device: device)
    let surface = surface(of: instance, route: route)
    let left = ledgersLeft(instance, device: device, route: route)
    output.decisions.append(
      PlannedDecision(
        event: event, instance: instance, kind: UInt32(instances[instance].kind), command: Int32(command),
        causesStart: UInt32(causes.lowerBound),
        causesCount: UInt32(causes.count), ordinal: takeOrdinal(), verdict: verdict, reason: reason,
        // The decision that closes a duplicate is the first delivery's.
        final: verdict != .defer && reason != .duplicate, surface: surface, relevance: relevance,
        value: Float(weighing.worth), price: Float(weighing.price), leftInstance: left.instance,
        leftDevice: left.device, leftApp: Int32(appTokensLeft(devices[device].app)),
        until: until))
  }

  /// What the ledgers that count for an instance hold; −1: no limit.
  @inline(__always)
  private func ledgersLeft(_ instance: UInt32, device: UInt32, route: Route) -> (instance: Int32, device: Int32) {
    switch instances[instance].surface {
    case .widget:
      let rate = rate(of: route)
      return (Int32(tokensLeft(instance)), Int32(rate.tokensLeft(tat: tat(of: route, device: device), now: now)))
    case .control:
      let left = controlRate.tokensLeft(tat: addressed[instance]?.tat ?? 0, now: now)
      return (Int32(left < 0 ? tokensLeft(instance) : min(tokensLeft(instance), left)), -1)
    case .activity:
      if addressed[instance]?.isChannel == true { return (-1, -1) }
      return (Int32(activityRate(of: instance).tokensLeft(tat: addressed[instance]?.tat ?? 0, now: now)), -1)
    case .starter: return (-1, Int32(startRate.tokensLeft(tat: rare(device).startTAT, now: now)))
    }
  }
}
