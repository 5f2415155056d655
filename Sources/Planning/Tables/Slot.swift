/// The number of a place in a table. Slots of different tables are different types, so that one cannot be taken for another.
///
/// - Parameter Owner: The tag of the table: an empty enum such as `DeviceTag`.
package struct Slot<Owner>: Hashable, Comparable, Sendable {
  package let number: UInt32

  @inline(__always)
  package init(_ number: UInt32) { self.number = number }

  /// The slot that refers to nothing, such as the end of a chain. It is no valid subscript of a table.
  @inline(__always)
  package static var absent: Slot { Slot(.max) }

  @inline(__always)
  package var isAbsent: Bool { number == .max }

  /// The slot, or nil where it refers to nothing.
  @inline(__always)
  package var ifPresent: Slot? { isAbsent ? nil : self }

  /// The slot as an index of an array.
  @inline(__always)
  var index: Int { Int(number) }

  @inline(__always)
  package static func < (a: Slot, b: Slot) -> Bool { a.number < b.number }
}

package enum DeviceTag {}
package enum InstanceTag {}
package enum EntryTag {}
package enum InterestTag {}
package enum CauseTag {}
package enum EventTag {}
package enum WaitingTag {}
package enum AppTag {}
package enum KindTag {}
package enum ZoneTag {}
package enum SubjectTag {}

package typealias DeviceSlot = Slot<DeviceTag>
package typealias InstanceSlot = Slot<InstanceTag>
typealias EntrySlot = Slot<EntryTag>
typealias InterestSlot = Slot<InterestTag>
typealias CauseSlot = Slot<CauseTag>
package typealias EventSlot = Slot<EventTag>
typealias WaitingSlot = Slot<WaitingTag>
typealias AppSlot = Slot<AppTag>
package typealias KindSlot = Slot<KindTag>
typealias ZoneSlot = Slot<ZoneTag>
typealias SubjectSlot = Slot<SubjectTag>
