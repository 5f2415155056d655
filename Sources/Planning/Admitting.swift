import Domain
import Policies

/// How a device can be reached for one instance.
enum Route: Equatable {
  case widgetPush, backgroundPush
  /// To the token of this control (instance slot).
  case controlPush(UInt32)
  case unreachable(Reason)

  var push: PlannedPush {
    switch self {
    case .widgetPush, .unreachable: .widgets
    case .backgroundPush: .background
    case .controlPush(let control): .control(control)
    }
  }

  /// As it stands in the state, for a refund.
  var stored: UInt8 {
    switch self {
    case .widgetPush, .unreachable: 0
    case .backgroundPush: 1
    case .controlPush: 2
    }
  }
}

/// The first system with widget pushes; source: Apple's WidgetPushHandler page.
private let widgetPushOS = OSVersion(major: 26)
/// The first iOS with control pushes; source: Apple's ControlPushHandler page. macOS and watchOS have them since 26, where
/// only they can register one.
private let controlPushOS = OSVersion(major: 18)

extension Planner {
  /// Decides about the event in hand for one device: each instance by the checks that concern it alone, then the device
  /// as a whole, because one push reloads every push-enabled widget.
  mutating func decide(device slot: UInt32, into output: inout PlannerOutput) {
    workingNew.removeAll(keepingCapacity: true)
    for i in workingEntries.indices {
      let entry = workingEntries[i]
      let instance = entries[entry].instance
      if instances[instance].surface.isActivity {
        decideActivity(entry: entry, instance: instance, device: slot, into: &output)
      } else if let reason = admit(entry: entry, instance: instance, device: slot, into: &output) {
        suppressNew(instance: instance, reason: reason, into: &output)
      } else {
        workingNew.append(instance)
      }
    }
    // Mostly one push reaches them all; widgets without a push handler take another route than their neighbours.
    for i in workingNew.indices where workingNew[i] != none && hasNewCause(workingNew[i]) {
      examine(device: slot, trigger: workingNew[i], fromTimer: false, into: &output)
    }
  }

  /// Whether the event in hand waits on the instance.
  @inline(__always)
  func hasNewCause(_ instance: UInt32) -> Bool {
    let cause = waiting(instance).lastCause
    return cause != none && causes[cause].event == fanOut.slot
  }

  /// Steps 1 to 4 and the floor, in the order of `Reason`; the first that holds is the reason.
  /// - Returns: nil when the event now waits on the instance.
  @inline(__always)
  private mutating func admit(
    entry: UInt32, instance: UInt32, device slot: UInt32, into output: inout PlannerOutput
  ) -> Reason? {
    switch fanOut.standing {
    case .duplicate: return .duplicate
    case .stale: return .staleEvent
    case .fresh: break
    }
    let kind = Int(instances[instance].kind)
    let evaluation = fanOut.evaluations[kind]
    guard evaluation.hasRule else { return .noMatch }
    let time = fanOut.time
    noteOwnReload(instance, into: &output)
    var isRepeat = false
    if let displayed = evaluation.displayed {
      isRepeat = !show(displayed, entry: entry, device: slot) && waits(entry, on: instance)
    }
    // Too late to be news; what it says is the truth all the same.
    if evaluation.maxAge != .max, now &- time > evaluation.maxAge { return .staleEvent }
    if evaluation.relevance <= 0 { return .cosmetic }
    if evaluation.displayed != nil, isShown(entry) {
      supersede(instance: instance, entry: entry, into: &output)
      return .notVisible
    }
    if case .unreachable(let reason) = route(of: instance, device: slot) { return reason }
    if !kinds[kind].enabled { return .kindDisabled }
    if let reason = freeAnyway(instance: instance, device: slot) {
      // One reload shows all of it.
      endAllCauses(of: instance, reason: .freshened, into: &output)
      markFresh(instance)
      touch(device: slot)
      return reason
    }
    return append(entry: entry, instance: instance, device: slot, time: time, isRepeat: isRepeat, into: &output)
  }

  /// Takes over what an event changes of what the instance would show if it were reloaded now.
  /// - Returns: whether it would look different.
  @inline(__always)
  mutating func show(_ displayed: DisplayedChange, entry: UInt32, device slot: UInt32) -> Bool {
    let current = displayed.applied(to: entries[entry].current)
    if entries[entry].current == current { return false }
    entries[entry].current = current
    touch(device: slot)
    return true
  }

