import Domain

extension Planner {
  /// Everything pending on the instance, decayed to now; without the chance that somebody looks.
  @inline(__always)
  func pendingValue(_ instance: UInt32) -> Double { pendingValue(instance, at: now) }

  @inline(__always)
  func pendingValue(_ instance: UInt32, at instant: Int64) -> Double {
    let value = waiting(instance).pendingValue
    if value == 0 { return 0 }
    return Double(value)
      * Decay.factor(
        microseconds: instant &- waiting(instance).pendingAt,
        inverseHalfLife: kinds[Int(instances[instance].kind)].inverseHalfLife)
  }

  /// After a cause has gone: sums what is left.
  private mutating func resumPending(_ instance: UInt32) {
    let inverse = kinds[Int(instances[instance].kind)].inverseHalfLife
    var sum = 0.0
    var cause = waiting(instance).firstCause
    while cause != none {
      sum +=
        Double(causes[cause].value)
        * Decay.factor(microseconds: now &- causes[cause].at, inverseHalfLife: inverse)
      cause = causes[cause].next
    }
    let waiting = waitingSlot(instance)
    waitings[waiting].pendingValue = Float(sum)
    waitings[waiting].pendingAt = now
  }

  /// Ends with `reason` every pending cause for which `ends` holds.
  /// - Returns: whether any ended.
  @discardableResult
  mutating func endCauses(
    of instance: UInt32, reason: Reason, into output: inout PlannerOutput, where ends: (Cause) -> Bool
  ) -> Bool {
    let waiting = instances[instance].waiting
    guard waiting != none else { return false }
    var previous = none
    var slot = waitings[waiting].firstCause
    var ended = false
    while slot != none {
      let cause = causes[slot]
      if ends(cause) {
        ended = true
        if previous == none {
          waitings[waiting].firstCause = cause.next
        } else {
          causes[previous].next = cause.next
        }
        if waitings[waiting].lastCause == slot { waitings[waiting].lastCause = previous }
        waitings[waiting].causes -= 1
        causes.remove(slot, leaving: Cause())
        releasedEvents.append(cause.event)
        report(
          instance: instance, event: cause.event, verdict: .suppress, reason: reason, relevance: cause.relevance,
          into: &output)
      } else {
        previous = slot
      }
      slot = cause.next
    }
    guard ended else { return false }
    resumPending(instance)
    settle(instance)
    touch(device: instances[instance].device)
    return true
  }

  /// What the entry announced has been undone: its pending causes have nothing to show.
  @inline(__always)
  mutating func supersede(instance: UInt32, entry: UInt32, into output: inout PlannerOutput) {
    if waiting(instance).firstCause == none { return }
    endCauses(of: instance, reason: .superseded, into: &output) { $0.entry == entry }
  }

  /// The oldest of those that add nothing, if there is one.
  mutating func dropOldestCause(of instance: UInt32, into output: inout PlannerOutput) {
    var oldest = waiting(instance).firstCause
    var cause = oldest
    while cause != none {
      if causes[cause].value == 0 {
        oldest = cause
        break
      }
      cause = causes[cause].next
    }
    let at = causes[oldest].at
    let event = causes[oldest].event
    endCauses(of: instance, reason: .superseded, into: &output) { $0.at == at && $0.event == event }
  }

  /// Ends everything pending on the instance.
  mutating func endAllCauses(of instance: UInt32, reason: Reason, into output: inout PlannerOutput) {
    if waiting(instance).firstCause == none { return }
    endCauses(of: instance, reason: reason, into: &output) { _ in true }
    clearDue(instance)
  }

  /// The instance shows the newest content, however it came by it.
  mutating func markFresh(_ instance: UInt32) {
    var entry = instances[instance].firstEntry
    while entry != none {
      entries[entry].shown = entries[entry].current
      entry = entries[entry].next
    }
  }

