import Domain
import Observing
import Planning

/// Counts what the planner of one partition decided, on the planner's thread, until it is committed. Counting is an addition in an
/// array; the metrics get the sums once for each commit. If the transaction is aborted the planner is dropped, and its tally with it. So
/// the metrics count what was committed.
struct DecisionTally {
  private var decisions = SeriesCounts()
  private var commands = SeriesCounts()
  private var tokens = SeriesCounts()
  /// The changes that count for an objective, and those of them that met it, by kind.
  private var (changes, changesInTime) = (SeriesCounts(), SeriesCounts())

  /// The places of one kind among `decisions`: 4 verdicts of 64 reasons each.
  private static let (places, reasons) = (256, 64)
  /// The places of one kind among `tokens`.
  private static let ledgers = 16

  /// Makes a tally of nothing.
  init() {}

  /// Counts the decisions and commands of a step.
  ///
  /// - Parameters:
  ///   - output: The outcome of the step.
  ///   - planner: The planner that made the step.
  mutating func count(_ output: PlannerOutput, by planner: borrowing Planner) {
    var first = 0
    while first < output.decisions.count {
      // Runs of equal decisions are usual: a fan-out ends for most devices in the same way.
      let (kind, verdict, reason) = (
        output.decisions[first].kind, output.decisions[first].verdict, output.decisions[first].reason
      )
      let objective = output.decisions[first].objective
      var end = first + 1
      while end < output.decisions.count, output.decisions[end].reason == reason, output.decisions[end].kind == kind,
        output.decisions[end].verdict == verdict, output.decisions[end].objective == objective
      {
        end += 1
      }
      let (row, column) = (Int(verdict.number), Int(reason.number))
      assert(row * Self.reasons < Self.places && column < Self.reasons, "each reason has a place")
      let place = kind.index * Self.places + row * Self.reasons + column
      if decisions.add(end - first, at: place) {
        decisions.name(place, [planner.name(of: kind).text, verdict.rawValue, reason.rawValue])
      }
      if let objective { count(objective, end - first, kind, by: planner) }
      first = end
    }
    // By index, because a loop over the elements retains the array.
    for command in output.commands.indices {
      let surface = output.commands[command].push.surface
      let place = Int(surface.number)
      if commands.add(1, at: place) { commands.name(place, [surface.rawValue]) }
    }
    for charge in output.charges.indices {
      let ledger = output.charges[charge].ledger
      let number = Int(ledger.number)
      assert(number < Self.ledgers, "each ledger has a place")
      // The first row is that of ledgers which a device or an app owns.
      guard ledger.traits.owner == .instance else {
        if tokens.add(1, at: number) { tokens.name(number, [ledger.rawValue, ""]) }
        continue
      }
      let kind = planner.kind(of: output.charges[charge].instance)
      let place = (kind.index + 1) * Self.ledgers + number
      if tokens.add(1, at: place) { tokens.name(place, [ledger.rawValue, planner.name(of: kind).text]) }
    }
  }

  private mutating func count(_ result: ObjectiveResult, _ amount: Int, _ kind: KindSlot, by planner: borrowing Planner)
  {
    if changes.add(amount, at: kind.index) {
      let labels = [planner.name(of: kind).text]
      changes.name(kind.index, labels)
      // Without a series of changes in time no rate could be computed of a kind whose changes are all late.
      changesInTime.begin(kind.index, labels)
    }
    if result == .met { _ = changesInTime.add(amount, at: kind.index) }
  }

  /// Adds all counts to the metrics, and begins at 0.
  ///
  /// - Parameter metrics: The metrics of planning.
  mutating func flush(into metrics: PlanningMetrics) {
    decisions.flush(into: metrics.decisions)
    commands.flush(into: metrics.commands)
    tokens.flush(into: metrics.tokens)
    changes.flush(into: metrics.objectiveChanges)
    changesInTime.flush(into: metrics.objectiveChangesInTime)
  }

  /// Counts for the series of one metric, each at a place that stands for its label values.
  private struct SeriesCounts {
    private var counts: ContiguousArray<Int> = []
    /// The places that are not 0.
    private var used: [Int] = []
    /// The label values of each place that was ever used. There are few, because kinds are few.
    private var labels: [Int: [String]] = [:]

    /// Adds to a count.
    ///
    /// - Parameters:
    ///   - amount: The amount, more than 0.
    ///   - place: The place of the series.
    /// - Returns: Whether the place is used for the first time; then name it.
    mutating func add(_ amount: Int, at place: Int) -> Bool {
      if place >= counts.count { counts.append(contentsOf: repeatElement(0, count: place + 1 - counts.count)) }
      let isFirst = counts[place] == 0
      counts[place] += amount
      guard isFirst else { return false }
      used.append(place)
      return labels[place] == nil
    }

    /// Sets the label values of a place, and gives the metric a series of it that begins at 0.
    mutating func begin(_ place: Int, _ values: [String]) {
      if place >= counts.count { counts.append(contentsOf: repeatElement(0, count: place + 1 - counts.count)) }
      labels[place] = values
      used.append(place)
    }

    /// Sets the label values of a place.
    mutating func name(_ place: Int, _ values: [String]) { labels[place] = values }

    /// Adds all counts to the metric, and begins at 0.
    mutating func flush(into metric: MetricFamily) {
      for place in used {
        if let labels = labels[place] { metric.add(counts[place], labels) }
        counts[place] = 0
      }
      used.removeAll(keepingCapacity: true)
    }
  }
}
