import Domain
import Policies

/// A kind as the planner knows it: the policy's numbers in the units of the hot path, and what the log has taught.
struct KindState {
  let name: String
  /// Bytes of the name in JSON at most.
  let nameBytes: Int
  /// Index in the policy's kinds; −1: the policy does not know it.
  var policyIndex = -1
  var enabled = false
  /// Surface `background`: pushed by waking the app even where a widget push could go.
  var prefersBackground = false
  /// Switched off by the policy, which is not the same as unknown to it.
  var isDisabled: Bool { policyIndex >= 0 && !enabled }
  var perDay = 0
  var minInterval: Int64 = 0
  var anchorMinute = 240
  var rolling = false
  /// share · perDay; 0: no reserve.
  var reserveTokens = 0.0
  var reserveAboveRelevance = 2.0
  /// 1 / half-life in µs
  var inverseHalfLife = 0.0
  var expireAfter: Int64 = 0
  var imminentReload: Int64 = 0
  var thetaPrior = 0.3
  var floor = 0.0
  var smoothing = 3.0
  /// View chance by local hour, 24.
  var views: ContiguousArray<Double> = []
  /// The largest of them.
  private(set) var viewsMax = 0.0
  var prior: [Double] = []
  /// Days of a device's own views that `views` counts as much as.
  var viewsWeight = 2.0

  /// θ of the kind as a multiple of `thetaPrior`: where new instances start. Follows the θ of instances as their days end.
  var theta = 1.0
  /// Windows of instances that θ has followed, at most `windowsMax`.
  var windowsSeen = 0
  /// Relevance seen by local hour, fading by a tenth each day.
  var arrivals = ContiguousArray<Double>(repeating: 0, count: 24)
  /// Whether something learnt changed since the last commit.
  var touched = false
  /// Hours of the log since the kind was first seen, at most `hoursMax`.
  var hoursObserved = 0
  /// Expected share of a day's value from local hour h of the budget day to its end: `remaining[0] == 1`,
  /// `remaining[24] == 0`; hours count from the anchor.
  private(set) var remaining: ContiguousArray<Double> = [] { didSet { spread() } }
  /// By local hour, the share of a day's value that comes in it were somebody sure to look: for devices with views of
  /// their own.
  private var density = ContiguousArray<Double>(repeating: 0, count: 24)

  static let hoursMax = 24 * 14
  static let windowsMax = 256

  init(name: String) {
    self.name = name
    nameBytes = name.utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == 0x22 || $1 == 0x5c ? 6 : 1) }
  }

  /// Takes over the policy's numbers; what was learnt stays.
  mutating func configure(_ policy: Policy) {
    guard let index = policy.kinds.firstIndex(where: { $0.name == name }) else {
      let unknown = KindPolicy(
        name: name,
        budget: InstanceBudget(
          perDay: policy.profile.instanceReloads.limit, minInterval: policy.profile.instanceReloads.minInterval),
        halfLife: .minutes(20), rules: [])
      configure(unknown, index: -1)
      return
    }
    configure(policy.kinds[index], index: index)
  }

  private mutating func configure(_ kind: KindPolicy, index: Int) {
    policyIndex = index
    enabled = kind.enabled
    prefersBackground = kind.surface == .background
    perDay = kind.budget.perDay
    minInterval = kind.budget.minInterval.microseconds
    switch kind.budget.window {
    case .localDay(let minute):
      anchorMinute = minute
      rolling = false
    case .rolling:
      anchorMinute = 240
      rolling = true
    }
    reserveTokens = (kind.budget.reserve?.share ?? 0) * Double(kind.budget.perDay)
    reserveAboveRelevance = kind.budget.reserve?.aboveRelevance ?? 2
    inverseHalfLife = 1 / Double(max(1, kind.halfLife.microseconds))
    expireAfter = Int64(Double(kind.halfLife.microseconds) * kind.expireAfterHalfLives)
    imminentReload = kind.imminentReload.microseconds
    thetaPrior = kind.price.base
    floor = kind.price.floor
    smoothing = kind.price.smoothing
    views = ContiguousArray(kind.views)
    viewsMax = views.max() ?? 0
    viewsWeight = kind.viewsWeight
    prior = kind.price.hourlyShare
    refreshCurve()
  }

  /// θ of an instance at the end of its window: the mean of the first ones, fading over the last 256.
  mutating func follow(theta ended: Double) {
    windowsSeen = min(Self.windowsMax, windowsSeen + 1)
    // The prior counts as one window.
    theta += (ended - theta) / Double(windowsSeen + 1)
    touched = true
  }

  /// Restore: the curve as it was mixed last.
  mutating func restore(remaining suffix: ContiguousArray<Double>) { remaining = suffix }

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

  /// F: expected share of the day's value that is still to come, for a time of day in µs after local midnight.
  @inline(__always)
  func shareToCome(timeOfDay: Int64) -> Double {
    var sinceAnchor = timeOfDay - Int64(anchorMinute) * 60_000_000
    if sinceAnchor < 0 { sinceAnchor += LocalZone.day }
    let place = Int(sinceAnchor / LocalZone.hour)
    let part = Double(sinceAnchor % LocalZone.hour) / Double(LocalZone.hour)
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

  /// F for a device whose person looks at hours of their own: each hour's share follows the chance of a look in it, the
  /// kind's drawn towards the device's.
  func shareToCome(timeOfDay: Int64, habits: ViewHabits) -> Double {
    var sinceAnchor = timeOfDay - Int64(anchorMinute) * 60_000_000
    if sinceAnchor < 0 { sinceAnchor += LocalZone.day }
    let place = Int(sinceAnchor / LocalZone.hour)
    var total = 0.0
    for hour in 0..<24 { total += density[hour] * Double(habits.count(hour)) }
    var hour = place + anchorMinute / 60
    if hour >= 24 { hour -= 24 }
    let passed = Double(sinceAnchor % LocalZone.hour) / Double(LocalZone.hour)
    var toCome = -passed * density[hour] * Double(habits.count(hour))
    for _ in place..<24 {
      toCome += density[hour] * Double(habits.count(hour))
      hour = hour == 23 ? 0 : hour + 1
    }
    // Both curves on one scale: shares of a day, of which the kind's sum to 1.
    let scale = Double(max(1, habits.best))
    let weight = habits.weight(priorDays: viewsWeight)
    let usual = shareToCome(timeOfDay: timeOfDay)
    let whole = 1 - weight + weight * total / scale
    return whole > 0 ? (usual * (1 - weight) + weight * toCome / scale) / whole : usual
  }

  @inline(__always)
  func view(timeOfDay: Int64) -> Double { views[Int(timeOfDay / LocalZone.hour)] }
}
