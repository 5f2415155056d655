import Domain
import Policies

/// The reloads of a widget that no push led to, and the tokens that they cost.
///
/// The platform's number of reloads a day holds for all of them, whoever asks, where the profile says so. Each reload costs one token
/// of its instance, as long as the instance has one. Nothing else is charged: no device, no app.
extension Fleet {
  /// The longest time from a known reload to the fetch that is taken as its own, and between a fetch and the scheduled reload that
  /// it is taken as. A push is not worth sending for longer than this (`PlannerBounds.commandLifetime`).
  private static let fetchWindow = TimeSpan.minutes(15)

  /// Charges the reload that a fetch tells of, unless a push explains it or its cause is free. Call it before the fetch is noted as the
  /// last reload.
  ///
  /// - Parameters:
  ///   - instance: A widget.
  ///   - instant: The log time of the fetch.
  ///   - cause: The cause that the signal states; nil if it states none.
  mutating func chargeFetch(_ instance: InstanceSlot, at instant: Timestamp, cause: Signal.FetchCause?) {
    let (flags, last) = (registry.instances[instance].flags, registry.instances[instance].lastReload)
    switch cause {
    case .intent, .foreground, .session, .system: return
    case .push: return registry.set(.awaitsPush, false, instance)
    case .timeline:
      if flags.contains(.awaitsTimeline), instant <= last + Self.fetchWindow {
        return registry.set(.awaitsTimeline, false, instance)
      }
    case nil:
      // A fetch before the last reload comes late. It may belong to any reload before that.
      if last != .distantPast, instant < last { return }
      let awaited = [InstanceState.Flags.awaitsTimeline, .awaitsPush].first { flags.contains($0) }
      if let awaited, instant <= last + Self.fetchWindow { return registry.set(awaited, false, instance) }
      registry.set(.awaitsPush, false, instance)
    }
    registry.set(.awaitsTimeline, false, instance)
    if let scheduled = registry.nextReload(instance), scheduled <= instant + Self.fetchWindow {
      registry.set(nextReload: nil, instance)
      // A reload that was due long before the fetch is another one.
      if scheduled < instant - Self.fetchWindow { chargeReload(instance, at: scheduled) }
    }
    chargeReload(instance, at: instant)
  }

  /// Charges the reload of a widget's own timeline that was scheduled for an instant and has come. A fetch may still tell of it. Call it
  /// before it is noted as the last reload.
  mutating func chargeScheduledReload(_ instance: InstanceSlot, at instant: Timestamp) {
    // After a later reload, the next fetch tells of that one.
    if registry.instances[instance].lastReload <= instant { registry.set(.awaitsTimeline, true, instance) }
    chargeReload(instance, at: instant)
  }

  private mutating func chargeReload(_ instance: InstanceSlot, at instant: Timestamp) {
    let device = registry.instances[instance].device
    guard rules.policy.profile.timelineReloads.areCharged, registry.instances[instance].surface == .widget,
      !registry.isInDeveloperMode(device), !wasForeground(device, at: instant)
    else { return }
    bringDayUpToDate(instance)
    // A reload of an earlier budget day takes no token of this one.
    guard instant >= registry.instances[instance].day.end - LocalZone.day, tokensLeft(instance) > 0 else { return }
    let limits = rules[registry.instances[instance].kind].day
    ledgers.chargeTimeline(&registry[day: instance], of: instance, limits, now: now)
    assert(tokensLeft(instance) >= 0, "a reload of its own takes a token only where there is one")
    learnDry(instance)
    touch(device)
  }

  /// Returns whether the device's app was in the foreground at an earlier instant, as far as it is known: since it came there.
  private func wasForeground(_ device: DeviceSlot, at instant: Timestamp) -> Bool {
    guard isForeground(device), let since = registry.foregroundSince(device) else { return false }
    return since <= instant
  }

  /// Returns whether an instance has no token left because its own timeline took some of its day's. A push for other instances need not
  /// wait for it: the system does not reload it, and the push does not charge it.
  @inline(__always)
  func isSpentByTimeline(_ instance: InstanceSlot) -> Bool {
    registry.instances[instance].day.chargedByTimeline && hasNoToken(instance)
  }

  private func hasNoToken(_ instance: InstanceSlot) -> Bool {
    let state = registry.instances[instance]
    return state.day.isUpToDate(rules[state.kind].day, now: now) && tokensLeft(instance) <= 0
  }
}
