import Domain
import Policies

/// The values of what kinds display of a subject, each with the time of the event that said it. Most screens display one or two fields
/// of it, so two values stand in place: an array would take as much memory again, and another wait for it.
struct KnownValues: Equatable {
  /// The first values, if there are no more than these; those from `count` on mean nothing.
  private(set) var few = InlineArray<2, DisplayedValue>(repeating: .absent)
  /// All values, if there are more.
  private(set) var many: [DisplayedValue] = []
  private var fewTimes = InlineArray<2, Timestamp>(repeating: .distantPast)
  private var manyTimes: [Timestamp] = []
  /// The number of values.
  private(set) var count = 0

  /// Creates an empty list.
  init() {}

  /// Creates a list of values that no event has said.
  init(_ values: Span<DisplayedValue>) {
    count = values.count
    if count > few.count {
      many = values.indices.map { values[$0] }
      manyTimes = Array(repeating: .distantPast, count: count)
    } else {
      for place in values.indices { few[place] = values[place] }
    }
  }

  /// Whether there are no values.
  var isEmpty: Bool { count == 0 }

  /// Whether the values are in `few`.
  var isFew: Bool { count <= few.count }

  /// The value at a place, 0..<`count`.
  @inline(__always)
  subscript(place: Int) -> DisplayedValue { isFew ? few[place] : many[place] }

  /// The time of the event that said the value at a place, 0..<`count`; the distant past if none did.
  func time(of place: Int) -> Timestamp { isFew ? fewTimes[place] : manyTimes[place] }

  /// Sets the value at a place, 0..<`count`, and the time of the event that says it.
  mutating func set(_ place: Int, to value: DisplayedValue, at time: Timestamp) {
    if isFew {
      (few[place], fewTimes[place]) = (value, time)
    } else {
      (many[place], manyTimes[place]) = (value, time)
    }
  }

  /// The values as an array.
  var array: [DisplayedValue] { isFew ? (0..<count).map { few[$0] } : many }

  /// The times as an array.
  var times: [Timestamp] { isFew ? (0..<count).map { fewTimes[$0] } : manyTimes }

  /// The memory of the arrays, in bytes.
  var arrayBytes: Int {
    many.isEmpty ? 0 : 64 + many.capacity * MemoryLayout<DisplayedValue>.stride + manyTimes.capacity * 8
  }

  static func == (a: KnownValues, b: KnownValues) -> Bool { a.array == b.array && a.times == b.times }
}
