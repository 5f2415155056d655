import Domain
import Policies

extension Fleet {
  /// Checks the current event for one instance, in the order of `Reason`. The first check that holds gives the reason.
  @inline(__always)
  func admission(
    of event: borrowing EventInHand, _ displayed: DisplayedChange?, entry: EntrySlot, instance: InstanceSlot,
    device: DeviceSlot
  ) -> Admission {
    assert(registry.instances[instance].device == device, "an instance is decided with its own device")
    assert(registry.entries[entry].instance == instance, "an entry leads to its own instance")
    assert(!registry.instances[instance].surface.isActivity, "an activity is decided by `activityVerdict`")
    assert(!registry.instances[instance].flags.contains(.retired), "an instance that was taken off listens to nothing")
    var admission = Admission(relevance: relevance(of: event, entry, instance))
    switch event.standing {
    case .duplicate: return admission.suppressed(.duplicate)
    // An event that is no longer remembered may still wait, and has its final decision before it.
    case .stale: return admission.suppressed(isWaiting(event, on: instance) ? .duplicate : .staleEvent)
    case .fresh: break
    }
    let kind = registry.instances[instance].kind
    let evaluation = event.evaluations[kind.index]
    guard evaluation.hasRule else { return admission.suppressed(.noMatch) }
    // An event that carries no displayed field can only be news.
    let isNews = evaluation.truth >= 0 && !event.truths[evaluation.truth].isCarried
    // The event changes what the entry shows field by field, if the entry's key is the subject.
    let isState =
      evaluation.truth >= 0 && !isNews && registry.entries[entry].interest == event.subjectInterest
    var shown = false
    if isState {
      admission.distance = distance(after: event, entry, kind)
      shown = admission.distance == 0
    } else if !isNews {
      (shown, admission.current) = registry[screen: entry].compare(displayed)
    }
    // Causes that wait for a screen that is right by now have been overtaken, whatever becomes of the event.
    if shown { admission.effect = .supersede }
    // The event is too old to be pushed, but `current` above already has the state that it reports.
    if now - event.time > evaluation.maxAge { return admission.suppressed(.staleEvent) }
    if evaluation.isRelevanceStated, admission.relevance <= 0 { return admission.suppressed(.cosmetic) }
    if !isState, admission.relevance <= 0 { return admission.suppressed(.notVisible) }
    if shown { return admission.suppressed(.notVisible) }
    if case .unreachable(let reason) = route(of: instance, device: device) { return admission.suppressed(reason) }
    if !rules[kind].enabled { return admission.suppressed(.kindDisabled) }
    if let reason = freeAnyway(instance, device: device) {
      admission.effect = .freshen
      return admission.suppressed(reason)
    }
    if isPushedNow(instance, device: device) {
      admission.effect = .joinPush
      admission.arrives = true
      return admission.suppressed(.emittedCoalesced)
    }
    if isState {
      // The state says how wrong the screen is. The event itself adds no news.
      admission.isRepeat = true
      admission.arrives = admission.distance != registry[screen: entry].distance && !registry.isInDeveloperMode(device)
      admission.value = pendingValue(instance, at: now)
      return admission
    }
    let waiting = registry.instances[instance].waiting
    admission.isRepeat =
      !isNews && evaluation.truth >= 0 && admission.current == nil && pending.hasValue(waiting, by: entry)
    var screen = ScreenDistance(right: 1 - pendingValue(instance, at: now))
    if !admission.isRepeat { screen.add(Double(admission.relevance)) }
    admission.value = screen.value
    assert((0...1).contains(admission.value), "news makes a screen at most all wrong")
    admission.arrives = !admission.isRepeat && !registry.isInDeveloperMode(device)
    return admission
  }

  /// Returns the relevance of the current event for an instance, 0…1.
  @inline(__always)
  func relevance(of event: borrowing EventInHand, _ entry: EntrySlot, _ instance: InstanceSlot) -> Float {
    let kind = registry.instances[instance].kind
    return event.evaluations[kind.index].comparesWithShown
      ? relevanceBesideShown(event, entry, instance) : event.evaluations[kind.index].relevance
  }

