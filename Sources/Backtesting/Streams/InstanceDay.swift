import Planning
import Replay

/// One measured instance on one budget day: its changes, its free reloads, and the value of showing a change.
struct InstanceDay: Sendable {
  /// The budget day.
  let day: LocalDays.Day
  /// The value of showing a change.
  let model: ValueModel
  /// The changes of the day, in the order of their times.
  let arrivals: ArraySlice<Arrival>
  /// The instants at which a local hour begins, µs, with the chance of a look in that hour.
  let hours: [(start: Int64, view: Double)]
  /// The instants of the day at which the instance reloads without a push, µs, rising.
  let free: ArraySlice<Int64>

  /// Creates one day of an instance.
  /// - Parameters:
  ///   - day: The budget day.
  ///   - model: The value of showing a change.
  ///   - arrivals: The changes of the day, in the order of their times.
  ///   - free: The instants at which the instance reloads without a push, µs, rising.
  ///   - days: The days of the instance's time zone, for local hours.
  init(
    day: LocalDays.Day, model: ValueModel, arrivals: ArraySlice<Arrival>, free: ArraySlice<Int64> = [],
    days: inout LocalDays
  ) {
    self.day = day
    self.model = model
    self.arrivals = arrivals
    self.free = free
    hours = days.hours(of: day, views: model.views)
  }

  /// Returns the chance of a look at an instant of the day, by binary search.
  func view(at instant: Int64) -> Double {
    var low = 0
    var high = hours.count
    while low + 1 < high {
      let middle = (low + high) / 2
      if hours[middle].start <= instant { low = middle } else { high = middle }
    }
    return hours[low].view
  }

  /// Returns the best plan in hindsight.
  /// - Parameter tokens: The largest number of reloads.
  func optimum(tokens: Int) -> HindsightProblem.Solution { hindsight.solve(reloadsMax: tokens) }

  /// The problem of choosing the best reloads in hindsight.
  var hindsight: HindsightProblem { HindsightProblem(instants, model: model) }

  /// The instants at which a reload can make sense: when a change has just arrived, when a local hour begins, and when a
  /// reload is free.
  var instants: [HindsightProblem.ReloadInstant] {
    var instants: [HindsightProblem.ReloadInstant] = []
    var hour = 0
    var still = free.startIndex
    func quiet(upTo time: Int64) {
      while true {
        let nextHour = hour < hours.count ? hours[hour].start : .max
        let nextFree = still < free.endIndex ? free[still] : .max
        if nextHour <= min(time, nextFree), hour < hours.count {
          instants.append(Self.still(nextHour, hours[hour].view))
          hour += 1
        } else if nextFree < time {
          instants.append(Self.still(nextFree, view(at: nextFree), isFree: true))
          still += 1
        } else {
          return
        }
      }
    }
    let step = max(1, (arrivals.count + Self.instantsMax - 1) / Self.instantsMax)
    var start = arrivals.startIndex
    while start < arrivals.endIndex {
      let end = min(start + step, arrivals.endIndex)
      var arrival = arrivals[end - 1]
      for earlier in arrivals[start..<end - 1] { arrival.relevance += earlier.relevance }
      quiet(upTo: arrival.time)
      instants.append(HindsightProblem.ReloadInstant(arrival: arrival, view: view(at: arrival.time)))
      start = end
    }
    quiet(upTo: .max)
    return instants
  }

  /// The largest number of instants of a day at which changes arrive. The memory of a problem grows with its square: 40
  /// MB at this number.
  /// - Beyond: every two, three … changes in a row count as one, at the time of the last.
  static let instantsMax = 3000

  /// Returns an instant at which no change arrives.
  private static func still(_ time: Int64, _ view: Double, isFree: Bool = false) -> HindsightProblem.ReloadInstant {
    HindsightProblem.ReloadInstant(
      arrival: Arrival(time: time, expires: .max, relevance: 0), view: view, isFree: isFree)
  }

