import Domain
import Policies

/// The longest time between two examinations of a push that is not worth its price.
private let examinationInterval = TimeSpan.minutes(10)

extension Fleet {
  /// Examines a push to a device. One push reloads, and is charged to, every instance that it reaches. So the tightest ledger
  /// governs, and the sum of the worths is compared with the sum of the prices. Other instances than the trigger do not count if they
  /// have no token because of their own timelines. `bringUpToDate` has prepared the instances.
  ///
  /// The token of an instance is priced by the need of that instance alone, although pushes for the other instances spend its
  /// tokens, too. Pricing it by the need of all of them was tried: devices that show an airport, two boards and a match then saw
  /// 4 % more wrong looks at 48 tokens a day and 8 % more at 20, because they kept tokens to the end of the day.
  /// - Parameters:
  ///   - push: The push.
  ///   - terms: Receives the terms of each instance that the push reaches, in the order of the device, in place of its former content.
  func examination(of push: PushQuestion, terms: inout ContiguousArray<InstanceTerms>) -> Examination {
    assert(registry.instances[push.trigger].device == push.device, "an instance leads to a push to its own device")
    assert(push.route == route(of: push.trigger, device: push.device), "a push goes the way of its trigger")
    terms.clear()
    var examination = Examination(question: push)
    if registry.isInDeveloperMode(push.device) { return examination }
    if push.route == .backgroundPush, !fitsBackgroundPush(push) {
      examination.outcome = .end(.payloadTooLarge)
      return examination
    }
    examination.weighing = weigh(push, &terms)
    assert(terms.contains { $0.instance == push.trigger }, "the trigger has a part in what its push is worth")
    if examination.weighing.block == nil {
      if examination.weighing.worth < examination.weighing.price {
        examination.weighing.hold(.belowPrice, until: nextExamination(push.device))
      }
    }
    if examination.weighing.block != nil { examination.outcome = .hold }
    assert(
      examination.weighing.clearAt > now, "what holds a push back ends later, or it would be examined at once again")
    return examination
  }

  /// Returns whether the names of the kinds to reload fit in a background push.
  private func fitsBackgroundPush(_ push: PushQuestion) -> Bool {
    var bytes = 64
    var walk = registry.instances(of: push.device)
    while let instance = walk.next(registry) {
      // This is an upper bound: an escaped byte takes six bytes, and a kind that several widgets share counts several times.
      // The names of 64 widgets of up to 50 bytes each always fit.
      if names(instance, push) { bytes += rules[registry.instances[instance].kind].nameBytes + 3 }
    }
    return bytes <= rules.policy.profile.payload.limit
  }

