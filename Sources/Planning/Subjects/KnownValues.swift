import Policies

/// The values of what kinds display of a subject. Most screens display one or two fields of it, so two values stand in place: an
/// array would take as much memory again, and another wait for it.
struct KnownValues: Equatable {
  /// The first values, if there are no more than these; those from `count` on mean nothing.
  private(set) var few = InlineArray<2, DisplayedValue>(repeating: .absent)
  /// All values, if there are more.
  private(set) var many: [DisplayedValue] = []
  /// The number of values.
  private(set) var count = 0

  /// Creates an empty list.
  init() {}

  /// Creates a list of values.
  init(_ values: Span<DisplayedValue>) {
    count = values.count
    if count > few.count {
      many = values.indices.map { values[$0] }
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
  subscript(place: Int) -> DisplayedValue {
    get { isFew ? few[place] : many[place] }
    set { if isFew { few[place] = newValue } else { many[place] = newValue } }
  }

  /// The values as an array.
  var array: [DisplayedValue] { isFew ? (0..<count).map { few[$0] } : many }

  static func == (a: KnownValues, b: KnownValues) -> Bool { a.array == b.array }
}
