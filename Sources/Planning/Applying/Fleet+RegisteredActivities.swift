import Domain
import Policies

/// The Live Activities of a registration, as the push-to-start tokens of its device get to know them.
extension Fleet {
  /// Marks the starts by push that are remembered up to the start of a registered activity as registered, so that none of them
  /// counts as a zombie.
  mutating func rememberRegistered(_ activity: Registration.Activity, _ device: DeviceSlot) {
    guard let starter = registry.find(Registration.starterID(kind: activity.kind), of: device) else { return }
    registry[addressed: starter]?.register(startsUpTo: activity.startedAt)
    for key in activity.interests {
      guard let known = registry.addressed[starter]?.activity(of: key), known.life(at: now).isOnScreen,
        known.begins(activityOf: activity.startedAt, within: bounds.commandLifetime)
      else { continue }
      know(key, by: starter) { subject, now in
        subject.isRegistered = true
        subject.run(.running(onChannel: false), at: now)
      }
    }
  }

  /// Remembers the subjects of an activity that subscribes to a channel as started, because the activity runs on the device.
  mutating func rememberRunning(_ activity: Registration.Activity, _ device: DeviceSlot) {
    guard let starter = registry.find(Registration.starterID(kind: activity.kind), of: device) else { return }
    for key in activity.interests {
      if case .dismissed(let instant)? = registry.addressed[starter]?.activity(of: key)?.life(at: now),
        activity.startedAt <= instant
      {
        continue
      }
      know(key, by: starter) { subject, now in
        subject.isRegistered = true
        if !subject.life(at: now).isOnScreen { subject.at = min(now, activity.startedAt) }
        subject.run(.running(onChannel: true), at: now)
        subject.serve(upTo: min(now, activity.startedAt))
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
        guard case .running = known.life(at: now),
          !registration.activities.contains(where: { $0.kind == token.kind && $0.interests.contains(known.subject) })
        else { continue }
        noteOver(known.subject, .ended, startedAt: nil, at: registration.updatedAt, by: starter)
      }
      startSoon(by: starter)
    }
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
      switch known.life(at: now) {
      case .dismissed(let instant) where state.startedAt <= instant: registry[addressed: instance]?.close()
      case .startSent, .awaitingToken:
        let heard = content(of: registry.key(of: entry))?.newest ?? .distantPast
        registry[addressed: instance]?.hear(at: min(now, max(known.at, heard)))
      default: continue
      }
    }
  }
}
