import Domain

/// The usual course of one quantity over a budget day of a kind: the changes that people could see (need), or the worth of the
/// pushes. It is learnt from all instances of the kind in the partition, hour by hour.
///
/// An hour's usual amount b is the mean over the instances that were there, drawn towards the day's level in proportion to the
/// looks of the hour: b = (c + 30 · level · p) / (n + 30), level = (Σc + 2c₀) / (Σ n·p + 2). c is counted, n the instance-days
/// that were observed of the hour, p the hour's share of looks, c₀ the amount of a day before anything is known.
///
/// Counts are integers, so that the order in which instances are counted changes nothing. The amounts that prices use are
/// computed every ten minutes of the log (`freeze`). They are part of the state, because the counts go on in between.
struct DemandProfile {
  /// The amount counted in each hour of the budget day, in millionths.
  private(set) var counted = ContiguousArray<Int64>(repeating: 0, count: 24)
  /// The usual amount of an instance in each hour of the budget day.
  private(set) var usual = ContiguousArray<Double>(repeating: 0, count: 24)
  /// The sum of `usual` before each hour; the last one is the whole day's.
  private(set) var before = ContiguousArray<Double>(repeating: 0, count: 25)
  /// The sum of `usual` before each hour, with earlier hours faded as `FadingMemory` says.
  private var recent = ContiguousArray<Double>(repeating: 0, count: 25)

  /// The count of an amount of 1: amounts are counted in millionths.
  static let unit = 1_000_000.0
  /// The weight of the day's level in the mean of each hour, in instance-days.
  private static let levelDays = 30.0
  /// The weight of c₀, the amount of a day before anything is known, in the day's level. Instance-days.
  private static let priorDays = 2.0

  /// Creates the course of a quantity of which nothing is known. Call `freeze` before use.
  init() {}

  /// Counts an amount in an hour of the budget day.
  mutating func count(_ amount: Double, hour: Int) {
    counted[hour] = counted[hour].addingReportingOverflow(Int64((amount * Self.unit).rounded())).partialValue
  }

  /// Takes out an amount that `count` counted in an hour of the budget day.
  mutating func uncount(_ amount: Double, hour: Int) {
    counted[hour] = max(
      0, counted[hour].subtractingReportingOverflow(Int64((amount * Self.unit).rounded())).partialValue)
  }

  /// Computes the usual amounts anew.
  /// - Parameters:
  ///   - days: The instance-days observed of each hour, in millionths; 24 numbers. Negative ones count as 0.
  ///   - shares: The share of looks of each hour, 24 numbers that sum to 1.
  ///   - prior: c₀, the amount of a day before anything is known.
  ///   - hourMax: The largest usual amount of an hour.
  mutating func freeze(days: ContiguousArray<Int64>, shares: ContiguousArray<Double>, prior: Double, hourMax: Double) {
    var (sum, looks) = (0.0, 0.0)
    for hour in 0..<24 {
      sum += Double(counted[hour]) / Self.unit
      looks += Double(max(0, days[hour])) / Self.unit * shares[hour]
    }
    let level = (sum + Self.priorDays * prior) / (looks + Self.priorDays)
    for hour in 0..<24 {
      let observed = Double(max(0, days[hour])) / Self.unit
      let amount =
        (Double(counted[hour]) / Self.unit + Self.levelDays * level * shares[hour]) / (observed + Self.levelDays)
      usual[hour] = min(hourMax, amount)
    }
    accumulate()
  }

  private mutating func accumulate() {
    let (hour, half) = (FadingMemory.factor(hours: 1), FadingMemory.factor(hours: 0.5))
    for place in 0..<24 {
      before[place + 1] = before[place] + usual[place]
      recent[place + 1] = recent[place] * hour + usual[place] * half
    }
  }

  /// Returns the usual amounts around a place in the day.
  /// - Parameters:
  ///   - place: The place.
  ///   - start: The place in the day at which the instance was added, if that was today; otherwise `.start`.
  @inline(__always)
  func course(at place: DayPlace, from start: DayPlace) -> DemandCourse {
    let passed = passed(place)
    let course = DemandCourse(whole: before[24], passed: passed, rest: before[24] - passed, recent: remembered(place))
    return start == .start ? course : since(start, course, at: place)
  }

