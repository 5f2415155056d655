import Domain
import Policies

/// What a push to a device would bring and cost right now.
struct Weighing {
  /// Sum of the pending values of every instance that the push would reload, times the chance that somebody looks.
  var worth = 0.0
  /// Sum of the prices of one token of each instance that the push would charge.
  var price = 0.0
  /// First hard limit that holds, in the order of `Reason`, and when it lets go.
  var block: Reason?
  var clearAt: Int64 = .max

  mutating func hold(_ reason: Reason, until: Int64) {
    if block == nil {
      block = reason
      clearAt = until
    }
  }
}

extension Planner {
  /// Steps 5 to 7 for a device: one push reloads, and is charged to, every instance that it reaches; the tightest ledger
  /// governs and the sum of values is weighed against the sum of prices.
  mutating func examine(device slot: UInt32, trigger: UInt32, fromTimer: Bool, into output: inout PlannerOutput) {
    let route = self.route(of: trigger, device: slot)
    if devices[slot].flags.contains(.developerMode) {
      emit(device: slot, trigger: trigger, fromTimer: fromTimer, route: route, Weighing(), into: &output)
      return
    }
    if route == .backgroundPush, !fitsBackgroundPush(device: slot) {
      endAllCauses(of: trigger, reason: .payloadTooLarge, into: &output)
      return
    }
    var weighing = weigh(device: slot, route: route)
    if weighing.block == nil {
      if weighing.worth < weighing.price {
        weighing.hold(.belowPrice, until: priceCrossing(device: slot, trigger: trigger, route: route))
      } else {
        waitForBetterHour(&weighing, device: slot, trigger: trigger, route: route)
      }
    }
    if weighing.block == nil {
      emit(device: slot, trigger: trigger, fromTimer: fromTimer, route: route, weighing, into: &output)
    } else {
      hold(device: slot, trigger: trigger, fromTimer: fromTimer, route: route, weighing, into: &output)
    }
  }

  /// Whether a push by this route reloads the instance. A background push names the kinds that have something pending.
  @inline(__always)
  func reaches(_ instance: UInt32, device slot: UInt32, route: Route) -> Bool {
    let flags = instances[instance].flags
    if flags.contains(.retired) { return false }
    switch route {
    case .controlPush(let control): return instance == control
    case .widgetPush: return flags.contains(.pushEnabled)
    case .backgroundPush, .unreachable: break
    }
    guard self.route(of: instance, device: slot) == .backgroundPush else { return false }
    if waiting(instance).firstCause != none { return true }
    var other = devices[slot].firstInstance
    while other != none {
      if instances[other].kind == instances[instance].kind, waiting(other).firstCause != none,
        !instances[other].flags.contains(.retired)
      {
        return true
      }
      other = instances[other].next
    }
    return false
  }

  /// The rate that a push by this route draws on.
  @inline(__always)
  func rate(of route: Route) -> RateLedger {
    switch route {
    case .widgetPush, .unreachable: pushRate
    case .backgroundPush: backgroundRate
    case .controlPush: controlRate
    }
  }

  @inline(__always)
  func tat(of route: Route, device slot: UInt32) -> Int64 {
    switch route {
    case .widgetPush, .unreachable: devices[slot].pushTAT
    case .backgroundPush: devices[slot].backgroundTAT
    case .controlPush(let control): addressed[control]?.tat ?? 0
    }
  }

  /// Whether the names of the kinds to reload fit in a background push.
  private func fitsBackgroundPush(device slot: UInt32) -> Bool {
    var bytes = 64
    var instance = devices[slot].firstInstance
    while instance != none {
      // Escaped, a byte can take six; a kind that several widgets share counts once for each: 64 widgets with names of
      // up to 50 bytes always fit.
      if waiting(instance).firstCause != none { bytes += kinds[Int(instances[instance].kind)].nameBytes + 3 }
      instance = instances[instance].next
    }
    return bytes <= policy.profile.payload.limit
  }

  private mutating func weigh(device slot: UInt32, route: Route) -> Weighing {
    var weighing = Weighing()
    let zone = Int(devices[slot].zone)
    let timeOfDay = zones[zone].timeOfDay(now)
    let habits = habits(of: slot)
    var spacedUntil = Int64.min
    var budgetUntil = Int64.min
    var reserveHeld = false
    var instance = devices[slot].firstInstance
    while instance != none {
      defer { instance = instances[instance].next }
      guard reaches(instance, device: slot, route: route) else { continue }
      rollWindow(instance, zone: zone)
      let kind = Int(instances[instance].kind)
      let left = tokensLeft(instance)
      if waiting(instance).pendingValue > 0 {
        weighing.worth += pendingValue(instance) * view(kind: kind, timeOfDay: timeOfDay, habits: habits)
      }
      weighing.price += price(instance, left: left, timeOfDay: timeOfDay, habits: habits)
      let last = instances[instance].lastReload
      if last != .min, now < last &+ kinds[kind].minInterval {
        spacedUntil = max(spacedUntil, last &+ kinds[kind].minInterval)
      }
      if left <= 0 {
        budgetUntil = max(budgetUntil, refillAt(instance))
      } else if kinds[kind].reserveTokens > 0, left <= reserved(instance) {
        reserveHeld = true
      }
    }
    applyLimits(
      &weighing, device: slot, route: route, timeOfDay: timeOfDay, spacedUntil: spacedUntil,
      budgetUntil: budgetUntil, reserveHeld: reserveHeld)
    return weighing
  }

