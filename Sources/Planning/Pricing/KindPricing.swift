import Domain
import Policies

/// The estimates for one kind: at which hours people look at its instances, and how much demand the instances have.
struct KindPricing {
  /// The demand of the instances.
  var demand: KindDemand
  /// The looks of each local hour at an instance whose device sent no views: the shape of the policy's `views`, scaled to
  /// `LookCurve.looksPerDay`.
  private(set) var looks = LookCurve(weights: KindPolicy.defaultViews)
  /// The chance of a look in each of the 24 local hours, relative to the best hour, as the policy sets it.
  private(set) var views: ContiguousArray<Double> = []
  /// The weight of `views` against a device's own views: as much as this number of days with own views.
  private(set) var viewsWeight = 2.0
  /// The local time at which a budget day begins, in minutes after midnight.
  private(set) var anchorMinute = 240
  /// Whether the policy decides about events of the kind. While it does not, no change is counted, so no hours are either: they would
  /// teach that nothing happens.
  private(set) var isDecided = false
  /// The usual demand in each time zone, by zone slot, as it was computed last; nil if it never was.
  private var usual: ContiguousArray<UsualCourse?> = []
  /// Whether the kind's record in `rouse.state` must be written at the next commit.
  var touched = false

  /// Creates the pricing of a kind. Call `configure` before use.
  init(prior: DemandPrior = .standard) { demand = KindDemand(prior: prior) }

  /// Takes over the policy's settings. What was learnt stays, except worth that was measured by other display settings.
  mutating func configure(_ kind: KindPolicy) {
    switch kind.budget.window {
    case .localDay(let minute): anchorMinute = minute
    case .rolling: anchorMinute = 240
    }
    isDecided = kind.enabled && !kind.rules.isEmpty
    usual.removeAll()
    views = ContiguousArray(kind.views)
    viewsWeight = kind.viewsWeight
    looks = LookCurve(weights: kind.views)
    // A Live Activity has no minimum interval: each change counts.
    demand.configure(
      looks, anchorMinute: anchorMinute, perDay: kind.budget.perDay,
      minInterval: kind.surface.showsActivities ? .zero : kind.budget.minInterval,
      measure: Self.measure(kind.displays))
  }

  /// Returns a hash of the display settings by which the kind measures how wrong a screen is; never 0.
  static func measure(_ displays: [DisplayField]) -> UInt64 {
    var hash = Hash64()
    for field in displays {
      hash.add(field.path)
      hash.add((field.round ?? 0).bitPattern)
      switch field.per {
      case .units(let units): hash.add(units.bitPattern)
      case .percentOfShown(let percent): hash.add((-percent).bitPattern)
      case nil: hash.add(0)
      }
      hash.add(field.weightInForce.bitPattern)
      for named in field.weights {
        hash.add(named.value)
        hash.add(named.weight.bitPattern)
      }
    }
    return max(1, hash.value)
  }

  /// Whether the usual demand and looks in a zone were computed for this instant.
  func isPrepared(_ zone: ZoneSlot, now: Timestamp) -> Bool { zone.index < usual.count && usual[zone.index]?.at == now }

  /// Computes the usual demand and looks in a zone for an instant. Call it before `usual`.
  mutating func prepare(_ zone: ZoneSlot, _ timeOfDay: TimeOfDay, now: Timestamp) {
    while usual.count <= zone.index { usual.append(nil) }
    let place = DayPlace(timeOfDay, anchorMinute: anchorMinute)
    usual[zone.index] = UsualCourse(
      at: now, place: place, need: demand.need.course(at: place, from: .start),
      worth: demand.worth.course(at: place, from: .start), ahead: looks.ahead(timeOfDay))
  }

  /// Returns the usual demand in a zone; nil if it was not computed for this instant.
  @inline(__always)
  func usual(_ zone: ZoneSlot, now: Timestamp) -> UsualCourse? {
    guard zone.index < usual.count, let course = usual[zone.index], course.at == now else { return nil }
    return course
  }

  /// Returns the share of a day's looks that fall in a local hour, as a weighted mean of the kind's hours and the device's own.
  private func mixed(_ hour: Int, _ habits: ViewHabits, _ weight: Double) -> Double {
    views[hour] + (habits.share(hour) - views[hour]) * weight
  }

  /// Returns V, the looks of the next 20 minutes at a device.
  /// - Parameters:
  ///   - timeOfDay: The local time.
  ///   - habits: The habits of the device; nil if it sent no views.
  @inline(__always)
  func ahead(_ timeOfDay: TimeOfDay, _ habits: ViewHabits?) -> Double {
    guard let habits else { return looks.ahead(timeOfDay) }
    let weight = habits.weight(priorDays: viewsWeight)
    var sum = 0.0
    for hour in 0..<24 { sum += mixed(hour, habits, weight) }
    guard sum > 0 else { return looks.ahead(timeOfDay) }
    let next = timeOfDay.hour == 23 ? 0 : timeOfDay.hour + 1
    let scale = LookCurve.looksPerDay / sum
    return LookCurve.ahead(
      timeOfDay, mixed(timeOfDay.hour, habits, weight) * scale, next: mixed(next, habits, weight) * scale)
  }

  /// The least share of looks that an hour of the kind counts as. A device's share is divided by the kind's, and the
  /// quotient must stay bounded when a person looks in an hour in which nobody else does.
  private static let shareMin = 0.001

  /// Returns the device's share of looks in each hour of the budget day, divided by the kind's.
  func own(_ habits: ViewHabits) -> InlineArray<24, Double> {
    let weight = habits.weight(priorDays: viewsWeight)
    var sum = 0.0
    for hour in 0..<24 { sum += mixed(hour, habits, weight) }
    var own = InlineArray<24, Double>(repeating: 1)
    guard sum > 0 else { return own }
    let late = Double(anchorMinute % 60) / 60
    for place in 0..<24 {
      let hour = (anchorMinute / 60 + place) % 24
      let share = mixed(hour, habits, weight) * (1 - late) + mixed((hour + 1) % 24, habits, weight) * late
      own[place] = share / sum / max(Self.shareMin, demand.shares[place])
    }
    return own
  }
}
