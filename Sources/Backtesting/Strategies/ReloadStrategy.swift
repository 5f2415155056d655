import Planning
import Policies

/// A reload strategy in use today. It knows the tokens and the clock, but not the worth of a change. Strategies are the
/// baselines that a policy must beat.
public enum ReloadStrategy: Equatable, Sendable {
  /// Reloads at once until the day's tokens are spent.
  case firstCome
  /// Reloads at most once per (24 hours / tokens).
  case interval
  /// Reloads at the rate of GCRA, the generic cell rate algorithm, with T = 24 hours / tokens.
  case gcra(burst: Int)
  /// Reloads five seconds after the last of several changes, until the day's tokens are spent: debounce with a daily cap.
  case debounce

  /// The strategies that every policy is compared with, in the order of reports.
  public static let baselines: [ReloadStrategy] = [.firstCome, .debounce, .interval, .gcra(burst: 1), .gcra(burst: 4)]

  /// The name in reports.
  public var name: String {
    switch self {
    case .firstCome: "first come"
    case .interval: "fixed interval"
    case .gcra(let burst): "GCRA, burst \(burst)"
    case .debounce: "debounce 5 s + cap"
    }
  }

  /// The silence that `debounce` waits for, µs.
  static let debounceSpan: Int64 = 5_000_000

  /// Returns the reloads of one instance, µs, rising. The day's tokens and the minimum interval hold as for a planner.
  /// - Parameters:
  ///   - arrivals: The changes of the instance, in the order of their times.
  ///   - tokens: The tokens of a day, at least 1.
  ///   - minInterval: The least time between two reloads, µs.
  ///   - days: The budget days of the instance.
  func reloads(for arrivals: [Arrival], tokens: Int, minInterval: Int64, days: LocalDays) -> [Int64] {
    var course = Course(strategy: self, tokens: tokens, minInterval: minInterval, days: days)
    for (place, arrival) in arrivals.enumerated() {
      course.take(arrival)
      course.run(before: place + 1 < arrivals.count ? arrivals[place + 1].time : .max)
    }
    return course.reloads
  }

  /// One instance under one strategy, change by change.
  private struct Course {
    let strategy: ReloadStrategy
    let tokens: Int
    let minInterval: Int64
    let days: LocalDays
    var reloads: [Int64] = []
    /// The newest pending change, with the latest expiry of all pending changes.
    var waiting: Arrival?
    var day = LocalDays.Day(index: .min, start: .min, end: .min)
    var spent = 0
    var earliest = Int64.min
    /// The theoretical arrival time (TAT) of GCRA, µs.
    var arrivalTime = Int64.min

    /// Adds a change to those that wait.
    mutating func take(_ arrival: Arrival) {
      waiting = Arrival(
        time: arrival.time, expires: max(arrival.expires, waiting?.expires ?? .min), relevance: arrival.relevance)
    }

    /// Reloads for the changes that wait, if the strategy does so before an instant.
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

    /// T of GCRA, and the length of the fixed interval, µs.
    private var period: Int64 { LocalDays.day / Int64(tokens) }

    /// Renews the tokens if an instant is on a new day.
    private mutating func roll(to instant: Int64) {
      if instant < day.end { return }
      day = days.day(at: instant)
      spent = 0
    }
  }
}
