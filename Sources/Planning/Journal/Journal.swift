import Domain

/// The changes since the last commit, which the next one must write. `Planner.takeChanges` turns them into records of
/// `rouse.state`. Changed kinds, apps and subjects are not here: their own parts mark them.
struct Journal {
  /// A device that was removed.
  struct Removal {
    /// The id of the device.
    var id: Identifier
    /// The place of its newest version.
    var place: ChunkPlace
  }

  /// The devices that changed, in the order of their first change. One that was removed since, and its slot given to another
  /// device, is in the list twice.
  private(set) var devices: ContiguousArray<DeviceSlot> = []
  /// The devices that were removed.
  private(set) var removedDevices: [Removal] = []
  /// The ids of apps whose records must be removed, unless the app has come back since.
  private(set) var removedApps: [Identifier] = []
  /// Whether the policy has changed.
  private(set) var policy = false
  /// The number of pieces that follow the first one of the policy's record in `rouse.state`.
  private var policyPieces = 0

  /// Notes that a device changed.
  /// - Parameter device: The device, which was not noted since the last commit (`DeviceState.Flags.changed`).
  mutating func touch(_ device: DeviceSlot) { devices.append(device) }

  /// Notes that a device was removed.
  /// - Parameters:
  ///   - id: The device's id.
  ///   - place: The device's place in the chunks.
  mutating func noteRemoval(ofDevice id: Identifier, at place: ChunkPlace) {
    removedDevices.append(Removal(id: id, place: place))
  }

  /// Notes that an app was removed.
  /// - Parameter id: The app's id; nil if `rouse.state` has no record of it.
  mutating func noteRemoval(ofApp id: Identifier?) { if let id { removedApps.append(id) } }

  /// Notes that the policy has changed.
  mutating func notePolicy() { policy = true }

  /// Notes the number of pieces in which the policy's record was written or restored.
  /// - Parameter pieces: The number of pieces that follow the first one; 0 for a record in one piece.
  /// - Returns: The number of further pieces that the record had before.
  mutating func note(policyPieces pieces: Int) -> Int {
    defer { policyPieces = pieces }
    return policyPieces
  }

  /// Forgets everything that was noted, because the commit has written it.
  mutating func clear() {
    devices = []
    removedDevices = []
    removedApps = []
    policy = false
  }
}
