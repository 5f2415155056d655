import Planning

/// One measured instance on one budget day: what came, and what showing it could have been worth.
struct InstanceDay: Sendable {
  let day: LocalDays.Day
  let model: ValueModel
  /// The day's arrivals, by time.
  let arrivals: ArraySlice<Arrival>
  /// Instants at which another local hour, and so another chance of a look, begins; with the chance.
  let hours: [(start: Int64, view: Double)]
  /// The day's reloads that no push was needed for, rising.
  let free: ArraySlice<Int64>

  init(
    day: LocalDays.Day, model: ValueModel, arrivals: ArraySlice<Arrival>, free: ArraySlice<Int64> = [],
    days: inout LocalDays
  ) {
    self.day = day
    self.model = model
    self.arrivals = arrivals
    self.free = free
    // Zones are off by quarter hours at the finest; a new hour is looked for at each.
    var hours: [(start: Int64, view: Double)] = []
    var instant = day.start
    var last = -1
    while instant < day.end {
      let hour = days.hour(at: instant)
      if hour != last { hours.append((instant, model.views[hour])) }
      last = hour
      instant += 900_000_000
    }
    self.hours = hours
  }

  /// Chance of a look at an instant of the day.
  func view(at instant: Int64) -> Double {
    var low = 0
    var high = hours.count
    while low + 1 < high {
      let middle = (low + high) / 2
      if hours[middle].start <= instant { low = middle } else { high = middle }
    }
    return hours[low].view
  }

  /// The best that up to so many reloads could have shown.
  func optimum(tokens: Int) -> HindsightProblem.Solution { hindsight.solve(reloadsMax: tokens) }

  var hindsight: HindsightProblem { HindsightProblem(instants, model: model) }

  /// When a reload can make sense: when something has just come, when another hour begins; and when one is free.
  var instants: [HindsightProblem.Instant] {
    var instants: [HindsightProblem.Instant] = []
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
    for arrival in arrivals {
      quiet(upTo: arrival.time)
      instants.append(HindsightProblem.Instant(arrival: arrival, view: view(at: arrival.time)))
    }
    quiet(upTo: .max)
    return instants
  }

  /// Nothing comes, but more people may look, or a reload is free.
  private static func still(_ time: Int64, _ view: Double, isFree: Bool = false) -> HindsightProblem.Instant {
    HindsightProblem.Instant(arrival: Arrival(time: time, expires: .max, relevance: 0), view: view, isFree: isFree)
  }

  /// What a plan's reloads of the day, and the free ones, made of it.
  /// - Parameter looks: the day's looks at the instance, rising.
  func score(reloads: ArraySlice<Int64>, tokens: Int, looks: ArraySlice<Int64> = []) -> DayScore {
    var score = DayScore()
    score.reloads = reloads.count
    score.arrivals = arrivals.count
    score.looks = looks.count
    var course = Course(next: arrivals.startIndex, first: arrivals.startIndex, look: looks.startIndex)
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

  /// How far the day is.
  private struct Course {
    /// First arrival that has not come.
    var next: Int
    /// First arrival that is not shown.
    var first: Int
    /// First look that has not been.
    var look: Int
  }

  /// One reload: whether it shows anything new.
  private func show(at reload: Int64, _ looks: ArraySlice<Int64>, _ course: inout Course, _ score: inout DayScore)
    -> Bool
  {
    look(before: reload, looks, &course, &score)
    while course.next < arrivals.endIndex, arrivals[course.next].time <= reload { course.next += 1 }
    close(arrivals[course.first..<course.next], shownAt: reload, &score)
    defer { course.first = course.next }
    return course.next != course.first
  }

  /// Looks before an instant: stale where something has come since the last reload.
  private func look(
    before instant: Int64, _ looks: ArraySlice<Int64>, _ course: inout Course, _ score: inout DayScore
  ) {
    let waiting = course.first < arrivals.endIndex ? arrivals[course.first].time : .max
    while course.look < looks.endIndex, looks[course.look] < instant {
      if waiting <= looks[course.look] { score.looksStale += 1 }
      course.look += 1
    }
  }

  /// Changes that one reload delivers, or none.
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

  /// Seconds between two instants of the day, each weighted by the chance of a look.
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

/// What one plan made of one instance-day.
struct DayScore: Equatable, Sendable {
  /// Relevance shown, decayed, times the chance of a look.
  var value = 0.0
  /// While something visible was not shown, weighted by the chance of a look.
  var staleSeconds = 0.0
  /// Seconds until what was most relevant was shown; infinite where it never was that day.
  var criticalWaits: [Double] = []
  var arrivals = 0
  var reloads = 0
  /// Reloads that showed nothing new.
  var wasted = 0
  /// Looks at the instance, and those that saw something outdated.
  var looks = 0
  var looksStale = 0
  /// Tokens left at the beginning of each 24th of the day, and at its end.
  var left: [Int] = []

  static let criticalRelevance: Float = 0.8
}
