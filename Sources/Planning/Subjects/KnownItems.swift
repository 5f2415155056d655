import Domain
import Policies

/// One thing that is known of a subject: an event, or the value of a field that a kind displays.
struct KnownItem: Equatable {
  /// The lower halves of the hash of an event's source and id, or of the value.
  private let low: UInt64
  /// The upper half.
  private let high: UInt64
  /// The time of the event, or of that which said the value; the distant past if none did. It may be after the log time at which the
  /// event arrived.
  let time: Timestamp

  /// Stands for a place in memory that holds nothing.
  static let none = KnownItem(event: .none, time: .distantPast)

  /// Creates an event.
  /// - Parameters:
  ///   - event: The hash of its source and id.
  ///   - time: Its time.
  init(event: KeyedHash, time: Timestamp) { (low, high, self.time) = (event.low, event.high, time) }

  /// Creates a displayed value.
  /// - Parameters:
  ///   - value: The value.
  ///   - time: The time of the event that said it.
  init(value: DisplayedValue, time: Timestamp) { (low, high, self.time) = (value.low, value.high, time) }

  /// The hash of the event's source and id.
  var event: KeyedHash { KeyedHash(low: low, high: high) }
  /// The value.
  var value: DisplayedValue { DisplayedValue(low: low, high: high) }
}

/// A list of events, or of displayed values. Most subjects have had one or two events, and most screens display one or two fields of
/// them, so two items stand in place: an array would take as much memory again, and another wait for it.
struct KnownItems: Equatable {
  /// The number of items that have room in place.
  private static let inPlace = 2
  /// The bit of `head` that says that the items are values.
  private static let valuesBit: UInt8 = 0x80

  private var few = InlineArray<2, KnownItem>(repeating: .none)
  /// All items, if there are more.
  private var many: [KnownItem] = []
  /// The number of items in `few`, and the bit.
  private var head: UInt8 = 0

  /// Creates an empty list.
  init() {}

  /// Creates a list of events.
  /// - Parameter events: The events, in the order in which they arrived.
  init(events: [KnownItem]) { self.init(events, head: 0) }

  /// Creates a list of values that no event has said.
  /// - Parameter values: The values, in the policy's order.
  init(values: Span<DisplayedValue>) {
    if values.count > Self.inPlace { many.reserveCapacity(values.count) }
    for place in values.indices { append(KnownItem(value: values[place], time: .distantPast)) }
    if !isEmpty { head |= Self.valuesBit }
  }

  /// Creates a list of values.
  /// - Parameter values: The values, in the policy's order.
  init(values: [KnownItem]) { self.init(values, head: values.isEmpty ? 0 : Self.valuesBit) }

  private init(_ items: [KnownItem], head: UInt8) {
    self.head = head
    if items.count > Self.inPlace {
      many = items
    } else {
      for item in items { append(item) }
    }
  }

  /// The number of items.
  var count: Int { many.isEmpty ? Int(head & ~Self.valuesBit) : many.count }
  /// Whether there are no items.
  var isEmpty: Bool { head == 0 && many.isEmpty }
  /// Whether the items are values, not events. An empty list has none.
  var holdsValues: Bool { head & Self.valuesBit != 0 }
  /// The number of events; 0 if the items are values.
  var eventCount: Int { holdsValues ? 0 : count }
  /// The number of values; 0 if the items are events.
  var valueCount: Int { holdsValues ? count : 0 }

  /// The item at a place, 0..<`count`.
  @inline(__always)
  subscript(place: Int) -> KnownItem {
    get { many.isEmpty ? few[place] : many[place] }
    set {
      if many.isEmpty { few[place] = newValue } else { many[place] = newValue }
    }
  }

  /// Adds an item at the end.
  mutating func append(_ item: KnownItem) {
    let count = count
    if !many.isEmpty {
      many.append(item)
    } else if count < Self.inPlace {
      few[count] = item
      head += 1
    } else {
      many.reserveCapacity(max(many.capacity, 2 * Self.inPlace))
      for place in 0..<count { many.append(few[place]) }
      many.append(item)
      head &= Self.valuesBit
    }
  }

  /// Removes an item of many. Those that stay are in the same order.
  /// - Parameter place: Its place in a list of at least four.
  mutating func remove(at place: Int) {
    precondition(many.count > Self.inPlace + 1, "a list that stands in place has as many items as it was made with")
    many.remove(at: place)
  }

  /// The items as an array.
  var array: [KnownItem] { (0..<count).map { self[$0] } }

  /// The memory of the items that do not stand in place, in bytes.
  var arrayBytes: Int { many.heldBytes }

  /// Asks the processor to load the items that do not stand in place.
  func prefetch() { many.prefetch() }

  static func == (a: KnownItems, b: KnownItems) -> Bool { a.holdsValues == b.holdsValues && a.array == b.array }
}
