extension Fleet {
  /// See `Planner.census`.
  var census: PlannerCensus {
    var census = PlannerCensus()
    census.devices = registry.devices.liveCount
    census.instances = registry.instances.liveCount
    var retired: [DeviceSlot: Int] = [:]
    for instance in registry.instances.values where instance.flags.isSuperset(of: [.used, .retired]) {
      retired[instance.device, default: 0] += 1
    }
    census.retiredPerDevice = retired.values.max() ?? 0
    census.causes = pending.causes.liveCount
    census.causesPerInstance = pending.causesPerInstance
    census.events = pending.events.liveCount
    census.waiting = pending.waitingCount
    census.timers = pending.timerCount
    census.startsPerToken = registry.addressed.values.reduce(0) { max($0, $1.subjects.count) }
    census.chargesPerInstance = ledgers.rolling.longest
    census.truths = subjects.slots.values.count { $0.newest.items.holdsValues || $0.newest.hasContent }
    census.subjects = subjects.count - census.truths
    census.subjectHashes = subjects.eventCount + subjects.valueCount
    (census.deviceChunks, census.noteChunks) = (stateExtent.deviceChunks, stateExtent.noteChunks)
    census.kinds = rules.kinds.count
    census.apps = ledgers.apps.liveCount
    census.strays = strays
    census.changedDevices = journal.devices.count + journal.removedDevices.count
    return census
  }

  private var strays: Int {
    registry.nextReloads.keys.count { !registry.isUsed($0) } + registry.addressed.keys.count { !registry.isUsed($0) }
      + ledgers.rolling.instances.count { !registry.isUsed($0) }
      + registry.rareStates.keys.count { !registry.isUsed($0) }
      + pricing.viewHabits.keys.count { !registry.isUsed($0) } + strayApps
  }

  private var strayApps: Int {
    var named: Set<AppSlot> = []
    for device in registry.devices.values where device.flags.contains(.used) { named.insert(device.app) }
    return ledgers.apps.slotByID.values.count { slot in
      !named.contains(slot) && !ledgers.apps[slot].hasCounted(today: AppTable.day(of: now))
    }
  }
}
