extension Registry {
  /// Traps if an invariant is broken that holds between any two records. It reads every slot; for tests.
  func checkInvariants() {
    devices.checkInvariants()
    instances.checkInvariants()
    entries.checkInvariants()
    var (instanceCount, entryCount, listening) = (0, 0, 0)
    for device in devices.slots where devices[device].flags.contains(.used) {
      precondition(self.device(named: id(of: device)) == device, "a device is not found by its id")
      var expected: UInt16 = 0
      var walk = instances(of: device)
      while let instance = walk.next(self) {
        precondition(instances[instance].device == device, "an instance in the chain of another device")
        precondition(instances[instance].index >= expected, "instances out of order")
        precondition(instances[instance].flags.contains(.used), "a removed instance in a chain")
        expected = instances[instance].index + 1
        instanceCount += 1
        entryCount += checkEntries(of: instance)
      }
    }
    precondition(instanceCount == instances.liveCount, "an instance of no device")
    precondition(entryCount == entries.liveCount, "an interest entry of no instance")
    for entry in entries.slots where !entries[entry].interest.isAbsent { listening += 1 }
    precondition(listening == entryCount, "an interest entry without a key")
    checkKeys()
  }

  private func checkEntries(of instance: InstanceSlot) -> Int {
    var count = 0
    var walk = entries(of: instance)
    while let entry = walk.next(self) {
      precondition(entries[entry].instance == instance, "an interest entry in the chain of another instance")
      let interest = entries[entry].interest
      let places = 0..<interests.count(of: interest)
      precondition(places.contains { interests.entry($0, of: interest) == entry }, "a key does not find its entry")
      count += 1
    }
    return count
  }

  private func checkKeys() {
    for instance in addressed.keys { precondition(isUsed(instance), "an address of an instance that is gone") }
    for instance in nextReloads.keys { precondition(isUsed(instance), "a reload of an instance that is gone") }
    for device in rareStates.keys { precondition(isUsed(device), "rare state of a device that is gone") }
    for (device, state) in rareStates {
      precondition(state.shownBefore.count <= ShownBefore.changesMax, "more changes than are kept")
      for change in state.shownBefore {
        let instance = entries[change.entry].instance
        precondition(!instance.isAbsent && instances[instance].device == device, "a change of an entry that is gone")
      }
    }
  }

  /// Returns whether a slot holds an instance, retired ones included.
  func isUsed(_ instance: InstanceSlot) -> Bool { instances[instance].flags.contains(.used) }
  /// Returns whether a slot holds a device, forgotten ones included.
  func isUsed(_ device: DeviceSlot) -> Bool { devices[device].flags.contains(.used) }
}
