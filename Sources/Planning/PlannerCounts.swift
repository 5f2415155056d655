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

  /// Events that still wait on an instance: (event, instance) pairs without a final decision.
  public var pendingCount: Int { causes.liveCount }
}
