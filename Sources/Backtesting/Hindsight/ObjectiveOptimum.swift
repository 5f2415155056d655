import Replay

/// The largest number of changes of one instance that any schedule of reloads could have shown in time, known only in hindsight.
///
/// Each change is an interval from its arrival to the last instant that is in time. A schedule shows a change in time if a reload lies in its
/// interval. A day allows a number of reloads, and two reloads lie a minimum interval apart, also across days. The maximum is exact, by
/// dynamic programming over the last reload and the number of reloads of its day.
///
/// Only few instants matter. Of all best schedules take those with the fewest reloads, and of these the one whose reloads come earliest. Each of
/// its reloads shows a change that no other one shows, else it would not be needed. So moving it to an earlier time must be impossible: it
/// is at the arrival of a change, at the start of a day, or exactly a minimum interval after the reload before it. The candidates are therefore
/// arrivals, starts of days within an interval, and each of these plus one, two, three … minimum intervals, as long as every step shows a
/// change that has arrived since the step before.
///
/// A reload shows what arrived since the last reload and is still in time, so a step from one candidate to the next depends on nothing else.
/// Memory grows with the candidates within the longest interval times the reloads of a day, because older candidates are merged.
struct ObjectiveOptimum {
  /// The largest number of changes shown in time.
  let shown: Int
  /// Whether there were too many candidates, so that `shown` is an upper bound instead of the maximum.
  let isBound: Bool

  /// The largest number of pairs of candidates that lie so close that one interval may hold both.
  /// - Beyond: the minimum interval is left out. If there are still too many pairs, every change counts as shown. The result is then an upper
  ///   bound, and the report says for how many instances.
  static let pairsMax = 4_000_000

  /// Computes the optimum.
  /// - Parameters:
  ///   - changes: The changes of the instance, in any order.
  ///   - perDay: The largest number of reloads in a day.
  ///   - minInterval: The least time between two reloads, µs.
  ///   - days: The budget days.
  ///   - pairsMax: The largest number of pairs of candidates.
  init(
    _ changes: [CountedChange], perDay: Int, minInterval: Int64, days: LocalDays,
    pairsMax: Int = ObjectiveOptimum.pairsMax
  ) {
    let waits = changes.filter { !$0.isFree }.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    let free = changes.count - waits.count
    guard perDay > 0, !waits.isEmpty else {
      (shown, isBound) = (free, false)
      return
    }
    for (gap, isBound) in [(minInterval, false), (0, true)] {
      guard let candidates = ReloadCandidates(waits, gap: gap, days: days, pairsMax: pairsMax) else { continue }
      var table = ObjectiveTable(waits, candidates, gap: gap, perDay: min(perDay, candidates.times.count))
      (shown, self.isBound) = (free + table.solve(), isBound)
      return
    }
    (shown, isBound) = (changes.count, true)
  }
}

/// The instants at which a reload of the best schedule may be.
private struct ReloadCandidates {
  /// The instants, µs, rising.
  private(set) var times: [Int64] = []
  /// The number of the budget day of each.
  private(set) var dayNumbers: [Int64] = []
  /// The longest time of a change from its arrival to the last instant that is in time, µs.
  let longest: Int64

  /// Finds the candidates; nil if there are too many.
  /// - Parameters:
  ///   - waits: The changes, in the order of their arrivals.
  ///   - gap: The least time between two reloads, µs.
  ///   - days: The budget days.
  ///   - pairsMax: The largest number of pairs within `longest`.
  init?(_ waits: [CountedChange], gap: Int64, days: LocalDays, pairsMax: Int) {
    longest = waits.reduce(0) { max($0, $1.to - $1.from) }
    var found: Set<Int64> = []
    var day = LocalDays.Day(index: .min, start: .min, end: .min)
    for wait in waits {
      if wait.from >= day.end { day = days.day(at: wait.from) }
      Self.add(wait.from, gap, waits, to: &found)
      var next = day
      while next.end <= wait.to {
        Self.add(next.end, gap, waits, to: &found)
        next = days.day(at: next.end)
      }
      if found.count > pairsMax { return nil }
    }
    times = found.sorted()
    var (first, pairs) = (0, 0)
    for (place, time) in times.enumerated() {
      while time - times[first] > max(longest, gap) { first += 1 }
      pairs += place - first
      if pairs > pairsMax { return nil }
    }
    day = LocalDays.Day(index: .min, start: .min, end: .min)
    for time in times {
      if time >= day.end { day = days.day(at: time) }
      dayNumbers.append(day.index)
    }
  }

