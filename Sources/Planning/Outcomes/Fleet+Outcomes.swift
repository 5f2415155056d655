import Domain

/// Counting what has ended.
extension Fleet {
  /// Notes that a push reloads an instance.
  ///
  /// - Parameter instance: The instance, with the events that wait on it.
  mutating func notePush(_ instance: InstanceSlot) {
    outcomes.notePush(instance, ofEventAged: ageOfOldestEvent(instance))
  }

  /// Returns the age of the oldest event that waits on an instance; nil if none does. A call of its own: inside a function that changes the
  /// fleet, the part that is asked would be copied.
  @inline(never)
  private func ageOfOldestEvent(_ instance: InstanceSlot) -> TimeSpan? {
    pending.oldestTime(of: registry.instances[instance].waiting).map { now - $0 }
  }

  /// Notes that a widget has fetched its content. The first fetch after a push is its receipt.
  /// - Parameters:
  ///   - instance: The instance, whose last reload is still the one before the fetch.
  ///   - instant: The log time of the fetch.
  mutating func noteFetch(_ instance: InstanceSlot, at instant: Timestamp) {
    guard let push = outcomes.takePush(instance) else { return }
    let state = registry.instances[instance]
    guard state.lastReload != .distantPast, !registry.isInDeveloperMode(state.device) else { return }
    outcomes.noteFetch(
      of: push, after: Double(max(0, (instant - state.lastReload).microseconds)) / 1_000_000, state.kind)
  }

  /// Notes the tokens that an instance had left at the end of its budget day, if a push could be sent to it.
  /// - Parameters:
  ///   - instance: The instance, whose next day has begun.
  ///   - spent: The tokens that it had spent.
  @inline(never)
  mutating func noteUnspent(_ instance: InstanceSlot, spent: Int) {
    let state = registry.instances[instance]
    if state.surface.isActivity || registry.isInDeveloperMode(state.device)
      || !registry.isCounted(instance, device: state.device)
    {
      return
    }
    outcomes.noteUnspent(max(0, rules[state.kind].day.perDay - spent), state.kind)
  }
}
