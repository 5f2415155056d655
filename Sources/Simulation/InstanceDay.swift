import Planning

/// One measured instance on one budget day: what came, and what showing it could have been worth.
struct InstanceDay: Sendable {
  let day: LocalDays.Day
  let model: ValueModel
  /// The day's arrivals, by time.
  let arrivals: ArraySlice<Arrival>
  /// Instants at which another local hour, and so another chance of a look, begins; with the chance.
  let hours: [(start: Int64, view: Double)]

  init(day: LocalDays.Day, model: ValueModel, arrivals: ArraySlice<Arrival>, days: inout LocalDays) {
    self.day = day
    self.model = model
    self.arrivals = arrivals
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

  var hindsight: HindsightProblem {
    var instants: [HindsightProblem.Instant] = []
    var next = 0
    for arrival in arrivals {
      while next < hours.count, hours[next].start <= arrival.time {
        instants.append(Self.still(hours[next].start, hours[next].view))
        next += 1
      }
      instants.append(HindsightProblem.Instant(arrival: arrival, view: view(at: arrival.time)))
    }
    while next < hours.count {
      instants.append(Self.still(hours[next].start, hours[next].view))
      next += 1
    }
    return HindsightProblem(instants, model: model)
  }

  /// Nothing comes, but more people may look.
  private static func still(_ time: Int64, _ view: Double) -> HindsightProblem.Instant {
    HindsightProblem.Instant(arrival: Arrival(time: time, expires: .max, relevance: 0), view: view)
  }

  /// What a plan's reloads of the day made of it.
  func score(reloads: ArraySlice<Int64>, tokens: Int) -> DayScore {
    var score = DayScore()
    score.reloads = reloads.count
    score.arrivals = arrivals.count
    var next = arrivals.startIndex
    var first = next
    for reload in reloads {
      while next < arrivals.endIndex, arrivals[next].time <= reload { next += 1 }
      if next == first { score.wasted += 1 }
      close(arrivals[first..<next], shownAt: reload, &score)
      first = next
    }
    close(arrivals[first..<arrivals.endIndex], shownAt: nil, &score)
    for place in 0...24 {
      let instant = day.start + (day.end - day.start) * Int64(place) / 24
      score.left.append(tokens - reloads.prefix { $0 < instant }.count)
    }
    return score
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
  /// Tokens left at the beginning of each 24th of the day, and at its end.
  var left: [Int] = []

  static let criticalRelevance: Float = 0.8
}
