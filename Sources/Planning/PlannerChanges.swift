/// What changed since the last commit, by slot or key, but for what is noted of subjects; `Planner.takeChanges` turns it into records of `rouse.state`.
struct PlannerChanges {
  var devices: ContiguousArray<UInt32> = []
  /// Ids of devices whose record must be removed.
  var removedDevices: [String] = []
  /// The same of apps; one of them may have come back since.
  var removedApps: [String] = []
  var policy = false
}

extension Planner {
  @inline(__always)
  mutating func touch(device slot: UInt32) {
    if devices[slot].touchedEpoch != epoch {
      devices[slot].touchedEpoch = epoch
      changes.devices.append(slot)
    }
  }

  @inline(__always)
  mutating func touch(kind: UInt32) { kinds[Int(kind)].touched = true }
}