  /// Adds an instant, and the chain of instants that lie a minimum interval apart and each show a change that the one before does not.
  private static func add(_ first: Int64, _ gap: Int64, _ waits: [CountedChange], to found: inout Set<Int64>) {
    var time = first
    while found.insert(time).inserted, gap > 0 {
      time += gap
      var place = waits.partitioningIndex { $0.from > time }
      while place > 0, waits[place - 1].from > time - gap, waits[place - 1].to < time { place -= 1 }
      guard place > 0, waits[place - 1].from > time - gap else { return }
    }
  }
}

/// The table of the dynamic programme.
private struct ObjectiveTable {
  private let waits: [CountedChange]
  private let candidates: ReloadCandidates
  private let gap: Int64
  private let perDay: Int
  /// For each candidate that an interval may share with the present one, the most changes shown if it is the last reload, with at most 1, 2,
  /// 3 … reloads on its day. A candidate's row is at its place modulo the number of rows.
  private var rows: [Int32] = []
  private var rowsCount = 1
  /// The same, over all older candidates of one day.
  private var merged: [Int32]
  private var mergedDay = Int64.min
  /// The most changes shown if the last reload is on a day before that; 0 without any reload.
  private var before: Int32 = 0

  private static let none = Int32.min / 2

  init(_ waits: [CountedChange], _ candidates: ReloadCandidates, gap: Int64, perDay: Int) {
    (self.waits, self.candidates, self.gap, self.perDay) = (waits, candidates, gap, perDay)
    merged = Array(repeating: Self.none, count: perDay)
  }

  /// Returns the most changes that a schedule can show in time.
  mutating func solve() -> Int {
    let times = candidates.times
    var first = 0
    for (place, time) in times.enumerated() {
      while isOlder(first, than: time) { first += 1 }
      rowsCount = max(rowsCount, place - first + 1)
    }
    rows = Array(repeating: Self.none, count: rowsCount * perDay)
    first = 0
    for (place, time) in times.enumerated() {
      while isOlder(first, than: time) {
        merge(first)
        first += 1
      }
      fill(place, from: first)
    }
    while first < times.count {
      merge(first)
      first += 1
    }
    return Int(max(before, merged[perDay - 1]))
  }

  /// Returns whether no interval can hold both a candidate and a later instant, which may follow it.
  private func isOlder(_ place: Int, than time: Int64) -> Bool {
    let since = time - candidates.times[place]
    return since > candidates.longest && since >= gap
  }

  private func row(_ place: Int) -> Int { place % rowsCount * perDay }

  /// Adds the row of a candidate to the merged ones.
  private mutating func merge(_ place: Int) {
    if candidates.dayNumbers[place] != mergedDay {
      before = max(before, merged[perDay - 1])
      merged = Array(repeating: Self.none, count: perDay)
      mergedDay = candidates.dayNumbers[place]
    }
    let row = row(place)
    for count in 0..<perDay { merged[count] = max(merged[count], rows[row + count]) }
  }

  /// Computes the row of a candidate from the merged ones, and from those that are not older.
  private mutating func fill(_ place: Int, from first: Int) {
    let (time, day) = (candidates.times[place], candidates.dayNumbers[place])
    // The changes that are in time at this instant, by their arrivals.
    let near = waits.partitioningIndex { $0.from >= time - candidates.longest }
    let end = waits.partitioningIndex { $0.from > time }
    let open = waits[near..<end].filter { $0.to >= time }
    let all = Int32(open.count)
    let row = row(place)
    let isSameDay = mergedDay == day
    let base = (isSameDay ? before : max(before, merged[perDay - 1])) + all
    for count in 0..<perDay { rows[row + count] = base }
    if isSameDay { for count in 1..<max(1, perDay) { rows[row + count] = max(base, merged[count - 1] + all) } }
    var known = open.count
    for other in stride(from: place - 1, through: first, by: -1) {
      let last = candidates.times[other]
      while known > 0, open[known - 1].from > last { known -= 1 }
      guard time - last >= gap else { continue }
      // The last reload has shown those that had arrived.
      let gain = all - Int32(known)
      let from = self.row(other)
      if candidates.dayNumbers[other] == day {
        for count in 1..<max(1, perDay) { rows[row + count] = max(rows[row + count], rows[from + count - 1] + gain) }
      } else {
        let most = rows[from + perDay - 1] + gain
        for count in 0..<perDay { rows[row + count] = max(rows[row + count], most) }
      }
    }
    for count in 1..<max(1, perDay) { rows[row + count] = max(rows[row + count], rows[row + count - 1]) }
  }
}
