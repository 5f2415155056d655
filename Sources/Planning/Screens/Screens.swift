import Policies

/// The place of a row in `Screens`.
struct ShownRow: Hashable {
  /// The place of the row's head.
  fileprivate(set) var place: UInt32

  /// No row: nothing has been shown yet that is known field by field.
  static let absent = ShownRow(place: .max)

  /// Whether there is no row.
  var isAbsent: Bool { place == .max }
}

/// The content of an instance's screen behind one interest key, and its distance from the truth, in 40 bytes. It
/// stands with its entry in the registry, so that one look-up finds both.
///
/// A kind of which the policy lists the displayed fields is compared field by field if the key is the subject: then there is a row. A
/// key such as an airport's covers many subjects, so its screen is known by a fingerprint.
struct EntryScreen {
  private var shownParts = Fingerprint()
  private var currentParts = Fingerprint()
  /// The values that the screen shows of the subject whose name is the key; absent if they are not tracked field by field, or not
  /// known.
  fileprivate(set) var row = ShownRow.absent
  /// The distance between what the screen shows in `row` and the truth, 0…1; 0 if there is no row.
  fileprivate(set) var distance: Float = 0

  /// Creates a screen that shows nothing that is known.
  init() {}

  /// The fingerprint of the fields that the instance shows since its last reload; none if they are not known.
  var shown: KeyedHash {
    get { shownParts.value }
    set { shownParts = Fingerprint(newValue) }
  }

  /// The fingerprint of the fields that the instance would show after a reload now; none if no event came yet.
  var current: KeyedHash {
    get { currentParts.value }
    set { currentParts = Fingerprint(newValue) }
  }

  /// Notes that nothing is known to be wrong about the screen, and leaves the values that it showed.
  mutating func forgetDistance() { distance = 0 }

  /// Compares what is shown with what would be shown after an event.
  /// - Parameter displayed: The event's change; nil when the policy does not list the displayed fields of the kind.
  /// - Returns: Whether both look the same, and the new fingerprint; nil when the event does not change it.
  func compare(_ displayed: DisplayedChange?) -> (isShown: Bool, current: KeyedHash?) {
    guard let displayed else { return (false, nil) }
    let next = displayed.applied(to: current)
    return (!shown.isNone && shown == next, next == current ? nil : next)
  }

  /// A fingerprint in quarters. Whole halves need alignment, and an interest entry would take 56 bytes instead of 52.
  private struct Fingerprint {
    private var quarters: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)

    init() {}

    init(_ hash: KeyedHash) {
      quarters = (
        UInt32(truncatingIfNeeded: hash.low), UInt32(truncatingIfNeeded: hash.low >> 32),
        UInt32(truncatingIfNeeded: hash.high), UInt32(truncatingIfNeeded: hash.high >> 32)
      )
    }

    var value: KeyedHash {
      KeyedHash(
        low: UInt64(quarters.1) << 32 | UInt64(quarters.0), high: UInt64(quarters.3) << 32 | UInt64(quarters.2))
    }
  }
}

/// The screens: the values that they show since their last reload, one row for each interest entry whose subject is shown field by
/// field. A row takes eight bytes for its head and 16 for each field.
///
///      63            24 23          6 5          0
///     ┌────────────────┬─────────────┬────────────┐
///     │ hash of fields │ scale       │ number of  │   The head of a row. Rows with the same hash and number of fields can be
///     │ and rounding   │             │ fields     │   compared. The scale is a hash of the weights that gave the distance.
///     └────────────────┴─────────────┴────────────┘
struct Screens {
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

  /// Returns the value of one field in a row.
  @inline(__always)
  subscript(row: ShownRow, field: Int) -> DisplayedValue {
    let place = Int(row.place) + 1 + 2 * field
    return DisplayedValue(low: cells[place], high: cells[place + 1])
  }

  /// Returns the row with what a screen shows field by field; nil if there is none, or if it holds other fields than the kind displays
  /// now.
  /// - Parameters:
  ///   - screen: The screen.
  ///   - head: The head of the kind's rows.
  func row(_ screen: EntryScreen, head: UInt64) -> ShownRow? {
    screen.row.isAbsent || self.head(screen.row) != head ? nil : screen.row
  }

  /// Sets the values that a screen shows, and how wrong they are now. A row of other fields is replaced by a new one.
  /// - Parameters:
  ///   - values: The values, as many as the head says.
  ///   - head: The head of the kind's rows, with or without a scale.
  ///   - distance: The distance of the values from the truth, 0…1.
  ///   - screen: The screen.
  mutating func show(_ values: Span<DisplayedValue>, head: UInt64, distance: Float, _ screen: inout EntryScreen) {
    if screen.row.isAbsent || self.head(screen.row) != head & ~Self.scaleBits {
      forgetRow(&screen)
      screen.row = make(head)
    }
    screen.distance = distance
    cells[Int(screen.row.place)] = head
    let first = Int(screen.row.place) + 1
    for field in values.indices {
      cells[first + 2 * field] = values[field].low
      cells[first + 2 * field + 1] = values[field].high
    }
  }

  /// Sets how wrong a screen is.
  /// - Parameters:
  ///   - distance: The distance, 0…1.
  ///   - scale: The hash of the weights with which it was computed (`KindDisplay.scale`).
  ///   - screen: The screen, which has a row.
  @inline(__always)
  mutating func set(distance: Float, scale: UInt64, _ screen: inout EntryScreen) {
    screen.distance = distance
    let head = head(screen.row) | scale & Self.scaleBits
    if cells[Int(screen.row.place)] != head { cells[Int(screen.row.place)] = head }
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

  /// Forgets what a screen shows field by field.
  mutating func forgetRow(_ screen: inout EntryScreen) {
    screen.distance = 0
    if screen.row.isAbsent { return }
    free[Self.count(head(screen.row)), default: []].append(screen.row.place)
    screen.row = .absent
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
