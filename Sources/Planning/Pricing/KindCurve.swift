import Domain
import Policies

/// What the log has taught about the day of a kind, and the policy's numbers that this is mixed with.
struct KindCurve {
  private(set) var perDay = 0
  private(set) var anchorMinute = 240
  /// 1 / half-life in µs
  private(set) var inverseHalfLife = 0.0
  private(set) var thetaPrior = 0.3
  private(set) var smoothing = 3.0
  /// The view chance by local hour, 24 numbers.
  private var views: ContiguousArray<Double> = []
  /// The largest of `views`.
  private(set) var viewsMax = 0.0
  private var prior: [Double] = []
  /// The days of a device's own views that `views` counts as much as.
  private(set) var viewsWeight = 2.0

  /// θ of the kind as a multiple of `thetaPrior`: where new instances start. Follows the θ of instances as their days end.
  private(set) var theta = 1.0
  /// The number of windows of instances that θ has followed, at most `windowsMax`.
  private var windowsSeen = 0
  /// The relevance seen by local hour, fading by a tenth each day.
  private var arrivals = ContiguousArray<Double>(repeating: 0, count: 24)
  /// Whether something learnt changed since the last commit.
  private(set) var touched = false
  /// The hours of the log since the kind was first seen, at most `hoursMax`.
  private var hoursObserved = 0
  /// The expected share of a day's value from local hour h of the budget day to its end: `remaining[0] == 1`,
  /// `remaining[24] == 0`; hours count from the anchor.
  private var remaining: ContiguousArray<Double> = [] { didSet { spread() } }
  /// The share of a day's value that would come in each local hour if somebody were sure to look: for devices with views
  /// of their own.
  private var density = ContiguousArray<Double>(repeating: 0, count: 24)

  static let hoursMax = 24 * 14
  static let windowsMax = 256

  init() {}

  /// Takes over the policy's numbers; what was learnt stays.
  mutating func configure(_ kind: KindPolicy) {
    perDay = kind.budget.perDay
    switch kind.budget.window {
    case .localDay(let minute): anchorMinute = minute
    case .rolling: anchorMinute = 240
    }
    inverseHalfLife = 1 / Double(max(1, kind.halfLife.microseconds))
    thetaPrior = kind.price.base
    smoothing = kind.price.smoothing
    views = ContiguousArray(kind.views)
    viewsMax = views.max() ?? 0
    viewsWeight = kind.viewsWeight
    prior = kind.price.hourlyShare
    refreshCurve()
  }

  mutating func touch() { touched = true }
  mutating func untouch() { touched = false }

  /// Counts the relevance of an event in its local hour.
  mutating func noteArrival(hour: Int, relevance: Double) {
    arrivals[hour] += relevance
    touched = true
  }

  /// θ of an instance at the end of its window: the mean of the first ones, fading over the last 256.
  mutating func follow(theta ended: Double) {
    windowsSeen = min(Self.windowsMax, windowsSeen + 1)
    // The prior counts as one window.
    theta += (ended - theta) / Double(windowsSeen + 1)
    touched = true
  }

  /// Once an hour of log time: fades and re-mixes the curve.
  mutating func hourPassed() {
    hoursObserved = min(Self.hoursMax, hoursObserved + 1)
    // 0.9^(1/24) per hour: a tenth fades in a day.
    for hour in 0..<24 { arrivals[hour] *= 0.995_619_6 }
    refreshCurve()
  }

  /// Prior and experience mixed: after a day a fifth of the weight is experience, after four days and more four fifths.
  mutating func refreshCurve() {
    var learnt = 0.0
    for hour in 0..<24 { learnt += arrivals[hour] * views[hour] }
    let weight = learnt > 0 ? min(0.8, Double(hoursObserved) / 24 * 0.2) : 0
    var suffix = ContiguousArray<Double>(repeating: 0, count: 25)
    let anchorHour = anchorMinute / 60
    for place in stride(from: 23, through: 0, by: -1) {
      let hour = (place + anchorHour) % 24
      var share = prior[hour] * (1 - weight)
      if weight > 0 { share += arrivals[hour] * views[hour] / learnt * weight }
      suffix[place] = suffix[place + 1] + share
    }
    let total = suffix[0]
    if total > 0 { for place in 0..<25 { suffix[place] /= total } }
    remaining = suffix
  }

