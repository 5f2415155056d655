import Policies

/// The place of a row in `ShownFields`.
struct ShownRow: Hashable {
  /// The place of the row's head.
  fileprivate(set) var place: UInt32

  /// No row: nothing has been shown yet that is known field by field.
  static let absent = ShownRow(place: .max)

  /// Whether there is no row.
  var isAbsent: Bool { place == .max }
}

/// The values that screens show since their last reload, one row for each interest entry whose subject is shown field by field. A
/// row takes eight bytes for its head and 16 for each field.
///
///      63            24 23          6 5          0
///     ┌────────────────┬─────────────┬────────────┐
///     │ hash of fields │ scale       │ number of  │   The head of a row. Rows with the same hash and number of fields can be
///     │ and rounding   │             │ fields     │   compared. The scale is a hash of the weights that gave the distance.
///     └────────────────┴─────────────┴────────────┘
struct ShownFields {
  /// The rows one after the other, each with its head first.
  private var cells: ContiguousArray<UInt64> = []
  /// The places of free rows, by the number of fields.
  private var free: [Int: [UInt32]] = [:]

  private static let widthBits: UInt64 = 0x3f
  /// The bits of a head that hold the scale.
  static let scaleBits: UInt64 = 0xff_ffc0

  /// Creates an empty table.
  init() {}

  /// The bytes that the rows take in memory.
  var bytes: Int { cells.capacity * 8 }

  /// Returns the head of the rows of a kind.
  /// - Parameters:
  ///   - hash: The hash of the displayed fields.
  ///   - count: The number of fields, at most 63.
  /// - Returns: The head without a scale.
  static func head(hash: UInt64, count: Int) -> UInt64 {
    hash & ~(widthBits | scaleBits) | UInt64(count) & widthBits
  }

  /// Returns the number of fields that a head stands for.
  static func count(_ head: UInt64) -> Int { Int(head & widthBits) }

  /// Asks the processor to load the head of a row.
  func prefetch(_ row: ShownRow) { cells.prefetch(Int(row.place)) }

  /// Returns the head of a row, without its scale.
  func head(_ row: ShownRow) -> UInt64 { cells[Int(row.place)] & ~Self.scaleBits }

  /// Returns the scale of a row, a hash of the weights with which its distance from the truth was computed, in `scaleBits`.
  func scale(_ row: ShownRow) -> UInt64 { cells[Int(row.place)] & Self.scaleBits }

  /// Notes the weights with which the distance of a row from the truth was computed.
  @inline(__always)
  mutating func set(scale: UInt64, _ row: ShownRow) {
    let head = head(row) | scale & Self.scaleBits
    if cells[Int(row.place)] != head { cells[Int(row.place)] = head }
  }

  /// Returns the value of one field in a row.
  @inline(__always)
  subscript(row: ShownRow, field: Int) -> DisplayedValue {
    let place = Int(row.place) + 1 + 2 * field
    return DisplayedValue(low: cells[place], high: cells[place + 1])
  }

  /// Sets the head and the values of a row. A row of other fields is replaced by a new one.
  /// - Parameters:
  ///   - row: The row.
  ///   - head: The head of the kind's rows, with or without a scale.
  ///   - values: The values, as many as the head says.
  mutating func set(_ row: inout ShownRow, head: UInt64, _ values: Span<DisplayedValue>) {
    if row.isAbsent || self.head(row) != head & ~Self.scaleBits {
      remove(&row)
      row = make(head)
    }
    cells[Int(row.place)] = head
    let first = Int(row.place) + 1
    for field in values.indices {
      cells[first + 2 * field] = values[field].low
      cells[first + 2 * field + 1] = values[field].high
    }
  }

  private mutating func make(_ head: UInt64) -> ShownRow {
    let count = Self.count(head)
    if let place = free.isEmpty ? nil : free[count]?.popLast() {
      cells[Int(place)] = head
      return ShownRow(place: place)
    }
    let place = UInt32(cells.count)
    cells.append(head)
    cells.append(contentsOf: repeatElement(0, count: 2 * count))
    return ShownRow(place: place)
  }

  /// Frees a row.
  mutating func remove(_ row: inout ShownRow) {
    if row.isAbsent { return }
    free[Self.count(head(row)), default: []].append(row.place)
    row = .absent
  }

  /// Returns the distance between what a row shows and the truth, 0…1.
  /// - Parameters:
  ///   - row: The row.
  ///   - truth: The true values, as many as the row has.
  ///   - fields: The functions that measure the distance of each field, as many as there are values.
  func distance(_ row: ShownRow, _ truth: Span<DisplayedValue>, _ fields: [FieldDistance]) -> Double {
    var screen = ScreenDistance()
    // Most fields of a screen are right. Not to ask for their distances saves a call.
    for field in fields.indices where self[row, field] != truth[field] {
      screen.add(fields[field](shown: self[row, field], truth: truth[field]))
    }
    return screen.value
  }
}
