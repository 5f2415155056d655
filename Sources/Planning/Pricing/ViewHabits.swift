import Domain

/// The hours at which one person looks at the device, learnt from the device's own signals. For each local hour it counts
/// the days on which the person looked in that hour. It takes 32 bytes.
///
/// Several looks in one hour count as one. When an hour has been counted `countMax` times all counters are halved, so
/// that the habits of a month ago fade.
struct ViewHabits: Equatable {
  /// The counters, eight to a word, hour 0 in the lowest byte of the first.
  private var words: (night: UInt64, day: UInt64, evening: UInt64) = (0, 0, 0)
  /// The days on which somebody looked at all; halved with the counters.
  private(set) var days: UInt8 = 0
  /// The largest counter.
  private(set) var best: UInt8 = 0
  /// The local hour (hours since 1970) that was counted last. Wraps.
  private(set) var lastHour: UInt32 = 0

  /// The value of a counter at which all counters are halved.
  static let countMax: UInt8 = 32

  /// Creates the habits of a device that has sent no look.
  init() {}

  /// Counts a look, unless its hour is not later than the one that was counted last.
  /// - Parameter localHour: The local hour of the look, in hours since 1970.
  /// - Returns: Whether it was counted.
  mutating func note(localHour: Int64) -> Bool {
    let hour = UInt32(truncatingIfNeeded: localHour)
    guard days == 0 || hour > lastHour else { return false }
    if days < .max, days == 0 || hour / 24 > lastHour / 24 { days += 1 }
    lastHour = hour
    let place = Int(hour % 24)
    add(place)
    best = max(best, count(place))
    if best >= Self.countMax { fade() }
    return true
  }

  /// Returns the counter of a local hour, 0…23.
  func count(_ hour: Int) -> UInt8 {
    let word = hour < 8 ? words.night : hour < 16 ? words.day : words.evening
    return UInt8(truncatingIfNeeded: word >> UInt64((hour & 7) * 8))
  }

  private mutating func add(_ hour: Int, _ count: UInt8 = 1) {
    let one = UInt64(count) << UInt64((hour & 7) * 8)
    if hour < 8 { words.night += one } else if hour < 16 { words.day += one } else { words.evening += one }
  }

  private mutating func fade() {
    let mask: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
    words = (words.night >> 1 & mask, words.day >> 1 & mask, words.evening >> 1 & mask)
    days >>= 1
    best >>= 1
  }

  /// Returns the weight of the device's own hours in a mean with the hours of a kind, 0…1.
  /// - Parameter priorDays: The number of days with own looks at which both have the same weight.
  func weight(priorDays: Double) -> Double { Double(days) / (Double(days) + priorDays) }

  /// Returns the chance of a look in a local hour relative to the best hour, 0…1, from the device's own looks alone.
  func share(_ hour: Int) -> Double { Double(count(hour)) / Double(max(1, best)) }

  static func == (a: ViewHabits, b: ViewHabits) -> Bool {
    a.words == b.words && a.days == b.days && a.best == b.best && a.lastHour == b.lastHour
  }
}

extension ViewHabits {
  /// Writes a bit for each hour in which somebody looked, then the counters of these hours, then `days` and `lastHour`.
  func write(to writer: inout BinaryWriter) {
    var hours: UInt64 = 0
    for hour in 0..<24 where count(hour) != 0 { hours |= 1 << UInt64(hour) }
    writer.varint(hours)
    for hour in 0..<24 where count(hour) != 0 { writer.uint8(count(hour)) }
    writer.uint8(days)
    writer.varint(UInt64(lastHour))
  }

  /// Reads what `write` wrote.
  /// - Throws: `BinaryError` if the bytes end early or hold counters that no device can have.
  init(from reader: inout BinaryReader) throws(BinaryError) {
    let hours = try reader.varint("hours with a look")
    guard hours < 1 << 24 else { throw .corrupt(offset: reader.offset, what: "hours of a day") }
    for hour in 0..<24 where hours >> UInt64(hour) & 1 != 0 { add(hour, try reader.uint8("looks by hour")) }
    days = try reader.uint8("days with a look")
    lastHour = try reader.integer("an hour")
    for hour in 0..<24 { best = max(best, count(hour)) }
    guard best < Self.countMax, days > 0 else { throw .corrupt(offset: reader.offset, what: "looks by hour") }
  }
}