  /// Scores a plan. Free reloads count as shown, regardless of the plan.
  /// - Parameters:
  ///   - reloads: The plan's reloads of the day, µs, rising.
  ///   - tokens: The tokens of the day.
  ///   - looks: The looks at the instance on that day, µs, rising.
  func score(reloads: ArraySlice<Int64>, tokens: Int, looks: ArraySlice<Int64> = []) -> DayScore {
    var score = DayScore()
    score.reloads = reloads.count
    score.arrivals = arrivals.count
    score.looks = looks.count
    var course = DayPosition(next: arrivals.startIndex, first: arrivals.startIndex, look: looks.startIndex)
    var gratis = free.startIndex
    for reload in reloads {
      while gratis < free.endIndex, free[gratis] < reload {
        _ = show(at: free[gratis], looks, &course, &score)
        gratis += 1
      }
      if !show(at: reload, looks, &course, &score) { score.wasted += 1 }
    }
    while gratis < free.endIndex {
      _ = show(at: free[gratis], looks, &course, &score)
      gratis += 1
    }
    look(before: .max, looks, &course, &score)
    close(arrivals[course.first..<arrivals.endIndex], shownAt: nil, &score)
    for place in 0...24 {
      let instant = day.start + (day.end - day.start) * Int64(place) / 24
      score.left.append(tokens - reloads.prefix { $0 < instant }.count)
    }
    return score
  }

  /// The position in the day while a plan is scored.
  private struct DayPosition {
    /// The place of the first change that has not arrived yet.
    var next: Int
    /// The place of the first change that has not been shown yet.
    var first: Int
    /// The place of the first look that has not happened yet.
    var look: Int
  }

  /// Scores the looks before a reload, and the changes that it shows. Call it in the order of time.
  /// - Returns: Whether it shows anything new.
  private func show(at reload: Int64, _ looks: ArraySlice<Int64>, _ course: inout DayPosition, _ score: inout DayScore)
    -> Bool
  {
    look(before: reload, looks, &course, &score)
    while course.next < arrivals.endIndex, arrivals[course.next].time <= reload { course.next += 1 }
    close(arrivals[course.first..<course.next], shownAt: reload, &score)
    defer { course.first = course.next }
    return course.next != course.first
  }

  /// Counts the looks before an instant. A look is stale if a change has arrived since the last reload.
  private func look(
    before instant: Int64, _ looks: ArraySlice<Int64>, _ course: inout DayPosition, _ score: inout DayScore
  ) {
    let waiting = course.first < arrivals.endIndex ? arrivals[course.first].time : .max
    while course.look < looks.endIndex, looks[course.look] < instant {
      if waiting <= looks[course.look] { score.looksStale += 1 }
      course.look += 1
    }
  }

  /// Scores changes that one reload shows, or that are never shown.
  /// - Parameter reload: The instant of the reload, µs; nil if the changes are not shown that day.
  private func close(_ changes: ArraySlice<Arrival>, shownAt reload: Int64?, _ score: inout DayScore) {
    guard let first = changes.first else { return }
    let end = reload ?? day.end
    score.staleSeconds += seconds(from: first.time, to: end)
    if let reload {
      var sum = 0.0
      for change in changes where change.expires > reload {
        sum += Double(change.relevance) * model.decay(reload - change.time)
      }
      score.value += sum * view(at: reload)
    }
    for change in changes where change.relevance >= DayScore.criticalRelevance {
      score.criticalWaits.append(reload.map { Double($0 - change.time) / 1e6 } ?? .infinity)
    }
  }

  /// Returns the seconds between two instants of the day, each weighted by the chance of a look.
  private func seconds(from start: Int64, to end: Int64) -> Double {
    var sum = 0.0
    for (place, hour) in hours.enumerated() {
      let until = place + 1 < hours.count ? hours[place + 1].start : day.end
      let overlap = min(end, until) - max(start, hour.start)
      if overlap > 0 { sum += Double(overlap) / 1e6 * hour.view }
    }
    return sum
  }
}
