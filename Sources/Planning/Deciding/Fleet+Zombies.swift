import Domain

extension Fleet {
  /// See `Planner.zombies()`.
  func zombies() -> [Zombie] {
    var found: [Zombie] = []
    for instance in registry.addressed.keys.sorted() {
      switch registry.instances[instance].surface {
      case .starter: addUnregistered(instance, to: &found)
      case .activity: addRejected(instance, to: &found)
      case .widget, .control: continue
      }
    }
    return found
  }

  private func addUnregistered(_ starter: InstanceSlot, to found: inout [Zombie]) {
    let state = registry.instances[starter]
    for start in registry.addressed[starter]?.subjects ?? []
    where !start.isRegistered && start.life(at: now).isOnScreen && now - start.at > Self.registrationTime
      && registry.newestActivity(of: state.kind, on: state.device) < start.at
    {
      found.append(
        Zombie(
          device: registry.id(of: state.device), subject: start.subject, kind: rules[state.kind].name, since: start.at,
          cause: .neverRegistered))
    }
  }

  /// The time within which a device registers an activity that was started by push.
  private static let registrationTime = TimeSpan.minutes(30)

  private func addRejected(_ activity: InstanceSlot, to found: inout [Zombie]) {
    let instance = registry.instances[activity]
    guard let state = registry.addressed[activity], state.tokenDead, !state.hasLostToken, !state.ended,
      isRunning(since: state.startedAt), !instance.flags.contains(.retired)
    else { return }
    found.append(
      Zombie(
        device: registry.id(of: instance.device),
        subject: instance.firstEntry.ifPresent.map { registry.key(of: $0) } ?? "", kind: rules[instance.kind].name,
        since: state.startedAt, cause: .tokenRejected))
  }

  private func isRunning(since start: Timestamp) -> Bool { now - start < ActivityTimes.life }
}
