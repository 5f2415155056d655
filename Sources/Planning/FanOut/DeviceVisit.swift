/// The findings about one device while an event, or one of its timers, leads to it. A step of the planner has one value for all devices
/// that it visits, so that the arrays keep their memory.
struct DeviceVisit: ~Copyable {
  /// The changes of the event in hand to what kinds display of its subject, at the places of `EventInHand.truths`; nil where no instance
  /// has needed it yet. They are the same for all devices.
  var displayedChanges: ContiguousArray<DisplayedChange?> = []
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

  /// Returns the event's change to what a kind displays of its subject; nil if the kind displays nothing, and for a widget that shows the
  /// subject itself, whose screen is known field by field.
  @inline(__always)
  mutating func displayedChange(
    by event: borrowing EventInHand, _ entry: EntrySlot, _ instance: InstanceSlot, in fleet: borrowing Fleet
  ) -> DisplayedChange? {
    let truth = event.evaluations[fleet.registry.instances[instance].kind.index].truth
    if truth < 0 { return nil }
    let isSubject = fleet.registry.entries[entry].interest == event.subjectInterest
    if isSubject, !fleet.registry.instances[instance].surface.isActivity { return nil }
    while displayedChanges.count <= truth { displayedChanges.append(nil) }
    if let known = displayedChanges[truth] { return known }
    let change = event.displayedChange(event.truths[truth], fleet.rules)
    displayedChanges[truth] = change
    return change
  }

  /// Returns the terms of an instance in the newest examination; zeros if nothing was weighed, as in developer mode.
  @inline(__always)
  func terms(of instance: InstanceSlot) -> InstanceTerms {
    terms.first { $0.instance == instance } ?? InstanceTerms(instance: instance, distance: 0, looks: 0, worth: 0)
  }
}
