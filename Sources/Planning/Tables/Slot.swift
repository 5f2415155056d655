/// The number of a place in a table.
///
/// `Owner` names the table; it is an empty enum such as `DeviceTag`. Slots of different tables are different types, so the
/// compiler refuses a slot of another table.
package struct Slot<Owner>: Hashable, Comparable, Sendable {
  /// The number of the place, from 0 on; `UInt32.max` for the absent slot.
  package let number: UInt32

  /// Creates the slot of a number.
  package init(_ number: UInt32) { self.number = number }

  /// The slot that refers to nothing, such as the end of a chain. It is no valid subscript of a table.
  package static var absent: Slot { Slot(.max) }

  /// Whether the slot refers to nothing.
  package var isAbsent: Bool { number == .max }

  /// The slot; nil if it refers to nothing.
  package var ifPresent: Slot? { isAbsent ? nil : self }

  /// The slot as an index of an array.
  package var index: Int { Int(number) }

  /// Whether the first slot has the smaller number.
  package static func < (a: Slot, b: Slot) -> Bool { a.number < b.number }
}

/// The table of devices (`Registry.devices`).
package enum DeviceTag {}
/// The table of instances of all devices (`Registry.instances`).
package enum InstanceTag {}
/// The table of interest entries, one for each key of each instance (`Registry.entries`).
package enum EntryTag {}
/// The table of interest keys (`InterestIndex`).
package enum InterestTag {}
/// The table of causes, one for each event that waits on an instance (`Pending.causes`).
package enum CauseTag {}
/// The table of events that decisions refer to (`Pending.events`).
package enum EventTag {}
/// The table of instances that have waiting events or a timer (`Pending`).
package enum WaitingTag {}
/// The table of apps (`AppTable`).
package enum AppTag {}
/// The table of kinds (`Rules.kinds`, `Pricing.kinds`).
package enum KindTag {}
/// The table of time zones (`ZoneTable`).
package enum ZoneTag {}
/// The table of subjects (`SubjectMemory`).
package enum SubjectTag {}

/// The place of a device.
package typealias DeviceSlot = Slot<DeviceTag>
/// The place of an instance.
package typealias InstanceSlot = Slot<InstanceTag>
/// The place of an interest entry.
typealias EntrySlot = Slot<EntryTag>
/// The place of an interest key.
typealias InterestSlot = Slot<InterestTag>
/// The place of a cause.
typealias CauseSlot = Slot<CauseTag>
/// The place of an event that decisions refer to.
package typealias EventSlot = Slot<EventTag>
/// The place of an instance's pending causes and timer.
typealias WaitingSlot = Slot<WaitingTag>
/// The place of an app.
typealias AppSlot = Slot<AppTag>
/// The place of a kind.
package typealias KindSlot = Slot<KindTag>
/// The place of a time zone.
typealias ZoneSlot = Slot<ZoneTag>
/// The place of a subject.
typealias SubjectSlot = Slot<SubjectTag>
