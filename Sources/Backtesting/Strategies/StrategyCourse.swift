import Replay

/// One instance under one strategy. The day's tokens and the minimum interval hold as for a planner. While the screen
/// is right, time without a change takes no computing.
struct StrategyCourse {
  private let strategy: ReloadStrategy
  private let tokens: Int
  private let minInterval: Int64
  private let looks: DayLooksSource
  private var days: LocalDays
  private var screen: ScreenState
  private(set) var reloads: [Int64] = []
  private var day = LocalDays.Day(index: .min, start: .min, end: .min)
  private var expected = DayLooks(recorded: [])
  private var spent = 0
  private var earliest = Int64.min
  /// The theoretical arrival time (TAT) of GCRA, µs.
  private var arrivalTime = Int64.min
  /// The number of looks on earlier days since the last reload.
  private var looksBefore = 0.0
  /// The number of looks of today before the last reload.
  private var looksAtReload = 0.0

  /// Returns the looks that are expected on a budget day.
  typealias DayLooksSource = (LocalDays.Day) -> DayLooks

  /// Returns the reloads of one instance, µs, rising.
  /// - Parameters:
  ///   - strategy: The strategy.
  ///   - stream: The changes of the truth that the instance displays.
  ///   - free: The instants at which the instance reloads without a push, µs, rising.
  ///   - tokens: The tokens of a day, at least 1.
  ///   - minInterval: The least time between two reloads, µs.
  ///   - days: The budget days of the instance.
  ///   - looks: Returns the looks that are expected on a day.
  static func reloads(
    _ strategy: ReloadStrategy, for stream: ScreenStream, free: [Int64] = [], tokens: Int, minInterval: Int64,
    days: LocalDays, looks: @escaping DayLooksSource
  ) -> [Int64] {
    var course = StrategyCourse(
      strategy: strategy, tokens: tokens, minInterval: minInterval, looks: looks, days: days,
      screen: ScreenState(stream))
    course.run(stream.changes, free: free)
    return course.reloads
  }

  private init(
    strategy: ReloadStrategy, tokens: Int, minInterval: Int64, looks: @escaping DayLooksSource, days: LocalDays,
    screen: ScreenState
  ) {
    self.strategy = strategy
    self.tokens = tokens
    self.minInterval = minInterval
    self.looks = looks
    self.days = days
    self.screen = screen
  }

  private mutating func run(_ changes: [ScreenChange], free: [Int64]) {
    var next = 0
    var gratis = 0
    while next < changes.count || gratis < free.count {
      let change = next < changes.count ? changes[next].time : .max
      let instant = min(change, gratis < free.count ? free[gratis] : .max)
      if change == instant {
        // All changes of one instant come before a reload at that instant.
        while next < changes.count, changes[next].time == instant {
          screen.take(changes[next].content)
          next += 1
        }
      } else {
        screen.reload()
        gratis += 1
      }
      let following = min(next < changes.count ? changes[next].time : .max, gratis < free.count ? free[gratis] : .max)
      settle(from: instant, until: following)
    }
  }

  /// Reloads a wrong screen, if the strategy does so between two changes.
  private mutating func settle(from start: Int64, until end: Int64) {
    guard screen.distance > 0 else { return }
    roll(to: start)
    var due = max(start, earliest)
    if case .debounce = strategy { due = max(due, start + ReloadStrategy.debounceSpan) }
    if case .gcra(let burst) = strategy, arrivalTime != .min {
      due = max(due, arrivalTime - Int64(burst - 1) * period)
    }
    // One day has looks enough for every token, so two are enough to find the instant.
    let last = min(end, due &+ 2 * LocalDays.day)
    while due < end {
      roll(to: due)
      if spent >= tokens {
        due = day.end
      } else if strategy != .evenlyByLooks || isDue(due) {
        return reload(at: due)
      } else {
        due += ReloadStrategy.evenStep
        if due >= last { return }
      }
    }
  }

  /// Returns whether enough looks have passed since the last reload for `evenlyByLooks`.
  private func isDue(_ instant: Int64) -> Bool {
    let now = expected.before(instant)
    let left = expected.before(day.end) - now
    return expected.areExpected(at: instant)
      && looksBefore + now - looksAtReload >= ReloadStrategy.evenShare * left / Double(tokens - spent)
  }

  private mutating func reload(at instant: Int64) {
    screen.reload()
    reloads.append(instant)
    spent += 1
    earliest = instant + minInterval
    looksBefore = 0
    switch strategy {
    case .interval: earliest = instant + max(minInterval, period)
    case .gcra: arrivalTime = max(instant, arrivalTime) + period
    case .evenlyByLooks: looksAtReload = expected.before(instant)
    case .firstCome, .debounce: break
    }
  }

  /// T of GCRA, and the length of the fixed interval, µs.
  private var period: Int64 { LocalDays.day / Int64(tokens) }

  /// Renews the tokens if an instant is on a new day.
  private mutating func roll(to instant: Int64) {
    if instant < day.end { return }
    // A whole day without a reload has more looks than any token waits for, so days in between need not be counted.
    if day.end != .min { looksBefore += expected.before(day.end) - looksAtReload }
    looksAtReload = 0
    day = days.day(at: instant)
    if strategy == .evenlyByLooks { expected = looks(day) }
    spent = 0
  }
}
