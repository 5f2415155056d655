extension Planner {
  /// The sizes of the planner's tables.
  public var sizes: PlannerSizes {
    PlannerSizes(
      devices: deviceCount, instances: registry.instances.liveCount, interests: registry.entries.liveCount,
      keys: registry.interests.keyCount, textBytes: registry.texts.bytes.count)
  }

  /// The number of instances that are registered now. It reads every slot.
  public var instanceCount: Int {
    registry.instances.values.count { $0.flags.contains(.used) && !$0.flags.contains(.retired) }
  }

  /// The bytes that the tables of devices, instances, interests, subjects and waiting causes take in memory. It does not count
  /// kinds, apps and zones, which are few, nor the overhead of the allocator.
  public var tableBytes: Int {
    let tables =
      registry.devices.bytes + registry.indexBytes + registry.instances.bytes + registry.instanceIDs.bytes
      + registry.entries.bytes + registry.shownFields.bytes
    // A dictionary keeps at least a quarter of its places free.
    let rare =
      registry.rareStates.capacity * 27 + registry.nextReloads.capacity * 16
      + registry.addressed.capacity * (MemoryLayout<AddressedState>.stride * 4 / 3)
    return tables + registry.interests.bytes + registry.texts.bytes.heldBytes + pending.bytes + subjects.bytes + rare
      + deviceChunks.tableBytes
  }

  /// The number of pairs of an event and an instance that wait for a final decision.
  public var pendingCount: Int { pending.causes.liveCount }
}
