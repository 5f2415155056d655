import Policies
import Replay

/// The least wrong looks (each look counted by how wrong the screen was) that a number of reloads could have left on
/// one day, in hindsight and exactly: the cost of the best choice among the candidate instants, by dynamic programming
/// over the last reload and the number of reloads.
///
/// The screen is right when the day begins. Candidates are the instants of every change, and a grid of five minutes;
/// waiting until just before somebody looks can be better than the instant of a change. Two reloads lie at least a
/// given gap apart. All numbers of reloads are tried, also after one that did not help: two more may.
///
/// Memory grows with candidates · reloads (2 MB at 4,000 candidates), not with candidates², because the cost of all segments
/// that begin at one candidate is used at once. Time grows with candidates · changes + candidates² · reloads.
struct ScreenOptimum {
  /// The wrong looks without any paid reload; free reloads still happen.
  let none: Double
  /// Whether candidates were left out because the day has more than `changesMax` changes.
  let isThinned: Bool
  /// The least wrong looks with at most 0, 1, 2 … reloads.
  private let least: [Double]
  /// The memory of the table of costs while the optimum was computed, in bytes.
  let tableBytes: Int

  /// The largest number of a day's changes at whose instants the optimum tries a reload.
  /// - Beyond: every second, third … change is tried, and the report says so. The optimum is then an upper bound of the
  ///   least wrong looks.
  static let changesMax = 4000
  /// The time between two candidates of the grid, µs.
  static let grid: Int64 = 300_000_000

  /// Computes the optimum of a day.
  /// - Parameters:
  ///   - stream: The changes of the truth.
  ///   - day: The day.
  ///   - truth: The value of each field when the day begins.
  ///   - gap: The least time between two reloads, µs.
  ///   - reloadsMax: The largest number of reloads, at least 0.
  ///   - hasGrid: Whether the instants of the grid are candidates, too.
  ///   - changesMax: The largest number of changes that are candidates.
  init(
    _ stream: ScreenStream, day: ScreenDay, truth: [DisplayedValue], gap: Int64, reloadsMax: Int, hasGrid: Bool = true,
    changesMax: Int = ScreenOptimum.changesMax
  ) {
    let problem = Segments(stream, day: day, truth: truth, hasGrid: hasGrid, changesMax: changesMax)
    var table = OptimumTable(candidates: problem.candidates.count, reloadsMax: reloadsMax)
    var none = 0.0
    var soonest = 0
    problem.forEach { place, costs, rest in
      if place == 0 { none = rest }
      // The state at the day's start is no reload, so the first one may follow at once.
      if place > 0 {
        soonest = max(soonest, place + 1)
        while soonest < problem.candidates.count,
          problem.candidates[soonest] - problem.candidates[place] < gap
        { soonest += 1 }
      }
      table.extend(from: place, to: max(place + 1, soonest), costs: costs, rest: rest)
    }
    self.none = none
    isThinned = problem.isThinned
    least = table.least
    tableBytes = table.bytes
  }

  /// Returns the least wrong looks with at most this many reloads.
  func wrongLooks(reloads: Int) -> Double { least[min(reloads, least.count - 1)] }
}

/// The segments of a day between two candidate instants: from a reload at the first to a reload at the second.
private struct Segments {
  /// The start of the day, then the candidate instants, µs, rising.
  let candidates: [Int64]
  /// Whether changes were left out of the candidates.
  let isThinned: Bool
  private let changes: [ScreenChange]
  private let looksAtChange: [Double]
  private let looksAtCandidate: [Double]
  private let looksAtFree: [Double]
  private let looksOfDay: Double
  private let day: ScreenDay
  private let measures: [FieldDistance]
  private let fields: [Int]
  private let truth: [DisplayedValue]

  init(_ stream: ScreenStream, day: ScreenDay, truth: [DisplayedValue], hasGrid: Bool, changesMax: Int) {
    self.day = day
    measures = stream.measures
    // Only the fields that change on this day matter: numbered anew, a day costs the same however long the log is.
    var numbers: [Int: Int] = [:]
    var fields: [Int] = []
    var start: [DisplayedValue] = []
    let changes = stream.changes[day.changes].map { change in
      guard case .value(let field, let value) = change.content else { return change }
      let number = numbers[field] ?? fields.count
      if number == fields.count {
        numbers[field] = number
        fields.append(stream.fields[field])
        start.append(truth[field])
      }
      return ScreenChange(time: change.time, content: .value(field: number, value))
    }
    self.changes = changes
    self.fields = fields
    self.truth = start
    let step = max(1, (changes.count + changesMax - 1) / changesMax)
    isThinned = step > 1
    var instants = stride(from: 0, to: changes.count, by: step).map { changes[$0].time }
    if hasGrid, let first = changes.first?.time {
      var instant = day.day.start
      while instant < day.day.end {
        if instant > first { instants.append(instant) }
        instant += ScreenOptimum.grid
      }
      instants.sort()
    }
    var candidates = [day.day.start]
    // A reload at the very start of the day is a candidate beside the start itself.
    for instant in instants where candidates.count == 1 || instant > candidates[candidates.count - 1] {
      candidates.append(instant)
    }
    looksAtChange = changes.map { day.looks.before($0.time) }
    looksAtCandidate = candidates.map { day.looks.before($0) }
    self.candidates = candidates
    looksAtFree = day.free.map { day.looks.before($0) }
    looksOfDay = day.looks.before(day.day.end)
  }

