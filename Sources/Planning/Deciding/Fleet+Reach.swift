import Domain
import Policies

/// Which instances a push reloads, and which kinds a background push names.
extension Fleet {
  /// Returns whether a push reloads the instance. A background push reloads every widget of each kind that it names, whichever route
  /// the widget has.
  @inline(__always)
  func reaches(_ instance: InstanceSlot, _ push: PushQuestion) -> Bool {
    let flags = registry.instances[instance].flags
    if flags.contains(.retired) { return false }
    switch push.route {
    case .controlPush(let control): return instance == control
    case .widgetPush: return flags.contains(.pushEnabled)
    case .unreachable: return false
    case .backgroundPush: break
    }
    guard registry.instances[instance].surface == .widget else { return false }
    if names(instance, push) { return true }
    var walk = registry.instances(of: push.device)
    while let other = walk.next(registry) {
      if registry.instances[other].kind == registry.instances[instance].kind, names(other, push) { return true }
    }
    return false
  }

  /// Returns whether a background push is made for the widget: this decides which kinds such a push names. It never is for a widget
  /// that another route reaches, or that has spent its tokens on its own timeline.
  ///
  /// All else follows. A named kind is reloaded, so `reaches` weighs and charges each of its widgets; of those that it reaches,
  /// `Fleet.serve` lists the ones on which an event waits or that catch up; and the payload names their kinds (`Fleet.command`). What
  /// is left out keeps waiting: each other instance becomes the trigger of a push of its own (`Fleet.decide`), or has a timer. For an edit:
  /// - The trigger of a push that is made is always named, or it would lead to the same push again. To keep a kind out of all background
  ///   pushes, change its route (`Fleet.route`): what waits on it then ends with the reason why it is unreachable.
  /// - `push.named` is chosen in `Fleet.catchUp` and `Fleet.pushesForWrongToo`. `Fleet.examine` keeps it for another trigger of the kind.
  /// - It is asked again while a push is weighed and made, and what waits may end meanwhile: from `Fleet.bringUpToDate` on, the answer may
  ///   change from true to false, not back.
  /// - What is named without an event that waits must be served, too (`catchesUp`).
  /// - A push that leaves `catchingUp` out must set its timer again, which has fired. `Fleet.catchUp` relies on it where the trigger is
  ///   another instance.
  @inline(__always)
  func names(_ instance: InstanceSlot, _ push: PushQuestion) -> Bool {
    let isMeant =
      switch push.named {
      case .waiting: hasPending(instance) || instance == push.catchingUp
      case .waitingAndWrong: hasPending(instance) || catchesUp(instance, push)
      case .catchingUp: instance == push.catchingUp
      }
    return isMeant && !registry.instances[instance].flags.contains(.retired) && !isSpentByTimeline(instance)
      && route(of: instance, device: push.device) == .backgroundPush
  }

  /// Returns whether a push shows an instance's wrong screen the truth although no event waits on it.
  func catchesUp(_ instance: InstanceSlot, _ push: PushQuestion) -> Bool {
    if instance == push.catchingUp { return true }
    guard push.named == .waitingAndWrong else { return false }
    let state = registry.instances[instance]
    return pending[state.waiting].due <= now && pending.isEmpty(state.waiting) && !state.surface.isActivity
      && !state.flags.contains(.retired) && rules[state.kind].isDecided && registry.difference(of: instance).value > 0
      && freeAnyway(instance, device: state.device) == nil
  }

  /// Returns the first widget of the trigger's kind on which an event waits for a background push; nil if there is none, or if the push
  /// is no widget push. The app would reload both with that background push.
  func namesake(of push: PushQuestion) -> InstanceSlot? {
    guard case .widgetPush = push.route, registry.devices[push.device].flags.contains(.backgroundToken) else {
      return nil
    }
    let kind = registry.instances[push.trigger].kind
    var walk = registry.instances(of: push.device)
    while let other = walk.next(registry) {
      // Most widgets of a kind can be pushed to, or none can. So this is asked first.
      if registry.instances[other].kind != kind || registry.instances[other].flags.contains(.pushEnabled) { continue }
      if !registry.instances[other].flags.contains(.retired), hasPending(other), !isOvertaken(other),
        !isSpentByTimeline(other), route(of: other, device: push.device) == .backgroundPush
      {
        return other
      }
    }
    return nil
  }
}
