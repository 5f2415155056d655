import Domain
import Policies

/// The Live Activities of a registration, as the push-to-start tokens of its device get to know them.
extension Fleet {
  /// Notes that a registered activity runs, so that no second one of its subjects is started, and that the starts by push until its own do
  /// not count as zombies. One that the device has reported as over does not run any more.
  mutating func noteRunning(_ activity: Registration.Activity, _ device: DeviceSlot) {
    guard let starter = registry.find(Registration.starterID(kind: activity.kind), of: device) else { return }
    let onChannel = if case .channel = activity.address { true } else { false }
    if !onChannel {
      registry[addressed: starter]?.register(startsUpTo: activity.startedAt)
      guard let instance = registry.find(activity.id, of: device), registry.addressed[instance]?.life.isOnScreen == true
      else { return }
    }
    for key in activity.interests {
      if let known = registry.addressed[starter]?.activity(of: key) {
        if onChannel, let over = known.life(at: now).overSince, activity.startedAt <= over { continue }
        // An activity of an earlier session does not stand for the one that was started since.
        if known.awaitsToken(at: now), isOther(known, activity.startedAt, .distantFuture, by: starter) { continue }
      }
      know(key, by: starter) { subject, now in
        subject.run(.running(onChannel: onChannel), startedAt: activity.startedAt, at: now)
        subject.isRegistered = true
        if onChannel { subject.serve(upTo: min(now, activity.startedAt)) }
      }
    }
  }

  /// Notes that activities that run by what was known are over, because the device has left them out of its registration, and sees to the
  /// starts that its push-to-start tokens are still to make.
  mutating func noteLeftOut(of registration: Registration, _ device: DeviceSlot) {
    for token in registration.pushToStart {
      guard let starter = registry.find(Registration.starterID(kind: token.kind), of: device),
        let subjects = registry.addressed[starter]?.subjects
      else { continue }
      for known in subjects {
        guard case .running(let onChannel) = known.life(at: now),
          // One on a channel needs no registration, so the device need not have made one since a push started it.
          !onChannel || known.isRegistered,
          !registration.activities.contains(where: { $0.kind == token.kind && $0.interests.contains(known.subject) })
        else { continue }
        let left = min(now, registration.updatedAt)
        noteOver(known.subject, .ended(at: .distantPast), startedAt: nil, served: left, by: starter)
      }
      startSoon(by: starter)
    }
  }

  /// Takes from a registration that is older than the newest one what it says about activities: those that the newest one does not list were
  /// over by then. Of a subject with another activity, which the newest one does list, it says nothing new.
  mutating func noteOutdated(_ registration: Registration, _ device: DeviceSlot) {
    let newest = min(now, registry.devices[device].updatedAt)
    for activity in registration.activities {
      guard case .token = activity.address,
        let starter = registry.find(Registration.starterID(kind: activity.kind), of: device)
      else { continue }
      if let known = registry.find(activity.id, of: device), !registry.instances[known].flags.contains(.retired) {
        continue
      }
      for key in activity.interests where !isShown(key, activity.kind, on: device) {
        noteOver(key, .ended(at: .distantPast), startedAt: activity.startedAt, served: newest, by: starter)
      }
      touch(device)
    }
  }

  /// Returns whether a registered activity of a kind that is still on the screen listens to a key.
  func isShown(_ key: Identifier, _ kind: Identifier, on device: DeviceSlot) -> Bool {
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      let state = registry.instances[instance]
      guard state.surface == .activity, rules[state.kind].name == kind, !state.flags.contains(.retired),
        registry.addressed[instance]?.life.isOnScreen == true
      else { continue }
      var entries = registry.entries(of: instance)
      while let entry = entries.next(registry) {
        if registry.key(of: entry) == key { return true }
      }
    }
    return false
  }

  /// Takes over what happened between the start of an activity and its first registration: its subject may have been silent since, and the
  /// device may have said that it is over.
  mutating func hearOfStart(_ instance: InstanceSlot) {
    guard let starter = starter(of: instance), let state = registry.addressed[instance], !state.isChannel else {
      return
    }
    var walk = registry.entries(of: instance)
    while let entry = walk.next(registry) {
      guard let known = registry.addressed[starter]?.activity(of: registry.key(of: entry)),
        known.begins(activityOf: state.startedAt, within: bounds.commandLifetime)
      else { continue }
      if let instant = known.life(at: now).overSince {
        if state.startedAt <= instant { registry[addressed: instance]?.close() }
      } else if known.isPushed {
        let heard = content(of: registry.key(of: entry))?.newest ?? .distantPast
        registry[addressed: instance]?.hear(at: min(now, max(known.at, heard)))
      }
    }
  }
}
