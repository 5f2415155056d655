import Domain
import Policies

/// The course of a kind's day: the hours at which value comes in, as the policy assumes it and as the log has shown it.
struct KindCurve {
  /// The tokens of an instance in a day.
  private(set) var perDay = 0
  /// The local time at which a budget day begins, in minutes after midnight.
  private(set) var anchorMinute = 240
  /// The inverse of the half-life, in 1 / µs.
  private(set) var inverseHalfLife = 0.0
  /// The base price that the policy sets.
  private(set) var thetaPrior = 0.3
  /// The number that the policy adds to both sides of the scarcity ratio, so that the last tokens do not cost too much.
  private(set) var smoothing = 3.0
  /// The chance of a look by local hour, 24 numbers.
  private var views: ContiguousArray<Double> = []
  /// The largest of `views`.
  private(set) var viewsMax = 0.0
  /// The share of a day's value by local hour that the policy assumes, 24 numbers.
  private var prior: [Double] = []
  /// The number of days of a device's own views that `views` counts as much as.
  private(set) var viewsWeight = 2.0

  /// θ of the kind as a multiple of `thetaPrior`. New instances begin with it. It follows the θ of instances when their days
  /// end.
  private(set) var theta = 1.0
  /// The number of windows of instances that θ has followed, at most `windowsMax`.
  private var windowsSeen = 0
  /// The relevance of past events by local hour. It fades by a tenth each day.
  private var arrivals = ContiguousArray<Double>(repeating: 0, count: 24)
  /// Whether the curve has changed since the last commit.
  private(set) var touched = false
  /// The hours of the log since the kind was first seen, at most `hoursMax`.
  private var hoursObserved = 0
  /// For each hour after the anchor, the expected share of a budget day's value from that hour to the end of the day:
  /// `remaining[0] == 1`, `remaining[24] == 0`.
  private var remaining: ContiguousArray<Double> = [] { didSet { spread() } }
  /// For each local hour, the share of a day's value that would come in it if somebody were sure to look. For devices with
  /// views of their own, whose chance of a look is another one.
  private var density = ContiguousArray<Double>(repeating: 0, count: 24)

  /// The bound on `hoursObserved`, a fortnight.
  static let hoursMax = 24 * 14
  /// The number of windows over which θ is averaged.
  static let windowsMax = 256

  /// Creates a curve without experience. `configure` before asking it.
  init() {}

  /// Takes over the policy's settings. The curve keeps its experience.
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

  /// Marks the curve as changed.
  mutating func touch() { touched = true }
  /// Marks the curve as written.
  mutating func untouch() { touched = false }

  /// Counts the relevance of an event in a local hour, 0…23.
  mutating func noteArrival(hour: Int, relevance: Double) {
    arrivals[hour] += relevance
    touched = true
  }

  /// Makes θ follow that of an instance whose window has ended. θ is the mean over the first 256 windows; from then on each
  /// window moves it by 1 / 257 of the difference.
  mutating func follow(theta ended: Double) {
    windowsSeen = min(Self.windowsMax, windowsSeen + 1)
    // The prior counts as one window.
    theta += (ended - theta) / Double(windowsSeen + 1)
    touched = true
  }

  /// Notes that an hour of log time has ended: fades past events and computes the curve anew.
  mutating func hourPassed() {
    hoursObserved = min(Self.hoursMax, hoursObserved + 1)
    // 0.9^(1/24) per hour: a tenth fades in a day.
    for hour in 0..<24 { arrivals[hour] *= 0.995_619_6 }
    refreshCurve()
  }

  /// Computes the curve from the policy's shares and from experience. Experience has a weight of a fifth after one day, and of
  /// four fifths from four days on.
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

  /// Returns F, the expected share of the budget day's value that is still to come at a local time of day.
  @inline(__always)
  func shareToCome(_ timeOfDay: TimeOfDay) -> Double {
    var sinceAnchor = timeOfDay.microseconds - Int64(anchorMinute) * 60_000_000
    if sinceAnchor < 0 { sinceAnchor += Self.dayLength }
    let place = Int(sinceAnchor / Self.hourLength)
    let part = Double(sinceAnchor % Self.hourLength) / Double(Self.hourLength)
    let from = remaining[place]
    return from + (remaining[place + 1] - from) * part
  }

  /// The least chance of a look that `density` assumes. If the kind's curve says that nobody looks in an hour, a device whose
  /// person does look then would otherwise count without bound.
  private static let viewMin = 0.01

  private mutating func spread() {
    for place in 0..<24 {
      let hour = (place + anchorMinute / 60) % 24
      density[hour] = (remaining[place] - remaining[place + 1]) / max(Self.viewMin, views[hour])
    }
  }

  /// Returns F for a device with views of its own. The share of each hour is in proportion to the chance of a look in it, which
  /// is the kind's, drawn towards the device's.
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
    // Brings both curves to one scale, in which the shares of the kind's sum to 1.
    let scale = Double(max(1, habits.best))
    let weight = habits.weight(priorDays: viewsWeight)
    let usual = shareToCome(timeOfDay)
    let whole = 1 - weight + weight * total / scale
    return whole > 0 ? (usual * (1 - weight) + weight * toCome / scale) / whole : usual
  }

  /// Returns the chance that somebody looks at a local time of day.
  @inline(__always)
  func view(_ timeOfDay: TimeOfDay) -> Double { views[timeOfDay.hour] }

  private static let dayLength: Int64 = 86_400_000_000
  private static let hourLength: Int64 = 3_600_000_000

  /// Writes the experience, not the policy's settings.
  func write(to writer: inout BinaryWriter) {
    writer.double(theta)
    writer.count(windowsSeen)
    writer.count(hoursObserved)
    for hour in 0..<24 { writer.double(arrivals[hour]) }
    for place in 0..<25 { writer.double(remaining[place]) }
  }

  /// Reads the experience. `remaining` is part of it, because it is computed anew only once an hour.
  /// - Throws: `BinaryError` if the bytes end early or hold numbers out of range.
  mutating func read(from reader: inout BinaryReader) throws(BinaryError) {
    theta = try reader.double("θ")
    windowsSeen = min(Self.windowsMax, try reader.integer("windows seen"))
    hoursObserved = min(Self.hoursMax, try reader.integer("hours observed"))
    for hour in 0..<24 { arrivals[hour] = try reader.double("arrivals") }
    var suffix = ContiguousArray<Double>(repeating: 0, count: 25)
    for place in 0..<25 { suffix[place] = try reader.double("a share to come") }
    remaining = suffix
    guard theta > 0, theta.isFinite, arrivals.allSatisfy({ $0 >= 0 && $0.isFinite }),
      zip(suffix, suffix.dropFirst()).allSatisfy({ $0 >= $1 })
    else { throw .corrupt(offset: reader.offset, what: "a curve of positive numbers") }
  }

  /// Traps if an invariant is broken that holds between any two records. For tests.
  func checkInvariants() {
    precondition(remaining.count == 25 && arrivals.count == 24, "a curve has 24 hours")
    precondition(zip(remaining, remaining.dropFirst()).allSatisfy { $0 >= $1 }, "a share to come rises")
    precondition(theta > 0 && arrivals.allSatisfy { $0 >= 0 }, "a kind has learnt a negative number")
  }
}
