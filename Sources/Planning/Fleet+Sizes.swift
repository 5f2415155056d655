extension Fleet {
  /// See `Planner.sizes`.
  var sizes: PlannerSizes {
    PlannerSizes(
      devices: registry.deviceCount, instances: registry.instances.liveCount, interests: registry.entries.liveCount,
      keys: registry.interests.keyCount, textBytes: registry.texts.bytes.count)
  }

  /// See `Planner.instanceCount`.
  var instanceCount: Int {
    registry.instances.values.count { $0.flags.contains(.used) && !$0.flags.contains(.retired) }
  }

  /// See `Planner.tableBytes`.
  var tableBytes: Int {
    let tables =
      registry.devices.bytes + registry.indexBytes + registry.instances.bytes + registry.instanceIDs.bytes
      + registry.entries.bytes + screens.bytes
    // A dictionary keeps at least a quarter of its places free.
    let rare =
      registry.rareStates.capacity * 27 + registry.nextReloads.capacity * 16
      + registry.addressed.capacity * (MemoryLayout<AddressedState>.stride * 4 / 3)
    return tables + registry.interests.bytes + registry.texts.bytes.heldBytes + pending.bytes + subjects.bytes + rare
      + deviceChunks.tableBytes
  }
}
