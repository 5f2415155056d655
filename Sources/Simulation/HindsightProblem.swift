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
  }

  struct Solution: Equatable, Sendable {
    /// The optimum.
    var value: Double
    /// What one more reload would have brought: the day's price in hindsight, 0 where the budget was not spent.
    var price: Double
    var reloads: Int
  }

  /// Per instant j: R(i, j) for i = j − 1, j − 2, … until nothing older is worth anything; what is older adds nothing.
  private let rows: [[Float]]

  /// - Parameter instants: by time. An instant without a change has relevance 0.
  init(_ instants: [Instant], model: ValueModel) {
    var rows: [[Float]] = []
    rows.reserveCapacity(instants.count)
    for (place, instant) in instants.enumerated() {
      var row: [Float] = []
      var sum = 0.0
      var other = place
      while other >= 0 {
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
  }

  var count: Int { rows.count }

  /// Exact, by dynamic programming over the number of reloads: f[m][j] = max over i of f[m − 1][i] + R(i, j).
  /// Time k·n·w, where w instants fit into the life of a change.
  func exact(reloadsMax: Int) -> Double {
    var before = [Double](repeating: 0, count: count + 1)
    var after = before
    for _ in 0..<min(reloadsMax, count) {
      after[0] = 0
      for place in 0..<count {
        var best = after[place]
        for (back, worth) in rows[place].enumerated() { best = max(best, before[place - back] + Double(worth)) }
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
      if best - price > net[place] {
        net[place + 1] = best - price
        reloads[place + 1] = bestReloads + 1
      } else {
        net[place + 1] = net[place]
        reloads[place + 1] = reloads[place]
      }
    }
    return (net[count], reloads[count])
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
