/// The findings about one device while an event, or one of its timers, leads to it. A step of the planner has one value for all devices
/// that it visits, so that the arrays keep their memory.
struct DeviceVisit: ~Copyable {
  /// The event in hand, which leads to the device; none if one of its timers does.
  var event = EventInHand()
  /// The interest entries that the event reaches, one for each instance, in the order of the device.
  var entries: [EntrySlot] = []
  /// The instances on which the event waits. An element becomes absent when a decision about it has been reported.
  var waiting: [InstanceSlot] = []
  /// The terms of the newest examination, one for each instance that its push would reach.
  var terms: ContiguousArray<InstanceTerms> = []
  /// The instances that the push reaches.
  var reached: [InstanceSlot] = []
  /// The states of the subjects that `reached` show by their first entries, in the same order; absent for those that are not known, and
  /// for those that were not looked up.
  var reachedTruths: [SubjectSlot] = []

  /// Returns the terms of an instance in the newest examination; zeros if nothing was weighed, as in developer mode.
  func terms(of instance: InstanceSlot) -> InstanceTerms {
    terms.first { $0.instance == instance } ?? InstanceTerms(instance: instance, distance: 0, looks: 0, worth: 0)
  }
}
