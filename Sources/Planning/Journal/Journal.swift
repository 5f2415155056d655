import Domain

/// The last commit before which a device changed. It stands with the device in the registry; only a `Journal` sets it.
struct JournalMark {
  fileprivate var epoch: UInt32 = 0

  /// Creates the mark of a device that has not changed yet.
  init() {}
}

/// The changes since the last commit, which the next one must write. `Planner.takeChanges` turns them into records of
/// `rouse.state`. Changed kinds, apps and subjects are not here: their own parts mark them.
struct Journal {
  /// The devices that changed, in the order of their first change.
  private(set) var devices: ContiguousArray<DeviceSlot> = []
  /// The ids of devices whose records must be removed.
  private(set) var removedDevices: [Identifier] = []
  /// The ids of apps whose records must be removed, unless the app has come back since.
  private(set) var removedApps: [Identifier] = []
  /// Whether the policy has changed.
  private(set) var policy = false
  /// The number of the next commit. Wraps.
  private var epoch: UInt32 = 1

  /// Notes that a device changed.
  /// - Parameters:
  ///   - device: The device.
  ///   - mark: The device's mark, which tells whether it was noted since the last commit.
  @inline(__always)
  mutating func touch(_ device: DeviceSlot, _ mark: inout JournalMark) {
    if mark.epoch != epoch {
      mark.epoch = epoch
      devices.append(device)
    }
  }

  /// Notes that a device was removed.
  mutating func noteRemoval(ofDevice id: Identifier) { removedDevices.append(id) }

  /// Notes that an app was removed.
  /// - Parameter id: The app's id; nil if `rouse.state` has no record of it.
  mutating func noteRemoval(ofApp id: Identifier?) { if let id { removedApps.append(id) } }

  /// Notes that the policy has changed.
  mutating func notePolicy() { policy = true }

  /// Forgets everything that was noted, because the commit has written it.
  mutating func clear() {
    devices = []
    removedDevices = []
    removedApps = []
    policy = false
    epoch &+= 1
  }
}
