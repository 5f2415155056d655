import Domain
import Policies

extension Fleet {
  /// See `Planner.sweep(_:at:)`.
  func sweep(_ sweep: inout ScreenSweep, at instant: Timestamp) -> ScreenFigures? {
    while sweep.kinds.count < rules.kinds.count { sweep.kinds.append(ScreenFigures.Kind()) }
    var visited = 0
    while visited < ScreenSweep.sliceMax {
      guard let device = sweep.next(slots: registry.devices.capacity) else {
        return sweep.finish { (rules[$0].name, rules[$0].objective) }
      }
      visited += 1
      if device.isAbsent || !registry.devices[device].flags.contains(.used) || registry.isInDeveloperMode(device) {
        continue
      }
      visited += visit(device, &sweep.kinds, at: max(instant, now))
    }
    return nil
  }

  /// Adds the instances of a device to the figures.
  ///
  /// - Returns: The number of instances that the device has.
  private func visit(
    _ device: DeviceSlot, _ kinds: inout ContiguousArray<ScreenFigures.Kind>, at instant: Timestamp
  ) -> Int {
    let timeOfDay = zones.timeOfDay(registry.devices[device].zone, now)
    let habits = habits(of: device)
    var visited = 0
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      visited += 1
      let state = registry.instances[instance]
      let kind = state.kind
      if state.surface.isActivity, rules[kind].isDecided {
        var zombies: [Zombie] = []
        addZombies(of: instance, to: &zombies)
        kinds[kind.index].zombies += zombies.count
      }
      guard !state.surface.isActivity, rules[kind].isDecided, registry.isCounted(instance, device: device) else {
        continue
      }
      let day = dayNow(instance)
      let price = pricing.tokenPrice(day.demand, kind, left: day.untilAnchor, timeOfDay, habits, now: now)
      kinds[kind.index].instances += 1
      kinds[kind.index].tokensLeft += day.left
      kinds[kind.index].changesExpected += price.need
      kinds[kind.index].worthExpected += price.worth
      kinds[kind.index].tokenPrices += price.looks
      // A scheduled reload whose time has passed has shown everything: what came after it would have noted it.
      if let reload = registry.nextReload(instance), reload <= now { continue }
      let wrong = wrongness(instance)
      if wrong <= 0 { continue }
      let looks = pricing.looks(ahead: timeOfDay, kind, habits)
      kinds[kind.index].worthPending += ReloadWorth.looks(distance: wrong, ahead: looks)
      let age = max(.zero, instant - wrongSince(instance, at: instant))
      kinds[kind.index].noteWrong(age: Double(age.microseconds) / 1e6)
      guard let objective = rules[kind].objective else { continue }
      if wrong >= objective.wrongAtLeast, age > objective.freshWithin { kinds[kind.index].late += 1 }
    }
    return visited
  }

  /// Returns the tokens of an instance and its demand as they are now, also if its budget day is over and nothing has begun the next
  /// one yet. `bringDayUpToDate` does the same for good.
  private func dayNow(_ instance: InstanceSlot) -> (left: Int, untilAnchor: Int, demand: DemandState) {
    let state = registry.instances[instance]
    let limits = rules[state.kind].day
    if state.day.isUpToDate(limits, now: now) {
      let left = ledgers.tokensLeft(state.day, of: instance, limits, now: now)
      return (left, ledgers.tokensUntilAnchor(state.day, limits, left: left), state.demand)
    }
    // The way of counting has changed, and the day goes on.
    if now < state.day.end {
      let left = max(0, limits.perDay - Int(state.day.spent))
      return (left, left, state.demand)
    }
    let charges = limits.rolling && state.day.isRolling ? ledgers.rolling.count(instance, now: now) : 0
    let left = max(0, limits.perDay - charges)
    if state.day.end.microseconds <= 0 { return (left, limits.perDay, state.demand) }
    let idle = Int((now - state.day.end).microseconds / LocalZone.day.microseconds)
    return (left, limits.perDay, pricing.dayEnded(state.demand, state.kind, idle: idle))
  }

  /// Returns the instant since which an instance has shown something wrong, at the latest: the arrival of the oldest event that waits, or,
  /// if none waits, the newest change of the subjects about which the screen is wrong. Events that have expired are not known any
  /// longer, so the screen may have been wrong for longer.
  ///
  /// - Parameters:
  ///   - instance: An instance whose screen is wrong.
  ///   - instant: The result if nothing is known.
  private func wrongSince(_ instance: InstanceSlot, at instant: Timestamp) -> Timestamp {
    let state = registry.instances[instance]
    if let first = pending[state.waiting].firstCause.ifPresent { return pending.causes[first].at }
    var since = Timestamp.distantFuture
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard registry[screen: entry].distance > 0, let change = lastChange(state.kind, entry) else { continue }
      since = min(since, change)
    }
    if since == .distantFuture { return state.lastReload == .distantPast ? instant : state.lastReload }
    return max(since, state.lastReload)
  }
}
