/// The problem of choosing, in hindsight, the instants of a day at which to reload so that the value shown is largest.
///
/// One reload shows all pending changes. So this is not a knapsack problem but a segmentation of the day: a segment from
/// instant i to instant j has the worth R(i, j) of showing, at j, all changes after i, and at most k segments are allowed.
/// A reload can only make sense when a change has just arrived, when a local hour begins, because more people may look
/// in it, or when the instance reloads for free anyway. Those are the instants.
struct HindsightProblem: Sendable {
  /// An instant at which a reload can make sense.
  struct ReloadInstant: Equatable, Sendable {
    /// The change that arrives at the instant; relevance 0 if none does.
    var arrival: Arrival
    /// The chance of a look at the instant.
    var view: Double
    /// Whether the instance reloads at the instant without a push, for free: for example, the app came to the foreground.
    var isFree = false
  }

  /// The best plan that makes at most a given number of reloads.
  struct Solution: Equatable, Sendable {
    /// The value shown by the best plan.
    var value: Double
    /// The value that one more reload would have added: the price of the day in hindsight. 0 if the budget was not spent.
    var price: Double
    /// The number of reloads of the best plan.
    var reloads: Int
  }

  /// For each instant j, in the order of time, the worths R(i, j) for i = j − 1, j − 2, … until older changes are worth
  /// nothing.
  let rows: [[Float]]
  /// For each instant, whether the instance reloads then without a push, for free.
  let isFree: [Bool]
  /// The times of the instants at which a reload can make sense, µs, rising.
  let times: [Int64]

  /// Creates the problem of one instance.
  /// - Parameters:
  ///   - instants: The instants at which a reload can make sense, in the order of time.
  ///   - model: The value of showing a change.
  init(_ instants: [ReloadInstant], model: ValueModel) {
    var rows: [[Float]] = []
    rows.reserveCapacity(instants.count)
    for (place, instant) in instants.enumerated() {
      var row: [Float] = []
      var sum = 0.0
      var other = place
      while other >= 0 {
        // A free reload has shown the changes before it.
        if other < place, instants[other].isFree { break }
        let arrival = instants[other].arrival
        // About 2^−20 of the change is left, less than a Float resolves in the sum.
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

  /// Creates the problem of several instances that every reload shows together. The worth of a reload is the sum over the
  /// instances, each by its own value model. A free reload shows the changes of all instances.
  /// - Parameters:
  ///   - days: The same budget day of each instance.
  ///   - extra: Further instants at which a reload can make sense, because a limit is renewed, µs.
  init(together days: [InstanceDay], at extra: [Int64] = []) {
    var all: [(member: Int, instant: ReloadInstant)] = extra.map {
      (0, ReloadInstant(arrival: Arrival(time: $0, expires: .max, relevance: 0), view: 0))
    }
    for (member, day) in days.enumerated() { all += day.instants.map { (member, $0) } }
    // A free reload shows the changes that arrive at the same instant, so it comes after them.
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
        // A change is too old only if it is too old for the longest half-life.
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

  /// The number of instants at which a reload can make sense.
  var count: Int { rows.count }

  /// Returns the exact optimum, by dynamic programming over the number of reloads: f[m][j] = max over i of
  /// f[m − 1][i] + R(i, j). Takes time k · n · w for k reloads and n instants, of which w fit into the life of a change.
  /// - Parameter reloadsMax: The largest number of reloads.
  func exact(reloadsMax: Int) -> Double {
    var before = [Double](repeating: 0, count: count + 1)
    // Without any paid reload, only the free ones show something.
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

  /// Returns the best plan if every reload costs a price: its value after costs, and its number of reloads. Takes time
  /// n · w.
  func priced(at price: Double) -> (net: Double, reloads: Int) {
    var net = [Double](repeating: 0, count: count + 1)
    var reloads = [Int](repeating: 0, count: count + 1)
    for place in 0..<count {
      var best = -1.0
      var bestReloads = 0
      for (back, worth) in rows[place].enumerated() {
        let value = net[place - back] + Double(worth)
        // If two plans are equal, the one with fewer reloads is better.
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

  /// Returns the best plan if every instant has a separate price: its value after costs, and the places of the instants
  /// at which it pays for a reload.
  /// - Parameter prices: The price of a reload at each instant.
  func plan(prices: [Double]) -> (net: Double, chosen: [Int]) {
    var net = [Double](repeating: 0, count: count + 1)
    // For the best plan of the first n instants: the number of instants before its last segment, or −1 if the last of
    // the n instants has no reload.
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

  /// Returns the best plan for a number of reloads k, by a Lagrange multiplier: searches for the price at which the best
  /// plan reloads k times. Such a plan is an optimum for k reloads (Everett, 1963).
  ///
  /// The number of reloads can jump over k: with ties, or if the chance of a look rises so fast that the optimum is not
  /// concave in k. The price then only bounds the optimum, and `exact(reloadsMax:)` decides. Takes time n · w · 48 at most.
  /// - Parameter reloadsMax: The largest number of reloads.
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

  /// The least price of a reload. Keeps the plan from reloads that show nothing.
  private static let priceLeast = 1e-9
  /// The largest number of times that the interval in which the price is searched is halved.
  private static let halvings = 48
}
