import Domain

/// The charges of the last 24 hours, oldest first, of the instances whose kind counts a rolling window. They are looked up by
/// instance and never iterated, because a dictionary has no fixed order.
struct RollingCharges {
  private var charges: [InstanceSlot: [Timestamp]] = [:]

  /// The instances that have a list of charges, in no fixed order.
  var instances: some Collection<InstanceSlot> { charges.keys }
  /// The number of charges in the longest list.
  var longest: Int { charges.values.reduce(0) { max($0, $1.count) } }

  /// The charges of an instance, oldest first; nil if it does not count a rolling window.
  subscript(instance: InstanceSlot) -> [Timestamp]? { charges.isEmpty ? nil : charges[instance] }

  /// Sets the charges of an instance.
  mutating func set(_ times: [Timestamp], of instance: InstanceSlot) { charges[instance] = times }

  /// Removes the list of an instance that is removed, or whose kind counts by day now.
  mutating func remove(_ instance: InstanceSlot) {
    if !charges.isEmpty { charges[instance] = nil }
  }

  /// Returns the number of an instance's charges in the last 24 hours.
  func count(_ instance: InstanceSlot, now: Timestamp) -> Int {
    let since = now - .hours(24)
    return self[instance]?.reduce(0) { $0 + ($1 > since ? 1 : 0) } ?? 0
  }

  /// Adds a charge of an instance, and removes its charges that are older than 24 hours.
  mutating func add(_ instance: InstanceSlot, now: Timestamp) {
    let since = now - .hours(24)
    charges[instance, default: []].removeAll { $0 <= since }
    charges[instance, default: []].append(now)
  }

  /// Removes the newest charge of an instance, if there is one.
  mutating func removeLast(_ instance: InstanceSlot) {
    if charges[instance]?.isEmpty == false { charges[instance]?.removeLast() }
  }

  /// Traps if an invariant is broken that must hold whenever no log record is being processed. Reads everything; for
  /// tests.
  /// - Parameter isUsed: Returns whether an instance exists.
  func checkInvariants(isUsed: (InstanceSlot) -> Bool) {
    for (instance, charges) in charges {
      precondition(isUsed(instance), "charges of an instance that is gone")
      precondition(zip(charges, charges.dropFirst()).allSatisfy { $0 <= $1 }, "charges out of order")
    }
  }
}
