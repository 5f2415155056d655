import Domain

/// The contents of screens before the changes that came while an app was in the foreground (`ShownBefore`).
extension Registry {
  /// Keeps what a screen showed until a change that came while the app was in the foreground.
  mutating func note(_ change: ShownBefore, _ device: DeviceSlot) {
    var state = rare(device)
    if state.shownBefore.count >= ShownBefore.changesMax { state.shownBefore.removeFirst() }
    state.shownBefore.append(change)
    restore(state, of: device)
  }

  /// Forgets the changes of the last visit to an app.
  mutating func forgetShownBefore(_ device: DeviceSlot) { keepShownBefore(device) { _ in false } }

  /// Forgets the changes of the last visit to an app that reached instances which a push has reloaded since.
  mutating func forgetShownBefore(of reloaded: [InstanceSlot], _ device: DeviceSlot) {
    let entries = entries
    keepShownBefore(device) { !reloaded.contains(entries[$0.entry].instance) }
  }

  /// Forgets the changes of the last visit to an app that reached one entry.
  mutating func forgetShownBefore(_ entry: EntrySlot) {
    keepShownBefore(instances[entries[entry].instance].device) { $0.entry != entry }
  }

  private mutating func keepShownBefore(_ device: DeviceSlot, where keeps: (ShownBefore) -> Bool) {
    guard devices[device].flags.contains(.rare) else { return }
    var state = rare(device)
    if state.shownBefore.isEmpty { return }
    state.shownBefore.removeAll { !keeps($0) }
    restore(state, of: device)
  }
}
