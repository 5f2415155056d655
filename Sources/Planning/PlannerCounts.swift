/// Events with more interest keys than `DomainBounds.interestsPerEventMax`, since the planner was made.
public struct KeysLeftOut: Equatable, Sendable {
  public var events = 0
  /// The newest such event, and how many of its keys were left out.
  public var newest = ""
  public var count = 0
}

/// How much a planner holds: what its tables need room for.
public struct PlannerSizes: Equatable, Sendable {
  public var devices: Int
  /// With those that are only kept for their ledgers.
  public var instances: Int
  /// Interest keys of all instances.
  public var interests: Int
  /// Different ones among them.
  public var keys: Int
  /// Of ids, tokens and keys.
  public var textBytes: Int

  public init(devices: Int, instances: Int, interests: Int, keys: Int, textBytes: Int) {
    self.devices = devices
    self.instances = instances
    self.interests = interests
    self.keys = keys
    self.textBytes = textBytes
  }

  /// The same mixture of another size.
  public func scaled(by factor: Double) -> PlannerSizes {
    func scaled(_ size: Int) -> Int { Int(Double(size) * factor) }
    return PlannerSizes(
      devices: scaled(devices), instances: scaled(instances), interests: scaled(interests), keys: scaled(keys),
      textBytes: scaled(textBytes))
  }
}

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
