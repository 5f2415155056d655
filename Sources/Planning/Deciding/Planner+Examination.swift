import Domain
import Policies

extension Planner {
  /// Examines a push to a device. One push reloads, and is charged to, every instance that it reaches. So the tightest ledger
  /// governs, and the sum of the values is compared with the sum of the prices. Call `bringDayUpToDate` for the instances first.
  /// - Parameters:
  ///   - device: The device.
  ///   - trigger: The instance that caused the examination.
  ///   - route: The route of the push.
  ///   - terms: Receives the terms of each instance that the push reaches, in the order of the device.
  func examination(
    device: DeviceSlot, trigger: InstanceSlot, route: Route, terms: inout ContiguousArray<InstanceTerms>
  ) -> Examination {
    var examination = Examination(outcome: .push, route: route)
    if isInDeveloperMode(device) { return examination }
    if route == .backgroundPush, !fitsBackgroundPush(device) {
      examination.outcome = .end(.payloadTooLarge)
      return examination
    }
    examination.weighing = weigh(device, route, &terms)
    if examination.weighing.block == nil {
      if examination.weighing.worth < examination.weighing.price {
        examination.weighing.hold(.belowPrice, until: priceCrossing(device, trigger, terms))
      } else {
        waitForBetterHour(&examination.weighing, device, trigger, terms)
      }
    }
    if examination.weighing.block != nil { examination.outcome = .hold }
    return examination
  }