  private func weigh(_ push: PushQuestion, _ terms: inout ContiguousArray<InstanceTerms>) -> Weighing {
    let (device, route) = (push.device, push.route)
    var weighing = Weighing()
    let zone = registry.devices[device].zone
    let timeOfDay = zones.timeOfDay(zone, now)
    let habits = habits(of: device)
    var bounds = InstanceLimits()
    let isRatePriced = pricesRate(route, device)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard instance == push.trigger || reaches(instance, push) && !isSpentByTimeline(instance) else { continue }
      let state = registry.instances[instance]
      // The fields are read one by one, because a copy of the settings would retain the kind's name.
      let limits = rules[state.kind].day
      let minInterval = rules[state.kind].minInterval
      let left = ledgers.tokensLeft(state.day, of: instance, limits, now: now)
      let value = wrongness(instance)
      let faded = KindDemand.faded(state.demand, now)
      let (looks, price) = pricing.terms(
        state.demand, state.kind, left: ledgers.tokensUntilAnchor(state.day, limits, left: left), zone, timeOfDay,
        habits, faded: faded, now: now)
      assert((0...1).contains(value), "a screen is at most all wrong")
      assert(looks >= 0 && price >= 0, "neither looks nor a price can pay for a push")
      let worth = ReloadWorth.looks(distance: value, ahead: looks)
      weighing.worth += worth
      weighing.instancePrice += price
      if isRatePriced { bounds.note(need: Double(state.demand.needRecent) * faded, minInterval) }
      terms.append(InstanceTerms(instance: instance, distance: value, looks: looks, worth: worth))
      if state.lastReload != .distantPast, now < state.lastReload + minInterval {
        bounds.spacedUntil = max(bounds.spacedUntil, state.lastReload + minInterval)
      }
      if left <= 0 {
        // The day of a time zone begins for all its devices at once.
        let refill = ledgers.refillAt(state.day, of: instance, limits, now: now)
        bounds.budgetUntil = max(bounds.budgetUntil, limits.rolling ? refill : refill + device.spread)
      } else if limits.reserveTokens > 0, left <= ledgers.reserved(state.day, limits, now: now) {
        bounds.reserveHeld = true
      }
    }
    if isRatePriced {
      weighing.ratePrice = ratePrice(route, device, recentNeed: bounds.recentNeed, minInterval: bounds.minInterval)
    }
    assert(weighing.worth >= 0 && weighing.worth.isFinite, "a worth that is no number compares as less than any price")
    assert(weighing.price >= 0, "no price pays for a push")
    apply(bounds, to: &weighing, device, route, terms)
    return weighing
  }

  /// The limits of single instances, combined over all instances that a push reaches.
  private struct InstanceLimits {
    var spacedUntil = Timestamp.distantPast
    var budgetUntil = Timestamp.distantPast
    var reserveHeld = false
    /// The need of all these instances, in visible changes, in the fading memory of the last two hours.
    var recentNeed = 0.0
    /// The longest minimum interval between two reloads among these instances.
    var minInterval = TimeSpan.zero

    mutating func note(need: Double, _ interval: TimeSpan) {
      recentNeed += need
      minInterval = max(minInterval, interval)
    }
  }

  /// Applies the hard limits, in the order of `Reason`.
  @inline(__always)
  private func apply(
    _ limits: InstanceLimits, to weighing: inout Weighing, _ device: DeviceSlot, _ route: Route,
    _ terms: ContiguousArray<InstanceTerms>
  ) {
    if let quiet = rules.policy.quietHours, let end = zones.quietEnd(registry.devices[device].zone),
      topRelevance(terms) < Float(quiet.exceptRelevance)
    {
      weighing.hold(.quietHours, until: end + spread(device, after: quiet))
    }
    if limits.spacedUntil != .distantPast { weighing.hold(.minInterval, until: limits.spacedUntil) }
    if limits.budgetUntil != .distantPast { weighing.hold(.budgetInstance, until: limits.budgetUntil) }
    let rate = ledgers.rate(route.rate)
    let state = registry[rate: route, device]
    if !rate.admits(state, now: now) {
      let reason = route.rate.traits.isShared ? Reason.budgetDevice : .budgetInstance
      weighing.hold(reason, until: rate.availableAt(state))
    }
    if ledgers.apps.tokensLeft(registry.devices[device].app, now: now) == 0 {
      weighing.hold(.budgetApp, until: Timestamp(microseconds: 0) + LocalZone.day * (AppTable.day(of: now) + 1))
    }
    if limits.reserveHeld, let until = reserveUntil(device, terms) { weighing.hold(.reserveHeld, until: until) }
  }

  /// Returns the relevance of the most relevant cause that the push would deliver.
  private func topRelevance(_ terms: ContiguousArray<InstanceTerms>) -> Float {
    var top: Float = 0
    for term in terms {
      var causes = pending.causes(of: registry.instances[term.instance].waiting)
      while let cause = causes.next(pending) { top = max(top, registry.relevance(of: pending.causes[cause])) }
    }
    assert((0...1).contains(top), "nothing is more relevant than 1, at which a reserve and quiet hours give way")
    return top
  }

  /// Returns the time at which every reserve that holds the push back has released a token; nil when the waiting causes are
  /// relevant enough for all of them.
  ///
  /// A reserve that holds all tokens may release them in quiet hours only, and be whole again when these end. The end of the quiet
  /// hours is returned then, so that the push does not change between two reasons every day.
  private func reserveUntil(_ device: DeviceSlot, _ terms: ContiguousArray<InstanceTerms>) -> Timestamp? {
    let top = topRelevance(terms)
    var until: Timestamp?
    var isWhole = false
    for instance in terms.lazy.map(\.instance) {
      let day = registry.instances[instance].day
      let settings = rules[registry.instances[instance].kind]
      if settings.day.reserveTokens > 0, top < Float(settings.reserveAboveRelevance),
        ledgers.tokensLeft(day, of: instance, settings.day, now: now)
          <= ledgers.reserved(day, settings.day, now: now)
      {
        until = max(
          until ?? .distantPast, ledgers.reserveReleaseAt(day, of: instance, settings.day, now: now))
        isWhole = isWhole || settings.day.wholeReserve >= settings.day.perDay
      }
    }
    guard isWhole, let release = until, release <= Self.latestTime, let quiet = rules.policy.quietHours,
      top < Float(quiet.exceptRelevance), let end = zones.quietEnd(registry.devices[device].zone, at: release)
    else { return until }
    return end + spread(device, after: quiet)
  }

  // MARK: The next examination

  /// Returns the time at which a push that is not worth its price is examined again: in ten minutes, or up to ten minutes after
  /// the next full hour, at which the expected looks change. While no screen changes, the worth follows the expected looks alone,
  /// and the price falls slowly.
  func nextExamination(_ device: DeviceSlot) -> Timestamp {
    let hour = now - zones.timeOfDay(registry.devices[device].zone, now).pastHour + LocalZone.hour
    let soon = now + examinationInterval
    return soon < hour ? soon : hour + device.spread
  }

  /// Returns `DeviceSlot.spread`, or less where quiet hours leave a shorter time until they begin again.
  private func spread(_ device: DeviceSlot, after quiet: QuietHours) -> TimeSpan {
    let open = (quiet.fromMinute - quiet.toMinute + 1440) % 1440
    return TimeSpan(microseconds: device.spread.microseconds % TimeSpan.minutes(Int64(max(1, open))).microseconds)
  }

  /// Returns the newest cause that waits on an instance. At least one cause must wait on it.
  func newestCause(of instance: InstanceSlot) -> Cause {
    pending.causes[pending[registry.instances[instance].waiting].lastCause]
  }

  /// Returns the view habits learnt from the device's own signals; nil when it sent none.
  func habits(of device: DeviceSlot) -> ViewHabits? {
    registry.devices[device].flags.contains(.habits) ? pricing.viewHabits[device] : nil
  }
}

extension DeviceSlot {
  /// A delay of up to ten minutes, always the same for a device, so that the devices of a time zone are not all examined
  /// at once.
  var spread: TimeSpan {
    var hash = Hash64()
    hash.add(UInt64(number))
    return TimeSpan(microseconds: Int64(hash.value % UInt64(examinationInterval.microseconds)))
  }
}
