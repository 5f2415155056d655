import Domain

extension Fleet {
  /// See `Planner.zombies()`.
  func zombies() -> [Zombie] {
    var found: [Zombie] = []
    for instance in registry.addressed.keys.sorted() { addZombies(of: instance, to: &found) }
    return found
  }

  /// Adds the zombies that a push-to-start token has started, or the activity if it is one.
  /// - Parameters:
  ///   - instance: Any instance.
  ///   - found: Receives them.
  func addZombies(of instance: InstanceSlot, to found: inout [Zombie]) {
    switch registry.instances[instance].surface {
    case .starter: addUnregistered(instance, to: &found)
    case .activity: addRefused(instance, to: &found)
    case .widget, .control: break
    }
  }

  private func addUnregistered(_ starter: InstanceSlot, to found: inout [Zombie]) {
    if startsOnChannel(starter) { return }
    let state = registry.instances[starter]
    for start in registry.addressed[starter]?.subjects ?? []
    where !start.isRegistered && start.isLate(at: now)
      && registry.newestActivity(of: state.kind, on: state.device) < start.at
    {
      found.append(
        Zombie(
          device: registry.id(of: state.device), subject: start.subject, kind: rules[state.kind].name, since: start.at,
          cause: .neverRegistered))
    }
  }

  private func addRefused(_ activity: InstanceSlot, to found: inout [Zombie]) {
    let instance = registry.instances[activity]
    guard let state = registry.addressed[activity], state.tokenDead || state.refusals > 0, !state.hasLostToken,
      state.life.isOnScreen, isRunning(since: state.startedAt), !instance.flags.contains(.retired)
    else { return }
    found.append(
      Zombie(
        device: registry.id(of: instance.device),
        subject: instance.firstEntry.ifPresent.map { registry.key(of: $0) } ?? "", kind: rules[instance.kind].name,
        since: state.startedAt, cause: state.tokenDead ? .tokenRejected : .pushRefused))
  }

  private func isRunning(since start: Timestamp) -> Bool { now - start < ActivityTimes.life }
}
