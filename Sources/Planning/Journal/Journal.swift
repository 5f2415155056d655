import Domain

/// The number of the commit for which a device was last noted as changed. It is kept with the device in the registry; only a
/// `Journal` sets it.
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
  /// The number of further pieces of each record that `rouse.state` holds in pieces, by key. Such records are rare.
  private var pieces: [[UInt8]: Int] = [:]
  /// The number of the next commit; it wraps around.
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

  /// Notes the number of pieces in which a record was written or restored. This is kept as long as the record.
  /// - Parameters:
  ///   - pieces: The number of pieces that follow the first one; 0 for a record that is in one piece, or was removed.
  ///   - key: The key of the record.
  /// - Returns: The number of further pieces that the record had before.
  mutating func note(pieces: Int, of key: ArraySlice<UInt8>) -> Int {
    if pieces == 0, self.pieces.isEmpty { return 0 }
    let before = self.pieces.removeValue(forKey: Array(key)) ?? 0
    if pieces > 0 { self.pieces[Array(key)] = pieces }
    return before
  }

  /// Forgets everything that was noted, because the commit has written it.
  mutating func clear() {
    devices = []
    removedDevices = []
    removedApps = []
    policy = false
    epoch &+= 1
  }
}
