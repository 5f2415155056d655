import Planning
import Policies

/// Rules that know nothing of worth: what is in use today. The yardsticks that a price must beat.
public enum ReloadStrategy: Equatable, Sendable {
  /// Sends at once until the day's tokens are gone.
  case firstCome
  /// At most one reload per (day / tokens).
  case interval
  /// GCRA with T = day / tokens and this burst.
  case gcra(burst: Int)
  /// Five seconds after the last of several changes, until the day's tokens are gone: debounce and a daily cap.
  case debounce

  /// In the order of reports.
  public static let baselines: [ReloadStrategy] = [.firstCome, .debounce, .interval, .gcra(burst: 1), .gcra(burst: 4)]

  public var name: String {
    switch self {
    case .firstCome: "first come"
    case .interval: "fixed interval"
    case .gcra(let burst): "GCRA, burst \(burst)"
    case .debounce: "debounce 5 s + cap"
    }
  }

  static let debounceSpan: Int64 = 5_000_000

  /// When it reloads, µs, rising. The day's number and the minimum interval hold for it as for a planner.
  func reloads(for arrivals: [Arrival], tokens: Int, minInterval: Int64, days: LocalDays) -> [Int64] {
    var course = Course(strategy: self, tokens: tokens, minInterval: minInterval, days: days)
    for (place, arrival) in arrivals.enumerated() {
      course.take(arrival)
      course.run(before: place + 1 < arrivals.count ? arrivals[place + 1].time : .max)
    }
    return course.reloads
  }

  /// One instance under one strategy.
  private struct Course {
    let strategy: ReloadStrategy
    let tokens: Int
    let minInterval: Int64
    let days: LocalDays
    var reloads: [Int64] = []
    /// Of the newest change that waits.
    var waiting: Arrival?
    var day = LocalDays.Day(index: .min, start: .min, end: .min)
    var spent = 0
    var earliest = Int64.min
    /// GCRA
    var arrivalTime = Int64.min

    mutating func take(_ arrival: Arrival) {
      waiting = Arrival(
        time: arrival.time, expires: max(arrival.expires, waiting?.expires ?? .min), relevance: arrival.relevance)
    }

    /// Reloads if that falls before an instant.
    mutating func run(before end: Int64) {
      guard let change = waiting else { return }
      var due = max(change.time, earliest)
      if case .debounce = strategy { due = max(due, change.time + ReloadStrategy.debounceSpan) }
      if case .gcra(let burst) = strategy, arrivalTime != .min {
        due = max(due, arrivalTime - Int64(burst - 1) * period)
      }
      roll(to: due)
      if spent >= tokens { due = day.end }
      guard due < end else { return }
      waiting = nil
      if due >= change.expires { return }
      roll(to: due)
      spent += 1
      reloads.append(due)
      earliest = due + minInterval
      switch strategy {
      case .interval: earliest = due + max(minInterval, period)
      case .gcra: arrivalTime = max(due, arrivalTime) + period
      case .firstCome, .debounce: break
      }
    }

    private var period: Int64 { LocalDays.day / Int64(tokens) }

    private mutating func roll(to instant: Int64) {
      if instant < day.end { return }
      day = days.day(at: instant)
      spent = 0
    }
  }
}
