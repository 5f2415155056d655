import Domain
import Policies

extension Fleet {
  /// Sets the log time of the instance's next examination.
  @inline(__always)
  mutating func setDue(_ instance: InstanceSlot, _ due: Timestamp) {
    let order = registry.instances[instance].order
    // The value is taken out and put back: an address inside the table would cost a call each way.
    var waiting = registry.instances[instance].waiting
    pending.setDue(&waiting, due, instance: instance, order: order)
    registry[waiting: instance] = waiting
    if pending.hasOutdatedTimers { removeOutdatedTimers() }
  }

  private mutating func removeOutdatedTimers() {
    let instances = registry.instances
    pending.removeOutdatedTimers { (instances[$0].waiting, instances[$0].order) }
  }

  /// Fires the timers that are due.
  /// - Parameters:
  ///   - event: The event in hand: none, because timers fire before the event of their record is taken in hand.
  ///   - visit: Receives what is found out about each device.
  ///   - output: Receives the decisions and commands.
  ///   - decisionsMax: The approximate number of decisions to make at most.
  /// - Returns: Whether nothing is due any more.
  mutating func fireTimers(
    _ event: borrowing EventInHand, _ visit: inout DeviceVisit, into output: inout PlannerOutput, decisionsMax: Int
  ) -> Bool {
    // The number of timers for which everything was prefetched.
    var ahead = 0
    while let due = pending.nextTimer, due <= now {
      if output.decisions.count >= decisionsMax { return false }
      if ahead == 0 { ahead = prefetchDueTimers() }
      ahead -= 1
      guard let timer = pending.takeTimer(now: now) else { return true }
      let instance = timer.instance
      let state = registry.instances[instance]
      // The entry may belong to an instance that had the slot before, with the same time and another place in the order.
      guard pending[state.waiting].armedAt == timer.due, state.order == timer.order, state.flags.contains(.used)
      else { continue }
      assert(timer.due <= now, "no timer fires early")
      if pending.fire(state.waiting, timer) {
        fire(instance, event, &visit, into: &output)
        pending.settle(&registry[waiting: instance])
      } else {
        setDue(instance, pending[state.waiting].due)
      }
    }
    return true
  }

  /// The time by which `postpone` puts off an examination.
  private static let postponement = TimeSpan.hours(1)

  /// Sets the timer of an instance to a later time instead of examining a push.
  private mutating func postpone(_ instance: InstanceSlot) {
    var due = now + Self.postponement
    if !registry.instances[instance].surface.isActivity {
      guard isOpen(instance) else { return }
      due = min(due, nextExpiry(instance))
    }
    setDue(instance, due)
  }

  /// Ends the causes that have expired. While the screen is wrong about a subject, the newest cause that came by its key
  /// stays although it has expired, so that the wrong screen is still examined.
  private mutating func endExpired(_ instance: InstanceSlot, into output: inout PlannerOutput) {
    guard nextExpiryIsDue(instance) else { return }
    let (now, kept) = (now, newestCausesOfWrong(instance))
    endCauses(of: instance, .expired, into: &output) { cause in
      guard cause.expires <= now else { return false }
      return kept[cause.entry].map { !$0.isSame(as: cause) } ?? true
    }
  }

  private func nextExpiryIsDue(_ instance: InstanceSlot) -> Bool {
    hasPending(instance) && pending.earliestExpiry(registry.instances[instance].waiting) <= now
  }

  /// Returns whether the screen is right by now although causes wait, so that a push would show nothing new.
  func isOvertaken(_ instance: InstanceSlot) -> Bool {
    let entry = newestCause(of: instance).entry
    return (entry.isAbsent || !registry[screen: entry].row.isAbsent) && wrongness(instance) <= 0
  }

  /// Returns the time at which the next cause of an instance expires; the distant future if none will.
  func nextExpiry(_ instance: InstanceSlot) -> Timestamp {
    pending.nextExpiry(registry.instances[instance].waiting, after: now)
  }

  private mutating func fire(
    _ instance: InstanceSlot, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    let device = registry.instances[instance].device
    touch(device)
    if registry.instances[instance].flags.contains(.retired) {
      purge(retired: instance)
      return
    }
    bringDayUpToDate(instance)
    if registry.instances[instance].surface.isActivity {
      if record.postponesTimers { postpone(instance) } else { fireActivity(instance, into: &output) }
      return
    }
    noteOwnReload(instance, into: &output)
    endExpired(instance, into: &output)
    if record.postponesTimers { postpone(instance) }
    guard isOpen(instance), !record.postponesTimers else { return }
    let settings = rules[registry.instances[instance].kind]
    if settings.policyIndex == nil { return endAllCauses(of: instance, .noMatch, into: &output) }
    if settings.isDisabled { return endAllCauses(of: instance, .kindDisabled, into: &output) }
    if case .unreachable(let reason) = route(of: instance, device: device) {
      return endAllCauses(of: instance, reason, into: &output)
    }
    guard hasPending(instance) else { return catchUp(instance, device, event, &visit, into: &output) }
    if isOvertaken(instance) { return endAllCauses(of: instance, .superseded, into: &output) }
    if pushesForWrongToo(device, trigger: instance, event, &visit, into: &output) { return }
    examine(question(device, trigger: instance), fromTimer: true, event, &visit, into: &output)
  }

  // MARK: Catching up

  /// The delay between the refund of a push and the next examination of the screens that it should have reloaded. APNs would
  /// refuse the next push, too, until the cause is repaired, and a sender that is late must not get more to send.
  private static let refundPause = TimeSpan.hours(1)