  /// Computes the costs of all segments that begin at one candidate, for each candidate in the order of time.
  /// - Parameter body: Receives the place of the first candidate, the cost of the segment to each later candidate, by place,
  ///   and the cost to the end of the day.
  func forEach(_ body: (_ place: Int, _ costs: [Double], _ rest: Double) -> Void) {
    var costs = [Double](repeating: 0, count: candidates.count)
    var base = truth
    var next = 0
    var free = 0
    for place in candidates.indices {
      let start = candidates[place]
      while place > 0, next < changes.count, changes[next].time <= start {
        if case .value(let field, let value) = changes[next].content { base[field] = value }
        next += 1
      }
      while free < looksAtFree.count, day.free[day.free.startIndex + free] <= start { free += 1 }
      let rest = walk(from: place, base, change: next, free: free, &costs)
      body(place, costs, rest)
    }
  }

  /// Follows a screen that shows the truth at one candidate to the end of the day.
  private func walk(
    from place: Int, _ truth: [DisplayedValue], change: Int, free: Int, _ costs: inout [Double]
  ) -> Double {
    var screen = ScreenState(measures: measures, fields: fields, truth: truth)
    var cost = 0.0
    var before = looksAtCandidate[place]
    var candidate = place + 1
    var change = change
    var free = free
    while true {
      let atChange = change < changes.count ? changes[change].time : .max
      let atFree = free < looksAtFree.count ? day.free[day.free.startIndex + free] : .max
      let atCandidate = candidate < candidates.count ? candidates[candidate] : .max
      let instant = min(atChange, atFree, atCandidate)
      if instant == .max { return cost + screen.distance * (looksOfDay - before) }
      // A segment ends before the change of its last instant, which the next reload shows.
      if atCandidate == instant {
        cost += screen.distance * (looksAtCandidate[candidate] - before)
        before = looksAtCandidate[candidate]
        costs[candidate] = cost
        candidate += 1
      } else if atChange == instant {
        cost += screen.distance * (looksAtChange[change] - before)
        before = looksAtChange[change]
        screen.take(changes[change].content)
        change += 1
      } else {
        cost += screen.distance * (looksAtFree[free] - before)
        before = looksAtFree[free]
        screen.reload()
        free += 1
      }
    }
  }
}

/// The table of a dynamic programme: the least cost up to a candidate at which the last reload happens, for each number of
/// reloads.
private struct OptimumTable {
  /// The least cost of the whole day with at most 0, 1, 2 … reloads.
  private(set) var least: [Double]
  /// The least cost up to each candidate, for 0, 1, 2 … reloads in blocks of eight.
  private var costs: [SIMD8<Double>]
  private let blocks: Int

  /// The memory of the costs, in bytes.
  var bytes: Int { costs.capacity * MemoryLayout<SIMD8<Double>>.stride }

  init(candidates: Int, reloadsMax: Int) {
    blocks = reloadsMax / 8 + 1
    least = Array(repeating: .infinity, count: reloadsMax + 1)
    costs = Array(repeating: SIMD8(repeating: .infinity), count: candidates * blocks)
    if !costs.isEmpty { costs[0][0] = 0 }
  }

  /// Extends all plans whose last reload is at one candidate. Every plan that ends there must be known.
  /// - Parameters:
  ///   - place: The candidate.
  ///   - first: The first candidate at which the next reload may be.
  ///   - costs: The cost of the segment from `place` to each later candidate, by place.
  ///   - rest: The cost from `place` to the end of the day.
  mutating func extend(from place: Int, to first: Int, costs segments: [Double], rest: Double) {
    var fewer = Double.infinity
    for reloads in least.indices {
      let cost = costs[place * blocks + reloads / 8][reloads % 8]
      least[reloads] = min(least[reloads], cost + rest, fewer)
      fewer = least[reloads]
    }
    // One more reload: the same costs, moved by one.
    var moved = Array(costs[place * blocks..<(place + 1) * blocks])
    var carry = Double.infinity
    for block in moved.indices {
      let last = moved[block][7]
      for lane in stride(from: 7, to: 0, by: -1) { moved[block][lane] = moved[block][lane - 1] }
      moved[block][0] = carry
      carry = last
    }
    var at = first * blocks
    for candidate in first..<max(first, segments.count) {
      let segment = SIMD8(repeating: segments[candidate])
      for block in 0..<blocks {
        let cost = moved[block] + segment
        costs[at] = costs[at].replacing(with: cost, where: cost .< costs[at])
        at += 1
      }
    }
  }
}
