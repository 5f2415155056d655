import Domain
import LineFiles
import Planning
import Policies
import Replay

/// The comparison by wrong looks: the looks at a screen, each counted by how wrong the screen was, 0…1.
extension KindComparison {
  /// An instance-day that the report may draw as an example.
  struct ExampleCandidate {
    /// The place of the stream among all measured instances.
    var stream: Int
    /// The place of the day among the stream's days.
    var day: Int
    /// The wrong looks that the first policy set right, as a share of those that the day's tokens could have set right.
    var captured: Double
  }

  /// The least time between two reloads of the optimum, µs. A policy with a shorter minimum interval is compared by its
  /// own.
  private static let gap: Int64 = 300_000_000

  /// Adds the wrong looks of every contender on one instance.
  /// - Parameters:
  ///   - stream: The instance.
  ///   - index: The place of the stream among all measured instances.
  ///   - plans: For each contender, the reloads that it pays for, µs, rising.
  ///   - shown: For each contender, those of its reloads that the device granted, µs, rising.
  ///   - report: Receives each day of each contender.
  /// - Throws: The error of `report`.
  mutating func addScreen(
    _ stream: InstanceStream, index: Int, plans: [[Int64]], shown: [[Int64]],
    report: (BacktestDay) throws(LineFileError) -> Void
  ) throws(LineFileError) {
    let days = devices.screenDays(of: stream, kind: kind)
    let free = devices.freeReloads(of: stream)
    var walks = plans.map { ScreenWalk(stream.screen, free: free, reloads: $0) }
    var real = shown.map { ScreenWalk(stream.screen, free: free, reloads: $0) }
    var truth = stream.screen.start
    for (number, day) in days.enumerated() {
      let optima = optima(of: stream.screen, day, truth: truth)
      stream.screen.fold(day.changes, into: &truth)
      screenDays += 1
      if optima.values.contains(where: \.isThinned) { screenDaysThinned += 1 }
      for place in contenders.indices {
        let budget = contenders[place].budget
        guard let optimum = optima[Self.gap(budget)] else { continue }
        let least = optimum.wrongLooks(reloads: budget.perDay)
        let wrong = walks[place].wrongLooks(on: day)
        let captured = scores[place].believed.add(plan: wrong, none: optimum.none, optimum: least)
        let onScreen = devices.model.hasBudgets ? real[place].wrongLooks(on: day) : wrong
        scores[place].onScreen.add(plan: onScreen, none: optimum.none, optimum: least)
        if place == 0, scores[0].isPolicy, let captured {
          examples.append(ExampleCandidate(stream: index, day: number, captured: captured))
        }
        let reloads =
          plans[place].partitioningIndex { $0 >= day.day.end }
          - plans[place].partitioningIndex { $0 >= day.day.start }
        try report(
          BacktestDay(
            plan: scores[place].name, kind: kind.name, device: stream.device, instance: stream.instance,
            date: day.date, tokens: budget.perDay, changes: day.changes.count, reloads: reloads,
            looks: day.looks.before(day.day.end), wrongLooks: wrong, wrongLooksWithout: optimum.none,
            wrongLooksOptimum: least, captured: captured, isThinned: optimum.isThinned))
      }
    }
  }

  private static func gap(_ budget: InstanceBudget) -> Int64 { min(gap, budget.minInterval.microseconds) }

  /// Returns the optimum of a day for each least time between two reloads, µs, by which a contender is compared.
  private func optima(of stream: ScreenStream, _ day: ScreenDay, truth: [DisplayedValue]) -> [Int64: ScreenOptimum] {
    var optima: [Int64: ScreenOptimum] = [:]
    let most = contenders.map(\.budget.perDay).max() ?? 0
    for contender in contenders {
      let gap = Self.gap(contender.budget)
      if optima[gap] == nil {
        optima[gap] = ScreenOptimum(stream, day: day, truth: truth, gap: gap, reloadsMax: most)
      }
    }
    return optima
  }

  /// Returns the drawing of the first policy's day with the median share of captured wrong looks; nil if no day can be
  /// drawn.
  /// - Parameters:
  ///   - streams: The streams of all measured instances.
  ///   - replays: The replays of all policies.
  func example(_ streams: [InstanceStream], replays: [CandidateReplay]) -> ExampleDay? {
    let sorted = examples.sorted { ($0.captured, $0.stream, $0.day) < ($1.captured, $1.stream, $1.day) }
    guard let contender = contenders.first, !sorted.isEmpty else { return nil }
    let candidate = sorted[sorted.count / 2]
    let stream = streams[candidate.stream]
    let days = devices.screenDays(of: stream, kind: kind)
    let drawing = ExampleDrawing(
      stream, days: days, number: candidate.day, fields: kind.displays.map(\.path),
      free: devices.freeReloads(of: stream))
    let reloads = reloads(of: contender, stream: stream, index: candidate.stream, replays: replays)
    return drawing.day(plan: scores[0].name, captured: candidate.captured, reloads: reloads)
  }
}
