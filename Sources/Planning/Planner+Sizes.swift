extension Planner {
  public var sizes: PlannerSizes {
    PlannerSizes(
      devices: deviceCount, instances: registry.instances.liveCount, interests: registry.entries.liveCount,
      keys: registry.interests.keyCount, textBytes: registry.texts.bytes.count)
  }

  /// Placed widgets that are registered now. Looks at every slot.
  public var instanceCount: Int {
    registry.instances.values.count { $0.flags.contains(.used) && !$0.flags.contains(.retired) }
  }

  /// Bytes of the tables that hold devices, instances, interests and what waits on them; without
  /// kinds, apps and zones, of which there are few, and without what the allocator adds.
  public var tableBytes: Int {
    let tables =
      registry.devices.bytes + registry.indexBytes + registry.instances.bytes + registry.instanceIDs.bytes
      + registry.entries.bytes
    // A dictionary keeps a quarter of its places free, at least.
    let rare =
      registry.rareStates.capacity * 27 + registry.nextReloads.capacity * 16
      + registry.addressed.capacity * (MemoryLayout<AddressedState>.stride * 4 / 3)
    return tables + registry.interests.bytes + registry.texts.bytes.heldBytes + pending.bytes + subjects.bytes + rare
  }

  /// Events that still wait on an instance: (event, instance) pairs without a final decision.
  public var pendingCount: Int { pending.causes.liveCount }
}
