import Domain

/// Who is popular: subjects in a seeded order, the r-th drawn in proportion to 1/r (Zipf with s = 1). A few have most of
/// the followers, most have a few, as with teams, routes and shows.
struct FleetPopularity: Sendable {
  private let ranked: [String]
  /// `cumulative[r]` is the sum of 1/1 … 1/(r+1): divisions and additions only, which IEEE 754 fixes to the bit.
  private let cumulative: [Double]

  init(_ subjects: [String], random: inout SeededRandom) {
    precondition(!subjects.isEmpty, "nothing to draw from")
    var ranked = subjects
    random.shuffle(&ranked)
    self.ranked = ranked
    var sum = 0.0
    cumulative = (1...ranked.count).map { rank in
      sum += 1 / Double(rank)
      return sum
    }
  }

  /// One subject, by binary search.
  func draw(_ random: inout SeededRandom) -> String {
    let target = random.unit() * cumulative[cumulative.count - 1]
    var low = 0
    var high = cumulative.count - 1
    while low < high {
      let middle = (low + high) / 2
      if cumulative[middle] <= target { low = middle + 1 } else { high = middle }
    }
    return ranked[low]
  }

  /// Up to `count` different subjects. Fewer where the popular ones come up again and again: after `count` · 8 draws it
  /// is enough.
  func draw(_ count: Int, _ random: inout SeededRandom) -> [String] {
    let wanted = min(count, ranked.count)
    var drawn: [String] = []
    drawn.reserveCapacity(wanted)
    var tries = wanted * 8
    while drawn.count < wanted && tries > 0 {
      let subject = draw(&random)
      if !drawn.contains(subject) { drawn.append(subject) }
      tries -= 1
    }
    return drawn
  }
}