  /// Returns the relevance of the event by a rule that compares it with what the screen shows. Where that is not known field by field,
  /// the state of the subject before the event stands for it: for boards, feeds and Live Activities, and for widgets that have just been
  /// placed.
  @inline(never)
  private func relevanceBesideShown(
    _ event: borrowing EventInHand, _ entry: EntrySlot, _ instance: InstanceSlot
  ) -> Float {
    let kind = registry.instances[instance].kind
    let (display, truth) = (rules[kind].display, event.evaluations[kind.index].truth)
    guard let content = event.content,
      let formula = event.comparisons.first(where: { $0.kind == kind })?.formula
    else { preconditionFailure("a rule that compares has a formula while its event is decided") }
    assert(truth >= 0, "what is compared with a screen is a displayed state")
    var shown = Array(event.values[event.truths[truth].before])
    if registry.entries[entry].interest == event.subjectInterest,
      let row = screens.row(registry[screen: entry], head: display.rowHead)
    {
      for field in shown.indices { shown[field] = screens[row, field] }
    }
    return Float(formula.evaluate(content, shown: shown, display.fields))
  }

  /// Returns whether the current event waits on an instance already. The id alone tells: of two events with one id, from different
  /// sources, only decisions that name no source could be confused.
  private func isWaiting(_ event: borrowing EventInHand, on instance: InstanceSlot) -> Bool {
    guard hasPending(instance), let id = event.content?.id else { return false }
    var walk = pending.causes(of: registry.instances[instance].waiting)
    while let cause = walk.next(pending) {
      if pending.events[pending.causes[cause].event].id == id { return true }
    }
    return false
  }

  /// Returns how wrong an entry's screen is after the event, 0…1. A screen of which nothing is known is taken to show the state
  /// before the event, because a widget fetches the current state when it is placed.
  @inline(__always)
  private func distance(after event: borrowing EventInHand, _ entry: EntrySlot, _ kind: KindSlot) -> Float {
    let place = event.evaluations[kind.index].truth
    assert(place >= 0, "the event has a state that the kind displays")
    guard let row = screens.row(registry[screen: entry], head: rules[kind].display.rowHead) else {
      return event.truths[place].difference
    }
    let after = event.values.span.extracting(event.truths[place].after)
    return Float(screens.distance(row, after, rules[kind].display.fields))
  }

  /// Returns how wrong an instance's screen is now, by its state and by the news that waits, 0…1.
  @inline(__always)
  func wrongness(_ instance: InstanceSlot) -> Double {
    var screen = registry.difference(of: instance)
    screen.add(pendingValue(instance, at: now))
    return screen.value
  }

  /// Returns the reason why a change reaches the screen without a push; nil when it does not.
  @inline(__always)
  func freeAnyway(_ instance: InstanceSlot, device: DeviceSlot) -> Reason? {
    if registry.instances[instance].surface == .widget, isForeground(device) { return .appForeground }
    guard let next = registry.nextReload(instance), next >= now,
      next - now <= rules[registry.instances[instance].kind].imminentReload
    else { return nil }
    return .reloadImminent
  }

  /// Returns whether the device's last command reloaded the instance at the instant of the current record. False for a record
  /// whose timestamp lies before the log time, because its own instant is an earlier one.
  @inline(__always)
  private func isPushedNow(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    if record.isLate { return false }
    return registry.devices[device].lastCommand.offset >= firstOffsetNow
      && registry.instances[instance].day.chargedByLast
  }

  /// Returns whether the device's app is in the foreground.
  @inline(__always)
  func isForeground(_ device: DeviceSlot) -> Bool {
    guard let since = registry.foregroundSince(device) else { return false }
    return now - since < bounds.foregroundMax
  }

  /// Returns how wrong the waiting news makes the instance's screen, 0…1, faded by the kind's half-life until an instant.
  @inline(__always)
  func pendingValue(_ instance: InstanceSlot, at instant: Timestamp) -> Double {
    pending.value(
      registry.instances[instance].waiting, at: instant,
      inverseHalfLife: rules[registry.instances[instance].kind].inverseHalfLife)
  }
}
