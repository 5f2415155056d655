/// The last commit in which something changed. Only a `Journal` sets it.
struct JournalMark {
  fileprivate var epoch: UInt32 = 0

  init() {}
}

/// What the next commit must write: everything that changed since the last one, except what the parts mark themselves
/// (kinds, apps, subjects). `Planner.takeChanges` turns it into records of `rouse.state`.
struct Journal {
  /// The devices that changed, in the order of their first change.
  private(set) var devices: ContiguousArray<DeviceSlot> = []
  /// The ids of devices whose records must be removed.
  private(set) var removedDevices: [String] = []
  /// The ids of apps whose records must be removed; one of them may have come back since.
  private(set) var removedApps: [String] = []
  /// Whether another policy is in force.
  private(set) var policy = false
  private var epoch: UInt32 = 1

  /// Notes that a device changed.
  @inline(__always)
  mutating func touch(_ device: DeviceSlot, _ mark: inout JournalMark) {
    if mark.epoch != epoch {
      mark.epoch = epoch
      devices.append(device)
    }
  }

  mutating func noteRemoval(ofDevice id: String) { removedDevices.append(id) }

  /// - Parameter id: The app's id; nil where it has no record.
  mutating func noteRemoval(ofApp id: String?) { if let id { removedApps.append(id) } }

  mutating func notePolicy() { policy = true }

  /// Forgets everything that was noted; the commit has it.
  mutating func clear() {
    devices = []
    removedDevices = []
    removedApps = []
    policy = false
    epoch &+= 1
  }
}
