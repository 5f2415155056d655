import Domain

/// The popularity of subjects. Subjects are in a random order, and the r-th is drawn with a probability in proportion to
/// 1/r (Zipf's law with s = 1). So a few subjects have most of the followers and most have a few, as with teams, routes
/// and shows.
struct FleetPopularity: Sendable {
  private let ranked: [Identifier]
  /// The sums of the weights: `cumulative[r]` is 1/1 + … + 1/(r+1). Only divisions and additions are used, whose
  /// results IEEE 754 defines exactly, so every machine draws the same subjects.
  private let cumulative: [Double]

  /// Puts the subjects into a random order of popularity.
  /// - Parameter subjects: At least one.
  init(_ subjects: [Identifier], random: inout SeededRandom) {
    precondition(!subjects.isEmpty, "a popularity needs at least one subject")
    var ranked = subjects
    random.shuffle(&ranked)
    self.ranked = ranked
    var sum = 0.0
    cumulative = (1...ranked.count).map { rank in
      sum += 1 / Double(rank)
      return sum
    }
  }

  /// Draws one subject, by binary search.
  func draw(_ random: inout SeededRandom) -> Identifier {
    let target = random.unit() * cumulative[cumulative.count - 1]
    var low = 0
    var high = cumulative.count - 1
    while low < high {
      let middle = (low + high) / 2
      if cumulative[middle] <= target { low = middle + 1 } else { high = middle }
    }
    return ranked[low]
  }

  /// Draws up to `count` different subjects. There are fewer if popular subjects keep coming up: drawing ends after
  /// 8 · `count` tries.
  func draw(_ count: Int, _ random: inout SeededRandom) -> [Identifier] {
    let wanted = min(count, ranked.count)
    var drawn: [Identifier] = []
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