  /// Returns the usual amounts for an instance that was added within the day.
  /// - Parameters:
  ///   - start: The place in the day at which the instance was added.
  ///   - course: The usual amounts around `place` for an instance that was there from the beginning of the day.
  ///   - place: The place in the day.
  func since(_ start: DayPlace, _ course: DemandCourse, at place: DayPlace) -> DemandCourse {
    var seen = course
    seen.passed = max(0, course.passed - passed(start))
    let faded = FadingMemory.factor(hours: max(0, place.hours - start.hours))
    seen.recent = max(0, course.recent - remembered(start) * faded)
    return seen
  }

  @inline(__always)
  private func passed(_ place: DayPlace) -> Double { before[place.hour] + usual[place.hour] * place.part }

  /// Returns the usual amounts before a place, faded as `FadingMemory` says. The part of the current hour that has
  /// passed counts as if it had come at the middle of that part.
  @inline(__always)
  private func remembered(_ place: DayPlace) -> Double {
    let half = FadingMemory.factor(hours: place.part * 0.5)
    return recent[place.hour] * half * half + usual[place.hour] * place.part * half
  }

  /// Returns the usual amounts for a device whose looks come at other hours than those of the kind: each hour is scaled.
  /// - Parameters:
  ///   - place: The place.
  ///   - start: The place in the day at which the instance was added, if that was today; otherwise `.start`.
  ///   - own: The device's share of looks in each hour of the budget day, divided by the kind's.
  func course(at place: DayPlace, from start: DayPlace, own: InlineArray<24, Double>) -> DemandCourse {
    var course = DemandCourse(whole: 0, passed: 0, rest: 0, recent: 0)
    for hour in 0..<24 {
      let amount = usual[hour] * own[hour]
      course.whole += amount
      let from = hour < start.hour ? 1 : hour == start.hour ? start.part : 0
      let until = hour < place.hour ? 1 : hour == place.hour ? place.part : 0
      course.rest += amount * (1 - until)
      guard until > from else { continue }
      course.passed += amount * (until - from)
      let age = place.hours - Double(hour) - (from + until) / 2
      course.recent += amount * (until - from) * FadingMemory.factor(hours: age)
    }
    return course
  }

  /// Moves what is known to the hours of another budget day.
  /// - Parameter hours: The hours from the beginning of the old budget day to that of the new one.
  mutating func rotate(by hours: Int) {
    counted.rotateDay(by: hours)
    usual.rotateDay(by: hours)
    accumulate()
  }

  /// Forgets what was counted, because it was counted in another unit.
  mutating func forget() { for hour in 0..<24 { counted[hour] = 0 } }

  /// Writes the counts and the usual amounts.
  func write(to writer: inout BinaryWriter) {
    for hour in 0..<24 { writer.zigzag(counted[hour]) }
    for hour in 0..<24 { writer.double(usual[hour]) }
  }

  /// Reads what `write` wrote.
  /// - Throws: `BinaryError` if the bytes end early or hold numbers that no planner writes.
  mutating func read(from reader: inout BinaryReader) throws(BinaryError) {
    for hour in 0..<24 { counted[hour] = try reader.zigzag("an amount") }
    for hour in 0..<24 { usual[hour] = try reader.double("a usual amount") }
    guard counted.allSatisfy({ $0 >= 0 }), usual.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
      throw .corrupt(offset: reader.offset, what: "amounts that are not negative")
    }
    accumulate()
  }
}

extension ContiguousArray {
  /// Moves 24 values of the hours of a budget day to the hours of another one.
  /// - Parameter hours: The hours from the beginning of the old budget day to that of the new one.
  mutating func rotateDay(by hours: Int) {
    let old = self
    for hour in indices { self[hour] = old[((hour + hours) % count + count) % count] }
  }
}

/// The usual amounts of a quantity around a place in the day.
struct DemandCourse: Equatable {
  /// The amount of the whole day.
  var whole: Double
  /// The amount until the place: from the beginning of the day, or from the time at which the instance was added on
  /// that day.
  var passed: Double
  /// The amount from the place to the end of the day.
  var rest: Double
  /// The amount until the place, with earlier hours faded as `FadingMemory` says.
  var recent: Double
}
