import Domain

/// The interest entries by which an event reaches a device, and the screens behind them.
extension Registry {
  /// Sorts the entries of one device by instance. Of the entries of one instance, only the first is kept: the one
  /// whose key comes first among the event's keys. So the instance gets one decision.
  @inline(__always)
  func order(_ reached: inout [EntrySlot]) {
    guard reached.count > 1 else { return }
    // Insertion sort is stable, and a device rarely has more than two entries.
    for i in 1..<reached.count {
      let entry = reached[i]
      let order = instances[entries[entry].instance].index
      var j = i
      while j > 0, instances[entries[reached[j - 1]].instance].index > order {
        reached[j] = reached[j - 1]
        j -= 1
      }
      reached[j] = entry
    }
    var last = InstanceSlot.absent
    var kept = 0
    for i in reached.indices where entries[reached[i]].instance != last {
      last = entries[reached[i]].instance
      reached[kept] = reached[i]
      kept += 1
    }
    reached.removeLast(reached.count - kept)
    assert(
      zip(reached, reached.dropFirst()).allSatisfy {
        instances[entries[$0].instance].index < instances[entries[$1].instance].index
      }, "an instance has one decision for an event, in the order of the device")
  }

  /// Returns the relevance of a waiting cause, 0…1: the one that its rule states. If the rule states none, it is how wrong the
  /// screen is about the cause's subject now; for news, whose subject is not tracked field by field, it is the relevance at
  /// arrival.
  @inline(__always)
  func relevance(of cause: Cause) -> Float {
    if cause.isRelevanceStated || cause.entry.isAbsent || entries[cause.entry].screen.row.isAbsent {
      return cause.relevance
    }
    return entries[cause.entry].screen.distance
  }
}
