/// Events with more interest keys than `DomainBounds.interestsPerEventMax`, since the planner was made.
public struct KeysLeftOut: Equatable, Sendable {
  public var events = 0
  /// The newest such event, and how many of its keys were left out.
  public var newest = ""
  public var count = 0
}

extension Planner {
  /// Placed widgets that are registered now. Looks at every slot.
  public var instanceCount: Int {
    instances.values.count { $0.flags.contains(.used) && !$0.flags.contains(.retired) && $0.device != none }
  }

  /// Bytes of the tables that hold devices, instances, interests and what waits on them, room for growth included; without
  /// kinds, apps and zones, of which there are few, and without what the allocator adds.
  public var tableBytes: Int {
    let registry = devices.bytes + deviceIndex.bytes + instances.bytes + instanceIDs.bytes + entries.bytes
    let waiting = waitings.bytes + causes.bytes + events.bytes + timers.bytes
    // A dictionary keeps a quarter of its places free, at least.
    let rare =
      rareStates.capacity * 27 + nextReloads.capacity * 16
      + addressed.capacity * (MemoryLayout<AddressedState>.stride * 4 / 3)
    return registry + interests.bytes + texts.bytes.capacity + waiting + subjects.bytes + rare
  }

  /// Events that still wait on an instance: (event, instance) pairs without a final decision.
  public var pendingCount: Int { causes.liveCount }
}