  @inline(__always)
  private mutating func applyLimits(
    _ weighing: inout Weighing, device slot: UInt32, route: Route, timeOfDay: Int64, spacedUntil: Int64,
    budgetUntil: Int64, reserveHeld: Bool
  ) {
    if let quiet = policy.quietHours, let end = quietEnd(quiet, timeOfDay: timeOfDay),
      topRelevance(device: slot, route: route) < Float(quiet.exceptRelevance)
    {
      weighing.hold(.quietHours, until: end)
    }
    if spacedUntil != .min { weighing.hold(.minInterval, until: spacedUntil) }
    if budgetUntil != .min { weighing.hold(.budgetInstance, until: budgetUntil) }
    let rate = rate(of: route)
    let tat = tat(of: route, device: slot)
    if !rate.admits(tat: tat, now: now) {
      if case .controlPush = route {
        weighing.hold(.budgetInstance, until: rate.availableAt(tat: tat))
      } else {
        weighing.hold(.budgetDevice, until: rate.availableAt(tat: tat))
      }
    }
    if appTokensLeft(devices[slot].app) == 0 {
      weighing.hold(.budgetApp, until: (now / LocalZone.day + 1) * LocalZone.day)
    }
    if reserveHeld, let until = reserveUntil(device: slot, route: route) {
      weighing.hold(.reserveHeld, until: until)
    }
  }

  /// When quiet hours end, if they hold now.
  @inline(__always)
  func quietEnd(_ quiet: QuietHours, timeOfDay: Int64) -> Int64? {
    let from = Int64(quiet.fromMinute) * 60_000_000
    let to = Int64(quiet.toMinute) * 60_000_000
    let holds = from <= to ? timeOfDay >= from && timeOfDay < to : timeOfDay >= from || timeOfDay < to
    guard holds else { return nil }
    let rest = to - timeOfDay
    return now &+ (rest > 0 ? rest : rest + LocalZone.day)
  }

  /// The most relevant cause that the push would deliver.
  private func topRelevance(device slot: UInt32, route: Route) -> Float {
    var top: Float = 0
    var instance = devices[slot].firstInstance
    while instance != none {
      if reaches(instance, device: slot, route: route) {
        var cause = waiting(instance).firstCause
        while cause != none {
          top = max(top, causes[cause].relevance)
          cause = causes[cause].next
        }
      }
      instance = instances[instance].next
    }
    return top
  }

  /// When every reserve that holds now has released a token; nil when what is pending may use them all.
  private func reserveUntil(device slot: UInt32, route: Route) -> Int64? {
    let top = topRelevance(device: slot, route: route)
    var until: Int64?
    var instance = devices[slot].firstInstance
    while instance != none {
      let kind = Int(instances[instance].kind)
      if reaches(instance, device: slot, route: route), kinds[kind].reserveTokens > 0,
        tokensLeft(instance) <= reserved(instance), top < Float(kinds[kind].reserveAboveRelevance)
      {
        until = max(until ?? .min, reserveReleaseAt(instance))
      }
      instance = instances[instance].next
    }
    return until
  }

  /// The first full hour, up to the expiry of the trigger's newest cause, at which the push would be worth its price;
  /// `.max`: none. In between value only decays and the price moves slowly, so one timer is enough.
  private func priceCrossing(device slot: UInt32, trigger: UInt32, route: Route) -> Int64 {
    let expires = causes[waiting(trigger).lastCause].expires
    let zone = Int(devices[slot].zone)
    let habits = habits(of: slot)
    var instant = now &- zones[zone].timeOfDay(now) % LocalZone.hour &+ LocalZone.hour
    var steps = 0
    while instant < expires, steps < Self.hoursAheadMax {
      let ahead = lookAhead(to: instant, device: slot, route: route, habits: habits)
      if ahead.worth >= ahead.price { return instant }
      instant += LocalZone.hour
      steps += 1
    }
    return .max
  }

  private static let hoursAheadMax = 8

