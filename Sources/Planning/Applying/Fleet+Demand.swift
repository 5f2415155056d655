import Domain
import Policies

extension Fleet {
  /// Adds one visible change to the demand of an instance and of its kind.
  @inline(__always)
  mutating func learnChange(_ instance: InstanceSlot, _ device: DeviceSlot) {
    registry[demand: instance] = pricing.noteChange(
      registry.instances[instance].demand, registry.instances[instance].kind,
      zones.timeOfDay(registry.devices[device].zone, now), now: now)
  }

  /// Adds the worth of a charged push to the demand of an instance that it reloads. If the push took the last token of the day,
  /// the time until the next token is noted, too.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - worth: The worth of its reload, in looks.
  mutating func learnPush(_ instance: InstanceSlot, worth: Double) {
    assert(worth >= 0 && worth.isFinite, "prices are learnt from worths, and would never be numbers again")
    let state = registry.instances[instance]
    registry[demand: instance] = pricing.notePush(
      state.demand, state.kind, worth: worth, zones.timeOfDay(registry.devices[state.device].zone, now), now: now)
    learnDry(instance)
  }

  /// Notes the time until an instance gets its next token, if the last one of its day was just spent.
  mutating func learnDry(_ instance: InstanceSlot) {
    if let dry = dryTime(of: instance) { noteDry(instance, by: 1, dry) }
  }

  /// Gives back the token that the device's last command took from an instance, if it took one, and takes what the push was
  /// worth out of what was learnt.
  mutating func refund(_ instance: InstanceSlot) {
    let dry = dryTime(of: instance)
    guard ledgers.refund(&registry[day: instance], of: instance, now: now) else { return }
    if let dry, dryTime(of: instance) == nil { noteDry(instance, by: -1, dry) }
    let state = registry.instances[instance]
    registry[demand: instance] = pricing.noteRefund(
      state.demand, state.kind, pushedAt: registry.devices[state.device].surplus.at)
  }

  /// Notes the time for which an instance has no token of its day, or, by −1, for which it would have had none. An instance that is
  /// not counted took its hours along when it was counted out.
  private mutating func noteDry(_ instance: InstanceSlot, by change: Int32, _ dry: TimeSpan) {
    let state = registry.instances[instance]
    let timeOfDay = zones.timeOfDay(registry.devices[state.device].zone, now)
    registry[demand: instance] = pricing.dried(state.demand, by: change, state.kind, for: dry, timeOfDay)
    if registry.isInDeveloperMode(state.device) || !registry.isCounted(instance, device: state.device) { return }
    pricing.countDry(change, state.kind, for: dry, timeOfDay, now: now)
  }

  /// Returns the time until a widget or control without tokens of its day gets one again; nil if it has a token, and for
  /// activities.
  private func dryTime(of instance: InstanceSlot) -> TimeSpan? {
    let state = registry.instances[instance]
    let limits = rules[state.kind].day
    guard !state.surface.isActivity, state.day.isUpToDate(limits, now: now),
      ledgers.tokensLeft(state.day, of: instance, limits, now: now) == 0
    else { return nil }
    let dry = ledgers.refillAt(state.day, of: instance, limits, now: now) - now
    assert(dry > .zero, "a token that is not there comes later")
    return dry
  }

  // MARK: Instances

  /// Adds the instances of a device to the number over which the usual demand of each kind is averaged, or takes them out. Call
  /// it with −1 before, and with 1 after, any change that may affect which instances count.
  ///
  /// An instance counts while a push can reach it. Events for an unreachable instance are no need, and no push is made for them.
  /// So its hours would make the usual demand of the kind too small for the instances that can be reached.
  mutating func countInstances(of device: DeviceSlot, by change: Int64) {
    if registry.isInDeveloperMode(device) { return }
    let (zone, zones) = (registry.devices[device].zone, zones)
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard registry.isCounted(instance, device: device) else { continue }
      let kind = registry.instances[instance].kind
      pricing.count(change, kind, zone, now: now) { zones.timeOfDay($0, $1) }
      if let dry = dryTime(of: instance) {
        pricing.countDry(Int32(clamping: change), kind, for: dry, zones.timeOfDay(zone, now), now: now)
      }
    }
  }
}