  /// Earliest expiry of what is pending; `.max` when nothing is.
  func earliestExpiry(_ instance: UInt32) -> Int64 {
    var earliest = Int64.max
    var cause = waiting(instance).firstCause
    while cause != none {
      earliest = min(earliest, causes[cause].expires)
      cause = causes[cause].next
    }
    return earliest
  }

  // MARK: Timers

  /// Sets when the instance is looked at again. An entry of the queue that is too early is moved when it fires.
  @inline(__always)
  mutating func setDue(_ instance: UInt32, _ due: Int64) {
    if due == .max { return clearDue(instance) }
    let waiting = waitingSlot(instance)
    waitings[waiting].due = due
    if due < waitings[waiting].armedAt {
      waitings[waiting].armedAt = due
      timers.insert(TimerQueue.Entry(due: due, order: instances[instance].order, instance: instance))
      if timers.count > TimerQueue.entriesMax(waiting: waitings.liveCount) { dropOutdatedTimers() }
    }
  }

  /// An instance that is woken early leaves the entry for later behind, and makes another one when it has been looked at:
  /// as many as events wake it.
  private mutating func dropOutdatedTimers() {
    // Moved out: it is looked through beside the other tables.
    var queue = TimerQueue()
    swap(&queue, &timers)
    queue.removeAll { entry in
      instances[entry.instance].waiting == none || instances[entry.instance].order != entry.order
        || waitings[instances[entry.instance].waiting].armedAt != entry.due
    }
    swap(&queue, &timers)
  }

  /// Fires what is due by now.
  mutating func fireTimers(into output: inout PlannerOutput, decisionsMax: Int) -> Bool {
    while let first = timers.first, first.due <= now {
      if output.decisions.count >= decisionsMax { return false }
      _ = timers.removeFirst()
      let instance = first.instance
      // What had the slot before may have left an entry of the same time behind, in another place of the order.
      guard waiting(instance).armedAt == first.due, instances[instance].order == first.order,
        instances[instance].flags.contains(.used)
      else { continue }
      let waiting = instances[instance].waiting
      waitings[waiting].armedAt = .max
      let due = waitings[waiting].due
      if due > first.due {
        setDue(instance, due)
        continue
      }
      waitings[waiting].due = .max
      fire(instance, into: &output)
      settle(instance)
    }
    return true
  }

  /// The widget's timeline has reloaded by itself since: what came before that is on the screen, for free.
  @inline(__always)
  mutating func noteOwnReload(_ instance: UInt32, into output: inout PlannerOutput) {
    let reload = nextReload(instance)
    if reload == .min || reload > now { return }
    set(nextReload: .min, instance)
    instances[instance].lastReload = max(instances[instance].lastReload, reload)
    endCauses(of: instance, reason: .freshened, into: &output) { $0.at <= reload }
    if waiting(instance).firstCause == none { markFresh(instance) }
    touch(device: instances[instance].device)
  }

  private mutating func fire(_ instance: UInt32, into output: inout PlannerOutput) {
    touch(device: instances[instance].device)
    if instances[instance].flags.contains(.retired) {
      purge(retired: instance)
      return
    }
    if instances[instance].surface.isActivity {
      fireActivity(instance, into: &output)
      return
    }
    noteOwnReload(instance, into: &output)
    let now = self.now
    endCauses(of: instance, reason: .expired, into: &output) { $0.expires <= now }
    guard waiting(instance).firstCause != none else { return }
    let device = instances[instance].device
    if kinds[Int(instances[instance].kind)].policyIndex < 0 {
      endAllCauses(of: instance, reason: .noMatch, into: &output)
      return
    }
    if kinds[Int(instances[instance].kind)].isDisabled {
      endAllCauses(of: instance, reason: .kindDisabled, into: &output)
      return
    }
    if case .unreachable(let reason) = route(of: instance, device: device) {
      endAllCauses(of: instance, reason: reason, into: &output)
      return
    }
    examine(device: device, trigger: instance, fromTimer: true, into: &output)
  }
}