  /// What a push at a later instant would bring of what waits now, and cost.
  private func lookAhead(to instant: Int64, device slot: UInt32, route: Route, habits: ViewHabits?) -> (
    worth: Double, price: Double
  ) {
    let timeOfDay = zones[Int(devices[slot].zone)].timeOfDay(instant)
    var worth = 0.0
    var price = 0.0
    var instance = devices[slot].firstInstance
    while instance != none {
      if reaches(instance, device: slot, route: route) {
        let kind = Int(instances[instance].kind)
        if waiting(instance).pendingValue > 0 {
          worth += pendingValue(instance, at: instant) * view(kind: kind, timeOfDay: timeOfDay, habits: habits)
        }
        let renewed = !kinds[kind].rolling && instant >= instances[instance].windowEnd
        price += basePrice(
          instance, left: renewed ? kinds[kind].perDay : tokensLeft(instance), timeOfDay: timeOfDay, habits: habits)
      }
      instance = instances[instance].next
    }
    return (worth, price)
  }

  /// Worth its price, but a full hour comes at which so many more people look that the same push brings more, what it
  /// loses by waiting and what a token costs then counted in: it waits, and what that hour brings above the price stands on
  /// today's price. Never beyond the day, whose tokens nobody gets back, nor with what the policy calls urgent: what a
  /// reserve is kept for and what quiet hours let through.
  private func waitForBetterHour(_ weighing: inout Weighing, device slot: UInt32, trigger: UInt32, route: Route) {
    let kind = Int(instances[trigger].kind)
    let zone = Int(devices[slot].zone)
    let habits = habits(of: slot)
    var end = causes[waiting(trigger).lastCause].expires
    if !kinds[kind].rolling { end = min(end, instances[trigger].windowEnd) }
    let views = view(kind: kind, timeOfDay: zones[zone].timeOfDay(now), habits: habits)
    // No hour is better than the best.
    if habits == nil, views >= kinds[kind].viewsMax { return }
    var instant = now &- zones[zone].timeOfDay(now) % LocalZone.hour &+ LocalZone.hour
    var steps = 0
    while instant < end, steps < Self.hoursAheadMax {
      // Mostly told by the trigger alone: value halves, and no more people look.
      let later = view(kind: kind, timeOfDay: zones[zone].timeOfDay(instant), habits: habits)
      if later * Decay.factor(halfLives: Double(instant &- now) * kinds[kind].inverseHalfLife) > views {
        let ahead = lookAhead(to: instant, device: slot, route: route, habits: habits)
        let gain = ahead.worth - ahead.price
        if gain > weighing.worth - weighing.price, ahead.worth > weighing.worth,
          !isUrgent(topRelevance(device: slot, route: route), kind: kind)
        {
          weighing.price += gain
          weighing.hold(.belowPrice, until: instant)
          return
        }
      }
      instant += LocalZone.hour
      steps += 1
    }
  }

  private func isUrgent(_ relevance: Float, kind: Int) -> Bool {
    relevance >= Float(kinds[kind].reserveAboveRelevance)
      || policy.quietHours.map { relevance >= Float($0.exceptRelevance) } == true
  }

  /// Not now: a decision for each event that came in with this record, and a timer.
  private mutating func hold(
    device slot: UInt32, trigger: UInt32, fromTimer: Bool, route: Route, _ weighing: Weighing,
    into output: inout PlannerOutput
  ) {
    // Never closer than a second: whatever a limit says, timers must not spin.
    let clearAt = max(weighing.clearAt, now &+ 1_000_000)
    if fromTimer {
      reportHeldAgain(device: slot, trigger: trigger, route: route, weighing, until: clearAt, into: &output)
      setDue(trigger, min(clearAt, earliestExpiry(trigger)))
      return
    }
    for i in workingNew.indices where workingNew[i] != none {
      let instance = workingNew[i]
      guard hasNewCause(instance), reaches(instance, device: slot, route: route) else { continue }
      workingNew[i] = none
      let cause = waiting(instance).lastCause
      let until = min(clearAt, causes[cause].expires)
      report(
        instance: instance, event: fanOut.slot, verdict: .defer, reason: weighing.block ?? .belowPrice,
        relevance: causes[cause].relevance, weighing: weighing, route: route, until: until, into: &output)
      setDue(instance, min(waiting(instance).due, until))
      instances[instance].held = weighing.block?.held ?? 0
    }
  }

  /// Still not now, and for another reason than was told: a decision for the newest event that waits.
  private mutating func reportHeldAgain(
    device slot: UInt32, trigger: UInt32, route: Route, _ weighing: Weighing, until: Int64,
    into output: inout PlannerOutput
  ) {
    guard let block = weighing.block, block.held != instances[trigger].held else { return }
    instances[trigger].held = block.held
    let cause = causes[waiting(trigger).lastCause]
    report(
      instance: trigger, event: cause.event, verdict: .defer, reason: block, relevance: cause.relevance,
      weighing: weighing, route: route, until: min(until, cause.expires), into: &output)
  }
}

extension Reason {
  /// A number for the reasons that hold something back, to tell whether it changed; 0 for the others.
  var held: UInt8 {
    holdsBack ? number : 0
  }
}
