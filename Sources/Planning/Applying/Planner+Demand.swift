import Domain
import Policies

extension Planner {
  /// Learns what a charged push brings to an instance that it reloads, and whether it took the last token of the day.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - worth: The worth of its reload, in looks.
  mutating func learnPush(_ instance: InstanceSlot, worth: Double) {
    let state = registry.instances[instance]
    let timeOfDay = zones.timeOfDay(registry.devices[state.device].zone, now)
    var demand = pricing.notePush(state.demand, state.kind, worth: worth, timeOfDay, now: now)
    if let dry = dryTime(of: instance) {
      demand = pricing.ranDry(demand, state.kind, for: dry, timeOfDay, now: now)
    }
    registry[demand: instance] = demand
  }

  /// Gives back the token that the device's last command took from an instance, if it took one.
  /// - Returns: Whether it did.
  mutating func refund(_ instance: InstanceSlot) -> Bool {
    let dry = dryTime(of: instance)
    guard ledgers.refund(&registry[day: instance], of: instance, now: now) else { return false }
    if let dry, dryTime(of: instance) == nil {
      let state = registry.instances[instance]
      registry[demand: instance] = pricing.refilled(
        state.demand, state.kind, for: dry, zones.timeOfDay(registry.devices[state.device].zone, now), now: now)
    }
    return true
  }

  /// Returns the time for which an instance has no token of its day; nil if it has one.
  private func dryTime(of instance: InstanceSlot) -> TimeSpan? {
    let state = registry.instances[instance]
    let limits = rules[state.kind].day
    guard !state.surface.isActivity, state.day.isUpToDate(limits, now: now),
      ledgers.tokensLeft(state.day, of: instance, limits, now: now) == 0
    else { return nil }
    return ledgers.refillAt(state.day, of: instance, limits, now: now) - now
  }

  // MARK: Instances

  /// Counts the instances of a device whose hours count in or out, before and after anything that may change them.
  ///
  /// An instance counts while a push can reach it. The changes that come to another one are no need, and no push is made for them, so
  /// its hours would make the usual demand of the kind too small for those that can be reached.
  mutating func countInstances(of device: DeviceSlot, by change: Int64) {
    if isInDeveloperMode(device) { return }
    let (zone, zones) = (registry.devices[device].zone, zones)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard isCounted(instance, device: device) else { continue }
      let kind = registry.instances[instance].kind
      pricing.count(change, kind, zone, now: now) { zones.timeOfDay($0, $1) }
      if let dry = dryTime(of: instance) {
        pricing.countDry(Int32(clamping: change), kind, for: dry, zones.timeOfDay(zone, now), now: now)
      }
    }
  }

  /// Returns whether the hours of an instance count, unless its device is in developer mode: whether it is registered, and has a
  /// token to which a push can be sent.
  func isCounted(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    !registry.instances[instance].flags.contains(.retired) && hasToken(instance, device: device)
  }
}
