import Domain

/// The hours ahead in which instances of a kind will have no tokens, because they have spent those of their day.
///
/// Such an hour tells nothing about worth, so it is left out of the observed hours, but only when it has passed,
/// because hours are counted as observed when they have passed. If hours ahead were left out at once, too few observed
/// hours would remain, and the worth of an hour would look larger than it is.
///
/// Instances are grouped by the distance between the hour of their budget day and the hour of the log, of which there
/// are 24, instead of by time zone. An entry is removed when its hour has passed, which is within a day.
struct DryHours: Equatable {
  /// The number of instances for each distance and hour of the budget day; empty while no instance is without tokens.
  private var instances: ContiguousArray<Int32> = []

  private static let hours = 24

  /// Creates an empty value: no instance is without tokens.
  init() {}

  /// Whether no instance is without tokens.
  var isEmpty: Bool { instances.isEmpty }

  /// Adds instances to hours of their budget day.
  /// - Parameters:
  ///   - change: The number of instances, negative to take them away. No count falls below 0.
  ///   - places: The hours of the budget day, within 0..<24.
  ///   - hour: The current hour of the log, in hours since 1970.
  ///   - place: The current hour of the instances' budget day.
  mutating func add(_ change: Int32, _ places: Range<Int>, at hour: Int64, place: Int) {
    if places.isEmpty { return }
    if instances.isEmpty {
      if change <= 0 { return }
      instances = ContiguousArray(repeating: 0, count: Self.hours * Self.hours)
    }
    let row = Self.row(hour, place)
    for place in places.clamped(to: 0..<Self.hours) {
      let slot = row * Self.hours + place
      instances[slot] = max(0, instances[slot].addingReportingOverflow(change).partialValue)
    }
  }

  /// Reports the instances that have no tokens in an hour of the log.
  /// - Parameters:
  ///   - hour: The hour of the log, in hours since 1970.
  ///   - takes: Whether the hour has passed, so that it is not reported again.
  ///   - body: Receives an hour of the budget day and the number of instances, for each distance.
  mutating func report(_ hour: Int64, takes: Bool, _ body: (_ place: Int, _ instances: Int64) -> Void) {
    if instances.isEmpty { return }
    for row in 0..<Self.hours {
      let place = Self.place(row, hour)
      let slot = row * Self.hours + place
      if instances[slot] == 0 { continue }
      body(place, Int64(instances[slot]))
      if takes { instances[slot] = 0 }
    }
    if takes, instances.allSatisfy({ $0 == 0 }) { instances = [] }
  }

  /// Moves the instances to the hours of another budget day.
  /// - Parameter hours: The hours from the beginning of the old budget day to that of the new one.
  mutating func rotate(by hours: Int) {
    if instances.isEmpty { return }
    let old = instances
    for row in 0..<Self.hours {
      for place in 0..<Self.hours {
        // The hour of the log stays, so the distance to it changes as the hour of the day does.
        let (oldRow, oldPlace) = (Self.wrapped(row + hours), Self.wrapped(place + hours))
        instances[row * Self.hours + place] = old[oldRow * Self.hours + oldPlace]
      }
    }
  }

  private static func wrapped(_ hour: Int) -> Int { (hour % hours + hours) % hours }

  private static func row(_ hour: Int64, _ place: Int) -> Int {
    let distance = (Int64(place) - hour) % Int64(hours)
    return Int(distance < 0 ? distance + Int64(hours) : distance)
  }

  private static func place(_ row: Int, _ hour: Int64) -> Int {
    let place = (Int64(row) + hour) % Int64(hours)
    return Int(place < 0 ? place + Int64(hours) : place)
  }

  /// Writes the hours that have instances.
  func write(to writer: inout BinaryWriter) {
    let slots = instances.indices.filter { instances[$0] != 0 }
    writer.count(slots.count)
    for slot in slots {
      writer.varint(UInt64(slot))
      writer.varint(UInt64(instances[slot]))
    }
  }

  /// Reads what `write` wrote.
  /// - Throws: `BinaryError` if the bytes end early or hold numbers that no planner writes.
  init(from reader: inout BinaryReader) throws(BinaryError) {
    let count: Int = try reader.integer("hours without tokens")
    if count == 0 { return }
    instances = ContiguousArray(repeating: 0, count: Self.hours * Self.hours)
    var last = -1
    for _ in 0..<count {
      let (slot, found): (Int, Int32) = (try reader.integer("an hour"), try reader.integer("instances"))
      guard slot > last, slot < instances.count, found > 0 else {
        throw .corrupt(offset: reader.offset, what: "hours without tokens")
      }
      instances[slot] = found
      last = slot
    }
  }
}
