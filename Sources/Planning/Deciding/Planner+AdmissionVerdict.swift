import Domain
import Policies

extension Planner {
  /// Checks the current event for one instance, in the order of `Reason`. The first check that holds gives the reason.
  @inline(__always)
  func admission(entry: EntrySlot, instance: InstanceSlot, device: DeviceSlot) -> Admission {
    var admission = Admission()
    switch record.fanOut.standing {
    case .duplicate: return suppressed(admission, .duplicate)
    // An event that is too old reaches no instance.
    case .stale, .tooOld: return suppressed(admission, .staleEvent)
    case .fresh: break
    }
    let kind = registry.instances[instance].kind
    let evaluation = record.fanOut.evaluations[kind.index]
    guard evaluation.hasRule else { return suppressed(admission, .noMatch) }
    let (shown, current) = show(evaluation.displayed, entry)
    admission.current = current
    // The event is too old to be pushed, but `current` above already has the state that it reports.
    if now - record.fanOut.time > evaluation.maxAge { return suppressed(admission, .staleEvent) }
    if evaluation.relevance <= 0 { return suppressed(admission, .cosmetic) }
    if shown {
      admission.effect = .supersede
      return suppressed(admission, .notVisible)
    }
    if case .unreachable(let reason) = route(of: instance, device: device) { return suppressed(admission, reason) }
    if !rules[kind].enabled { return suppressed(admission, .kindDisabled) }
    if let reason = freeAnyway(instance, device: device) {
      admission.effect = .freshen
      return suppressed(admission, reason)
    }
    if isPushedNow(instance, device: device) {
      admission.effect = .joinPush
      admission.arrives = true
      return suppressed(admission, .emittedCoalesced)
    }
    let waiting = registry.instances[instance].waiting
    admission.isRepeat = evaluation.displayed != nil && current == nil && pending.hasValue(waiting, by: entry)
    admission.value =
      pendingValue(instance, at: now) + Double(admission.isRepeat ? 0 : evaluation.relevance)
    admission.arrives = !admission.isRepeat && !isInDeveloperMode(device)
    if admission.arrives, admission.value < rules[kind].floor { return suppressed(admission, .belowFloor) }
    return admission
  }

  @inline(__always)
  private func suppressed(_ admission: Admission, _ reason: Reason) -> Admission {
    var admission = admission
    admission.reason = reason
    return admission
  }

  /// Compares what an entry shows with what it would show after the event.
  /// - Parameters:
  ///   - displayed: The event's change; nil when the policy does not list the displayed fields of the kind.
  ///   - entry: The interest entry.
  /// - Returns: Whether both look the same, and the new fingerprint; nil when the event does not change it.
  @inline(__always)
  func show(_ displayed: DisplayedChange?, _ entry: EntrySlot) -> (isShown: Bool, current: UInt64?) {
    guard let displayed else { return (false, nil) }
    let known = registry.entries[entry]
    let current = displayed.applied(to: known.current)
    return (known.shown != 0 && known.shown == current, current == known.current ? nil : current)
  }

  /// Returns the reason why a change reaches the screen without a push; nil when it does not.
  @inline(__always)
  private func freeAnyway(_ instance: InstanceSlot, device: DeviceSlot) -> Reason? {
    if registry.instances[instance].surface == .widget, isForeground(device) { return .appForeground }
    guard let next = registry.nextReload(instance), next >= now,
      next - now <= rules[registry.instances[instance].kind].imminentReload
    else { return nil }
    return .reloadImminent
  }

  /// Returns whether the device's last command reloaded the instance at the current log time.
  @inline(__always)
  private func isPushedNow(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    registry.devices[device].lastCommand.offset >= firstOffsetNow && registry.instances[instance].day.chargedByLast
  }

  /// Returns whether the device's app is in the foreground.
  @inline(__always)
  func isForeground(_ device: DeviceSlot) -> Bool {
    guard let since = registry.foregroundSince(device) else { return false }
    return now - since < bounds.foregroundMax
  }

  @inline(__always)
  func isInDeveloperMode(_ device: DeviceSlot) -> Bool {
    registry.devices[device].flags.contains(.developerMode)
  }

  /// Returns the worth of all causes that wait on the instance, decayed to an instant, without the chance that somebody looks.
  @inline(__always)
  func pendingValue(_ instance: InstanceSlot, at instant: Timestamp) -> Double {
    pending.value(
      registry.instances[instance].waiting, at: instant,
      inverseHalfLife: rules[registry.instances[instance].kind].inverseHalfLife)
  }
}