  /// Whether the screen shows what a reload would show of the entry. Not before something is known of both.
  @inline(__always)
  func isShown(_ entry: UInt32) -> Bool { entries[entry].shown != 0 && entries[entry].shown == entries[entry].current }

  /// What reaches the screen without a push.
  @inline(__always)
  private func freeAnyway(instance: UInt32, device slot: UInt32) -> Reason? {
    if isForeground(slot), instances[instance].surface == .widget { return .appForeground }
    let next = nextReload(instance)
    if next >= now, next &- now <= kinds[Int(instances[instance].kind)].imminentReload { return .reloadImminent }
    return nil
  }

  @inline(__always)
  func isForeground(_ device: UInt32) -> Bool {
    devices[device].flags.contains(.foreground) && now &- rare(device).foregroundSince < bounds.foregroundMax
  }

  /// Whether something of value waits on the instance by this entry.
  @inline(__always)
  private func waits(_ entry: UInt32, on instance: UInt32) -> Bool {
    var cause = waiting(instance).firstCause
    while cause != none {
      if causes[cause].entry == entry, causes[cause].value > 0 { return true }
      cause = causes[cause].next
    }
    return false
  }

  /// Adds the event to what waits on the instance.
  /// - Parameter isRepeat: whether what it shows waits already: then it adds no value, and nothing new has come in.
  private mutating func append(
    entry: UInt32, instance: UInt32, device slot: UInt32, time: Int64, isRepeat: Bool, into output: inout PlannerOutput
  ) -> Reason? {
    let kind = Int(instances[instance].kind)
    let evaluation = fanOut.evaluations[kind]
    let value = pendingValue(instance) + Double(isRepeat ? 0 : evaluation.relevance)
    if !isRepeat, !devices[slot].flags.contains(.developerMode) {
      noteArrival(
        instance, relevance: evaluation.relevance, timeOfDay: zones[Int(devices[slot].zone)].timeOfDay(now))
      if value < kinds[kind].floor { return .belowFloor }
    }
    if Int(waiting(instance).causes) >= bounds.causesPerInstanceMax {
      dropOldestCause(of: instance, into: &output)
    }
    var expires = now &+ kinds[kind].expireAfter
    if evaluation.maxAge != .max { expires = min(expires, time &+ evaluation.maxAge) }
    let cause = causes.insert(
      Cause(
        event: fanOut.slot, entry: entry, signedRelevance: isRepeat ? -evaluation.relevance : evaluation.relevance,
        at: now, expires: max(expires, now &+ 1)))
    events[fanOut.slot].references += 1
    let waiting = waitingSlot(instance)
    if waitings[waiting].lastCause == none {
      waitings[waiting].firstCause = cause
    } else {
      causes[waitings[waiting].lastCause].next = cause
    }
    waitings[waiting].lastCause = cause
    waitings[waiting].causes += 1
    waitings[waiting].pendingValue = Float(value)
    waitings[waiting].pendingAt = now
    touch(device: slot)
    return nil
  }

  private func controlRoute(_ instance: UInt32, device slot: UInt32) -> Route {
    if devices[slot].osVersion < controlPushOS { return .unreachable(.unsupportedOS) }
    guard let control = addressed[instance] else { return .unreachable(.noToken) }
    return control.tokenDead ? .unreachable(.tokenDead) : .controlPush(instance)
  }

  /// Widget push where system, token and configuration allow it, else a background push, else the reason why not.
  @inline(__always)
  func route(of instance: UInt32, device slot: UInt32) -> Route {
    switch instances[instance].surface {
    case .widget: break
    case .control: return controlRoute(instance, device: slot)
    // Reached one by one, never by a route that others share.
    case .activity, .starter: return .unreachable(.noToken)
    }
    let flags = devices[slot].flags
    let system = devices[slot].osVersion
    if flags.contains(.widgetsToken), !flags.contains(.widgetsTokenDead), system >= widgetPushOS,
      instances[instance].flags.contains(.pushEnabled), !kinds[Int(instances[instance].kind)].prefersBackground
    {
      return .widgetPush
    }
    if flags.contains(.backgroundToken), !flags.contains(.backgroundTokenDead) { return .backgroundPush }
    if flags.contains(.backgroundToken) { return .unreachable(.tokenDead) }
    guard flags.contains(.widgetsToken) else { return .unreachable(.noToken) }
    if system < widgetPushOS { return .unreachable(.unsupportedOS) }
    return .unreachable(flags.contains(.widgetsTokenDead) ? .tokenDead : .noToken)
  }
}
