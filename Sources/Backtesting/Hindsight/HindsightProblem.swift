/// One instance and day in hindsight: at which instants to reload so that what is shown is worth most.
///
/// One reload delivers everything pending, so this is no knapsack but a segmentation of the day: R(i, j), the worth of
/// showing at instant j all that came after instant i, and at most k segments. Reloads make sense when something has just
/// come, or when an hour begins in which more people look; so those are the instants.
struct HindsightProblem: Sendable {
  struct Instant: Equatable, Sendable {
    var arrival: Arrival
    /// Chance that somebody looks, at this instant.
    var view: Double
    /// A reload that happens anyhow and costs nothing: the app came to the foreground.
    var isFree = false
  }

  struct Solution: Equatable, Sendable {
    /// The optimum.
    var value: Double
    /// What one more reload would have brought: the day's price in hindsight, 0 where the budget was not spent.
    var price: Double
    var reloads: Int
  }

  /// Per instant j: R(i, j) for i = j − 1, j − 2, … until nothing older is worth anything; what is older adds nothing.
  let rows: [[Float]]
  /// Instants whose reload is made anyhow and counts for nothing.
  let isFree: [Bool]
  /// µs, by instant.
  let times: [Int64]

  /// - Parameter instants: by time. An instant without a change has relevance 0.
  init(_ instants: [Instant], model: ValueModel) {
    var rows: [[Float]] = []
    rows.reserveCapacity(instants.count)
    for (place, instant) in instants.enumerated() {
      var row: [Float] = []
      var sum = 0.0
      var other = place
      while other >= 0 {
        // What came before a free reload was shown by it.
        if other < place, instants[other].isFree { break }
        let arrival = instants[other].arrival
        // 2^−20 of a change is left: below a float's resolution of the sum.
        let worth = model.decay(instant.arrival.time - arrival.time)
        if worth < 1e-6 { break }
        if arrival.expires > instant.arrival.time { sum += Double(arrival.relevance) * worth }
        row.append(Float(sum * instant.view))
        other -= 1
      }
      rows.append(row)
    }
    self.rows = rows
    isFree = instants.map(\.isFree)
    times = instants.map(\.arrival.time)
  }

  /// Several instances that every reload shows at once: what a reload is worth is the sum over them, each by its own value
  /// model. A free reload is one of all of them.
  /// - Parameter extra: instants at which a reload can make sense besides, because another limit begins.
  init(together days: [InstanceDay], at extra: [Int64] = []) {
    var all: [(member: Int, instant: Instant)] = extra.map {
      (0, Instant(arrival: Arrival(time: $0, expires: .max, relevance: 0), view: 0))
    }
    for (member, day) in days.enumerated() { all += day.instants.map { (member, $0) } }
    // What comes at the instant of a free reload is shown by it.
    all.sort {
      ($0.instant.arrival.time, $0.instant.isFree ? 1 : 0, $0.member)
        < ($1.instant.arrival.time, $1.instant.isFree ? 1 : 0, $1.member)
    }
    var rows: [[Float]] = []
    rows.reserveCapacity(all.count)
    var views = [Double](repeating: 0, count: days.count)
    for (place, entry) in all.enumerated() {
      let time = entry.instant.arrival.time
      for member in days.indices { views[member] = days[member].view(at: time) }
      var row: [Float] = []
      var sum = 0.0
      var other = place
      while other >= 0 {
        if other < place, all[other].instant.isFree { break }
        let arrival = all[other].instant.arrival
        let model = days[all[other].member].model
        let worth = model.decay(time - arrival.time)
        // The longest half-life decides what is too old.
        if worth < 1e-6, days.allSatisfy({ $0.model.decay(time - arrival.time) < 1e-6 }) { break }
        if arrival.expires > time { sum += Double(arrival.relevance) * worth * views[all[other].member] }
        row.append(Float(sum))
        other -= 1
      }
      rows.append(row)
    }
    self.rows = rows
    isFree = all.map(\.instant.isFree)
    times = all.map(\.instant.arrival.time)
  }

  var count: Int { rows.count }