  /// Returns whether the names of the kinds to reload fit in a background push.
  private func fitsBackgroundPush(_ device: DeviceSlot) -> Bool {
    var bytes = 64
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      // This is an upper bound: an escaped byte takes six bytes, and a kind that several widgets share counts several times.
      // The names of 64 widgets of up to 50 bytes each always fit.
      if hasPending(instance) { bytes += rules[registry.instances[instance].kind].nameBytes + 3 }
    }
    return bytes <= rules.policy.profile.payload.limit
  }

  private func weigh(
    _ device: DeviceSlot, _ route: Route, _ terms: inout ContiguousArray<InstanceTerms>
  ) -> Weighing {
    var weighing = Weighing()
    let timeOfDay = zones.timeOfDay(registry.devices[device].zone, now)
    let habits = habits(of: device)
    var held = InstanceLimits()
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard reaches(instance, device: device, route: route) else { continue }
      let state = registry.instances[instance]
      // Field by field: a copy of the settings would count a reference to the kind's name.
      let limits = rules[state.kind].day
      let minInterval = rules[state.kind].minInterval
      let left = ledgers.tokensLeft(state.day, of: instance, limits, now: now)
      let value = pendingValue(instance, at: now)
      if value > 0 { weighing.worth += value * pricing.view(state.kind, timeOfDay, habits) }
      let quote = pricing.quote(state.price, state.kind, left: left, timeOfDay, habits, now: now)
      weighing.price += quote.price
      terms.append(InstanceTerms(instance: instance, price: quote.next))
      if state.lastReload != .distantPast, now < state.lastReload + minInterval {
        held.spacedUntil = max(held.spacedUntil, state.lastReload + minInterval)
      }
      if left <= 0 {
        held.budgetUntil = max(
          held.budgetUntil, ledgers.refillAt(state.day, of: instance, limits, now: now))
      } else if limits.reserveTokens > 0, left <= ledgers.reserved(state.day, limits, now: now) {
        held.reserveHeld = true
      }
    }
    apply(held, to: &weighing, device, route, timeOfDay, terms)
    return weighing
  }

  /// The limits of single instances, combined over all instances that a push reaches.
  private struct InstanceLimits {
    var spacedUntil = Timestamp.distantPast
    var budgetUntil = Timestamp.distantPast
    var reserveHeld = false
  }

  /// Applies the hard limits, in the order of `Reason`.
  @inline(__always)
  private func apply(
    _ limits: InstanceLimits, to weighing: inout Weighing, _ device: DeviceSlot, _ route: Route,
    _ timeOfDay: TimeOfDay, _ terms: ContiguousArray<InstanceTerms>
  ) {
    if let quiet = rules.policy.quietHours, let end = quietEnd(quiet, timeOfDay),
      topRelevance(terms) < Float(quiet.exceptRelevance)
    {
      weighing.hold(.quietHours, until: end)
    }
    if limits.spacedUntil != .distantPast { weighing.hold(.minInterval, until: limits.spacedUntil) }
    if limits.budgetUntil != .distantPast { weighing.hold(.budgetInstance, until: limits.budgetUntil) }
    let rate = ledgers.rate(route.rate)
    let state = registry[rate: route, device]
    if !rate.admits(state, now: now) {
      if case .controlPush = route {
        weighing.hold(.budgetInstance, until: rate.availableAt(state))
      } else {
        weighing.hold(.budgetDevice, until: rate.availableAt(state))
      }
    }
    if ledgers.tokensLeft(registry.devices[device].app, now: now) == 0 {
      weighing.hold(.budgetApp, until: Timestamp(microseconds: 0) + LocalZone.day * (Ledgers.day(of: now) + 1))
    }
    if limits.reserveHeld, let until = reserveUntil(terms) { weighing.hold(.reserveHeld, until: until) }
  }

  /// Returns the end of quiet hours; nil when they do not hold now.
  @inline(__always)
  func quietEnd(_ quiet: QuietHours, _ timeOfDay: TimeOfDay) -> Timestamp? {
    let (from, to) = (Int64(quiet.fromMinute) * 60_000_000, Int64(quiet.toMinute) * 60_000_000)
    let time = timeOfDay.microseconds
    let holds = from <= to ? time >= from && time < to : time >= from || time < to
    guard holds else { return nil }
    let rest = TimeSpan(microseconds: to - time)
    return now + (rest > .zero ? rest : rest + LocalZone.day)
  }

  /// Returns the relevance of the most relevant cause that the push would deliver.
  private func topRelevance(_ terms: ContiguousArray<InstanceTerms>) -> Float {
    var top: Float = 0
    for term in terms {
      var causes = pending.causes(of: registry.instances[term.instance].waiting)
      while let cause = causes.next(pending) { top = max(top, pending.causes[cause].relevance) }
    }
    return top
  }

  /// Returns the time at which every reserve that holds now has released a token; nil when the waiting causes are relevant
  /// enough for all of them.
  private func reserveUntil(_ terms: ContiguousArray<InstanceTerms>) -> Timestamp? {
    let top = topRelevance(terms)
    var until: Timestamp?
    for instance in terms.lazy.map(\.instance) {
      let day = registry.instances[instance].day
      let settings = rules[registry.instances[instance].kind]
      if settings.day.reserveTokens > 0, top < Float(settings.reserveAboveRelevance),
        ledgers.tokensLeft(day, of: instance, settings.day, now: now)
          <= ledgers.reserved(day, settings.day, now: now)
      {
        until = max(
          until ?? .distantPast, ledgers.reserveReleaseAt(day, of: instance, settings.day, now: now))
      }
    }
    return until
  }

  // MARK: Looking ahead

  /// The number of future full hours that are considered at most.
  private static let hoursAheadMax = 8

  /// Returns the first full hour before the expiry of the trigger's newest cause at which the push would be worth its price; the
  /// distant future when there is none. Between full hours the value only decays and the price changes slowly, so one timer is
  /// enough.
  private func priceCrossing(
    _ device: DeviceSlot, _ trigger: InstanceSlot, _ terms: ContiguousArray<InstanceTerms>
  ) -> Timestamp {
    let expires = newestCause(of: trigger).expires
    let habits = habits(of: device)
    var instant = nextFullHour(registry.devices[device].zone)
    var steps = 0
    while instant < expires, steps < Self.hoursAheadMax {
      let ahead = lookAhead(to: instant, device, terms, habits)
      if ahead.worth >= ahead.price { return instant }
      instant = instant + LocalZone.hour
      steps += 1
    }
    return .distantFuture
  }

  private func nextFullHour(_ zone: ZoneSlot) -> Timestamp {
    now - zones.timeOfDay(zone, now).pastHour + LocalZone.hour
  }

  /// Returns the newest cause that waits on an instance. At least one cause must wait on it.
  func newestCause(of instance: InstanceSlot) -> Cause {
    pending.causes[pending[registry.instances[instance].waiting].lastCause]
  }

  /// Returns the worth of the causes that wait now, and the price of a push, at a later instant.
  private func lookAhead(
    to instant: Timestamp, _ device: DeviceSlot, _ terms: ContiguousArray<InstanceTerms>, _ habits: ViewHabits?
  ) -> (worth: Double, price: Double) {
    let timeOfDay = zones.timeOfDay(registry.devices[device].zone, instant)
    var worth = 0.0
    var price = 0.0
    for term in terms {
      let state = registry.instances[term.instance]
      let limits = rules[state.kind].day
      let value = pendingValue(term.instance, at: instant)
      if value > 0 { worth += value * pricing.view(state.kind, timeOfDay, habits) }
      let renewed = !limits.rolling && instant >= state.day.end
      let left = renewed ? limits.perDay : ledgers.tokensLeft(state.day, of: term.instance, limits, now: now)
      price += pricing.priceAhead(term.price, state.kind, left: left, timeOfDay, habits, now: now)
    }
    return (worth, price)
  }

  /// Holds back a push that is worth its price if it is worth more at a later full hour because more people look then. The
  /// comparison includes the decay of the value until then and the price at that hour. The later gain is added to the current
  /// price, so that the decision shows why the push waits. A push does not wait beyond the end of the day, because the day's
  /// tokens cannot be kept. It does not wait either when it is urgent: relevant enough for a reserve or for an exception from
  /// quiet hours.
  private func waitForBetterHour(
    _ weighing: inout Weighing, _ device: DeviceSlot, _ trigger: InstanceSlot,
    _ terms: ContiguousArray<InstanceTerms>
  ) {
    let (kind, zone) = (registry.instances[trigger].kind, registry.devices[device].zone)
    let habits = habits(of: device)
    var end = newestCause(of: trigger).expires
    if !rules[kind].day.rolling { end = min(end, registry.instances[trigger].day.end) }
    let views = pricing.view(kind, zones.timeOfDay(zone, now), habits)
    // No hour is better than the best one.
    if habits == nil, pricing.isBestHour(kind, view: views) { return }
    var instant = nextFullHour(zone)
    var steps = 0
    while instant < end, steps < Self.hoursAheadMax {
      // The trigger alone usually decides: its value has decayed, and not enough more people look.
      let later = pricing.view(kind, zones.timeOfDay(zone, instant), habits)
      if later * Decay.factor(age: instant - now, inverseHalfLife: rules[kind].inverseHalfLife) > views {
        let ahead = lookAhead(to: instant, device, terms, habits)
        let gain = ahead.worth - ahead.price
        if gain > weighing.worth - weighing.price, ahead.worth > weighing.worth,
          !isUrgent(topRelevance(terms), kind)
        {
          weighing.price += gain
          weighing.hold(.belowPrice, until: instant)
          return
        }
      }
      instant = instant + LocalZone.hour
      steps += 1
    }
  }

  private func isUrgent(_ relevance: Float, _ kind: KindSlot) -> Bool {
    relevance >= Float(rules[kind].reserveAboveRelevance)
      || rules.policy.quietHours.map { relevance >= Float($0.exceptRelevance) } == true
  }

  /// Returns the view habits learnt from the device's own signals; nil when it sent none.
  @inline(__always)
  func habits(of device: DeviceSlot) -> ViewHabits? {
    registry.devices[device].flags.contains(.habits) ? pricing.viewHabits[device] : nil
  }
}