  /// Returns F: the expected share of the day's value that is still to come, for a time of day in µs after local midnight.
  @inline(__always)
  func shareToCome(_ timeOfDay: TimeOfDay) -> Double {
    var sinceAnchor = timeOfDay.microseconds - Int64(anchorMinute) * 60_000_000
    if sinceAnchor < 0 { sinceAnchor += Self.dayLength }
    let place = Int(sinceAnchor / Self.hourLength)
    let part = Double(sinceAnchor % Self.hourLength) / Double(Self.hourLength)
    let from = remaining[place]
    return from + (remaining[place + 1] - from) * part
  }

  /// The kind's curve where nobody ever looks: a device that does look then must not count without bound.
  private static let viewMin = 0.01

  private mutating func spread() {
    for place in 0..<24 {
      let hour = (place + anchorMinute / 60) % 24
      density[hour] = (remaining[place] - remaining[place + 1]) / max(Self.viewMin, views[hour])
    }
  }

  /// Returns F for a device whose person looks at hours of their own: each hour's share follows the chance of a look in it, the
  /// kind's drawn towards the device's.
  func shareToCome(_ timeOfDay: TimeOfDay, habits: ViewHabits) -> Double {
    var sinceAnchor = timeOfDay.microseconds - Int64(anchorMinute) * 60_000_000
    if sinceAnchor < 0 { sinceAnchor += Self.dayLength }
    let place = Int(sinceAnchor / Self.hourLength)
    var total = 0.0
    for hour in 0..<24 { total += density[hour] * Double(habits.count(hour)) }
    var hour = place + anchorMinute / 60
    if hour >= 24 { hour -= 24 }
    let passed = Double(sinceAnchor % Self.hourLength) / Double(Self.hourLength)
    var toCome = -passed * density[hour] * Double(habits.count(hour))
    for _ in place..<24 {
      toCome += density[hour] * Double(habits.count(hour))
      hour = hour == 23 ? 0 : hour + 1
    }
    // Both curves on one scale: shares of a day, of which the kind's sum to 1.
    let scale = Double(max(1, habits.best))
    let weight = habits.weight(priorDays: viewsWeight)
    let usual = shareToCome(timeOfDay)
    let whole = 1 - weight + weight * total / scale
    return whole > 0 ? (usual * (1 - weight) + weight * toCome / scale) / whole : usual
  }

  @inline(__always)
  func view(_ timeOfDay: TimeOfDay) -> Double { views[timeOfDay.hour] }

  private static let dayLength: Int64 = 86_400_000_000
  private static let hourLength: Int64 = 3_600_000_000

  func write(to writer: inout BinaryWriter) {
    writer.double(theta)
    writer.count(windowsSeen)
    writer.count(hoursObserved)
    for hour in 0..<24 { writer.double(arrivals[hour]) }
    for place in 0..<25 { writer.double(remaining[place]) }
  }

  /// Reads what was learnt; `remaining` too, because it is mixed anew only once an hour.
  mutating func read(from reader: inout BinaryReader) throws(BinaryError) {
    theta = try reader.double("θ")
    windowsSeen = min(Self.windowsMax, try reader.integer("windows seen"))
    hoursObserved = min(Self.hoursMax, try reader.integer("hours observed"))
    for hour in 0..<24 { arrivals[hour] = try reader.double("arrivals") }
    var suffix = ContiguousArray<Double>(repeating: 0, count: 25)
    for place in 0..<25 { suffix[place] = try reader.double("a share to come") }
    remaining = suffix
  }

  /// Checks what holds between any two records.
  func checkInvariants() {
    precondition(remaining.count == 25 && arrivals.count == 24, "a curve has 24 hours")
    precondition(zip(remaining, remaining.dropFirst()).allSatisfy { $0 >= $1 }, "a share to come rises")
    precondition(theta > 0 && arrivals.allSatisfy { $0 >= 0 }, "a kind has learnt a negative number")
  }
}
