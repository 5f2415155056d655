// Instances of a device and entries of an instance are chained through their tables. These cursors walk the chains:
//
//     var walk = registry.instances(of: device)
//     while let instance = walk.next(registry) { … }
//
// They are no `Sequence`, because a sequence would hold the tables, and to change a table that something else holds copies it.
// A cursor reads the next link before it returns a slot, so that slot may be removed inside the loop.

/// A walk along the instances of one device, by rising index, retired ones included.
struct InstanceWalk {
  fileprivate var upcoming: InstanceSlot

  /// Returns the next instance, which may then be removed; nil at the end.
  @inline(__always)
  mutating func next(_ registry: Registry) -> InstanceSlot? {
    if upcoming.isAbsent { return nil }
    let instance = upcoming
    upcoming = registry.instances[instance].next
    return instance
  }
}

/// A walk along the interest entries of one instance, in the order of its registration.
struct EntryWalk {
  fileprivate var upcoming: EntrySlot

  /// Returns the next entry, which may then be removed; nil at the end.
  @inline(__always)
  mutating func next(_ registry: Registry) -> EntrySlot? {
    if upcoming.isAbsent { return nil }
    let entry = upcoming
    upcoming = registry.entries[entry].next
    return entry
  }
}

extension Registry {
  /// Returns a walk along the instances of a device.
  func instances(of device: DeviceSlot) -> InstanceWalk { InstanceWalk(upcoming: devices[device].firstInstance) }

  /// Returns a walk along the interest entries of an instance.
  func entries(of instance: InstanceSlot) -> EntryWalk { EntryWalk(upcoming: instances[instance].firstEntry) }
}