  /// The delay between a registration that makes an instance reachable and the examination of its screen. The app that registers
  /// is running, and often signals a moment later that it is in the foreground, where reloads are free.
  private static let registrationPause = TimeSpan.minutes(1)

  /// Returns whether an instance needs a push, because an event waits or its screen is wrong.
  private func isOpen(_ instance: InstanceSlot) -> Bool {
    hasPending(instance) || registry.difference(of: instance).value > 0
  }

  /// Sets the time at which a wrong screen is examined although no event waits. Does nothing if an event waits or the screen is
  /// right.
  /// - Parameters:
  ///   - instance: The instance.
  ///   - due: The log time of the examination.
  mutating func catchUp(_ instance: InstanceSlot, at due: Timestamp) {
    if !hasPending(instance), isOpen(instance) { setDue(instance, due) }
  }

  /// Sets the time of the examination of an instance that a registration has made reachable, or that has another token, if an event
  /// waits or its screen is wrong. What a push to the token before it held back need not wait any longer.
  mutating func catchUpAfterRegistration(_ instance: InstanceSlot) {
    let due = now + Self.registrationPause
    if isOpen(instance), pending[registry.instances[instance].waiting].due > due { setDue(instance, due) }
  }

  /// Sets the time of the examination of an instance for which a push was refunded, if its screen is wrong.
  mutating func catchUpAfterRefund(_ instance: InstanceSlot) { catchUp(instance, at: now + Self.refundPause) }

  /// Examines a push to an instance whose screen is wrong although no event waits. It is put off while a reload is free, and
  /// while events wait on other instances whose push would reload this one, too: those events lead to the push sooner or later,
  /// and its decisions name them.
  ///
  /// A background push reloads only the kinds that it names. So an event on an instance of another kind does not lead to a push
  /// for this one. Both share a push, which takes a single token of the device, if they are worth it together and no limit of
  /// either holds it back. Otherwise this one is examined alone.
  private mutating func catchUp(
    _ instance: InstanceSlot, _ device: DeviceSlot, _ event: borrowing EventInHand, _ visit: inout DeviceVisit,
    into output: inout PlannerOutput
  ) {
    if isLedByAnother(instance, device) || freeAnyway(instance, device: device) != nil {
      return setDue(instance, nextExamination(device))
    }
    assert(!hasPending(instance), "a screen catches up where no event waits")
    var push = question(device, trigger: instance, catchingUp: instance)
    if push.route == .backgroundPush {
      let trigger = waitingByBackground(device) ?? instance
      // No push is made for an instance that its timeline has spent. Alone, it is held until it has tokens.
      if !isSpentByTimeline(instance),
        pushesForWrongToo(device, trigger: trigger, catchingUp: instance, event, &visit, into: &output)
      {
        return
      }
      push.named = .catchingUp
    }
    examine(push, fromTimer: true, event, &visit, into: &output)
  }

  /// Returns whether an event waits on another instance whose push would reload this one, too, or which a widget push for this
  /// one would reload.
  private func isLedByAnother(_ instance: InstanceSlot, _ device: DeviceSlot) -> Bool {
    let own = question(device, trigger: instance)
    var walk = registry.instances(of: device)
    while let other = walk.next(registry) {
      guard other != instance, hasPending(other), !isSpentByTimeline(other) else { continue }
      if reaches(instance, question(device, trigger: other)) { return true }
      if own.route != .backgroundPush, reaches(other, own) { return true }
    }
    return false
  }

  /// Returns the first instance of a device on which an event waits for a background push; nil if there is none.
  private func waitingByBackground(_ device: DeviceSlot) -> InstanceSlot? {
    var walk = registry.instances(of: device)
    while let other = walk.next(registry) {
      let state = registry.instances[other]
      if hasPending(other), !state.flags.contains(.retired), rules[state.kind].isDecided, !isOvertaken(other),
        route(of: other, device: device) == .backgroundPush
      {
        return other
      }
    }
    return nil
  }

  /// Makes a background push that reloads, beside the kinds on which events wait, every screen that is wrong although no event
  /// waits and whose examination is due.
  /// - Parameters:
  ///   - device: The device.
  ///   - trigger: The instance that leads to the push: one on which an event waits, if there is one.
  ///   - catchingUp: The instance that is examined although no event waits on it; absent if there is none.
  ///   - event: The event in hand, if there is one.
  ///   - visit: Receives the terms of the push.
  ///   - output: Receives the decisions and the command.
  /// - Returns: Whether the push was made. If not, nothing has changed: it is not a background push, there is no such screen
  ///   beside the trigger, a limit holds the push back, or it is not worth its price.
  private mutating func pushesForWrongToo(
    _ device: DeviceSlot, trigger: InstanceSlot, catchingUp: InstanceSlot = .absent,
    _ event: borrowing EventInHand, _ visit: inout DeviceVisit, into output: inout PlannerOutput
  ) -> Bool {
    let push = question(device, trigger: trigger, named: .waitingAndWrong, catchingUp: catchingUp)
    guard push.route == .backgroundPush, hasOthersToCatchUp(push) else { return false }
    bringUpToDate(push, event, into: &output)
    let examination = examination(of: push, terms: &visit.terms)
    guard case .push = examination.outcome else { return false }
    apply(examination, fromTimer: true, event, &visit, into: &output)
    return true
  }

  private func hasOthersToCatchUp(_ push: PushQuestion) -> Bool {
    var walk = registry.instances(of: push.device)
    while let other = walk.next(registry) {
      if other != push.trigger, catchesUp(other, push), names(other, push) { return true }
    }
    return false
  }
}