  /// Exact, by dynamic programming over the number of reloads: f[m][j] = max over i of f[m − 1][i] + R(i, j).
  /// Time k·n·w, where w instants fit into the life of a change.
  func exact(reloadsMax: Int) -> Double {
    var before = [Double](repeating: 0, count: count + 1)
    // With no reload at all, the free ones.
    for place in 0..<count {
      before[place + 1] = before[place]
      guard isFree[place] else { continue }
      for (back, worth) in rows[place].enumerated() {
        before[place + 1] = max(before[place + 1], before[place - back] + Double(worth))
      }
    }
    var after = before
    for _ in 0..<min(reloadsMax, count) {
      after[0] = 0
      for place in 0..<count {
        var best = after[place]
        for (back, worth) in rows[place].enumerated() {
          best = max(best, (isFree[place] ? after : before)[place - back] + Double(worth))
        }
        after[place + 1] = best
      }
      if after[count] <= before[count] { break }
      swap(&before, &after)
    }
    return before[count]
  }

  /// The best plan where every reload costs `price`: its gain after costs, and its reloads. Time n·w.
  func priced(at price: Double) -> (net: Double, reloads: Int) {
    var net = [Double](repeating: 0, count: count + 1)
    var reloads = [Int](repeating: 0, count: count + 1)
    for place in 0..<count {
      var best = -1.0
      var bestReloads = 0
      for (back, worth) in rows[place].enumerated() {
        let value = net[place - back] + Double(worth)
        // Of equal plans the one with fewer reloads.
        if value > best || (value == best && reloads[place - back] < bestReloads) {
          best = value
          bestReloads = reloads[place - back]
        }
      }
      if isFree[place] {
        net[place + 1] = best
        reloads[place + 1] = bestReloads
      } else if best - price > net[place] {
        net[place + 1] = best - price
        reloads[place + 1] = bestReloads + 1
      } else {
        net[place + 1] = net[place]
        reloads[place + 1] = reloads[place]
      }
    }
    return (net[count], reloads[count])
  }

  /// The best plan where a reload at an instant costs what the list says: its gain after costs, and where it reloads;
  /// free reloads are not named.
  func plan(prices: [Double]) -> (net: Double, chosen: [Int]) {
    var net = [Double](repeating: 0, count: count + 1)
    // Of the best plan for the first n instants: the place up to which it goes without its last reload; −1: no reload.
    var before = [Int](repeating: -1, count: count + 1)
    for place in 0..<count {
      var best = -1.0
      var from = 0
      for (back, worth) in rows[place].enumerated() where net[place - back] + Double(worth) > best {
        best = net[place - back] + Double(worth)
        from = place - back
      }
      let price = isFree[place] ? 0 : prices[place]
      if isFree[place] || best - price > net[place] {
        net[place + 1] = best - price
        before[place + 1] = from
      } else {
        net[place + 1] = net[place]
      }
    }
    var chosen: [Int] = []
    var end = count
    while end > 0 {
      if before[end] < 0 {
        end -= 1
      } else {
        if !isFree[end - 1] { chosen.append(end - 1) }
        end = before[end]
      }
    }
    return (net[count], chosen.reversed())
  }

  /// By Lagrange multiplier: searches the price at which the best plan reloads k times. Any such plan is an optimum for k
  /// reloads. Where the number jumps over k (ties, or views that rise so fast that the optimum is not concave in k) the
  /// price only bounds the optimum, and the exact form decides. Time n·w·log.
  func solve(reloadsMax: Int) -> Solution {
    let free = priced(at: Self.priceLeast)
    if free.reloads <= reloadsMax {
      return Solution(value: free.net + Double(free.reloads) * Self.priceLeast, price: 0, reloads: free.reloads)
    }
    var low = Self.priceLeast
    var high = Double(rows.lazy.compactMap(\.last).max() ?? 0) + 1
    for _ in 0..<Self.halvings {
      let middle = (low + high) / 2
      let plan = priced(at: middle)
      if plan.reloads == reloadsMax {
        return Solution(value: plan.net + Double(plan.reloads) * middle, price: middle, reloads: plan.reloads)
      }
      if plan.reloads > reloadsMax { low = middle } else { high = middle }
    }
    return Solution(value: exact(reloadsMax: reloadsMax), price: high, reloads: reloadsMax)
  }

  /// So that a reload that brings nothing is not made.
  private static let priceLeast = 1e-9
  private static let halvings = 48
}
