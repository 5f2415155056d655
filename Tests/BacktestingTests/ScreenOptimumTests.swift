import Domain
import Policies
import Replay
import Testing

@testable import Backtesting

@Suite("The optimum by wrong looks")
struct ScreenOptimumTests {
  private static let minute = ScreenSamples.minute
  private static let start = ScreenSamples.start

  /// Returns a random stream of one day with few changes, some of them close together.
  private static func stream(_ random: inout SeededRandom, changes: Int) -> ScreenStream {
    let count = 1 + random.below(3)
    var stream = ScreenStream(
      measures: (0..<count).map { place in
        FieldDistance(
          DisplayField(
            path: "data.f", per: random.chance(1, in: 2) ? .units(Double(1 + random.below(5))) : nil,
            weight: Double(20 + random.below(81)) / 100))
      })
    var minutes: [Int64] = []
    for _ in 0..<changes {
      minutes.append(Int64(random.below(3) == 0 ? 600 + random.below(25) : random.below(1430)))
    }
    for minute in minutes.sorted() {
      if random.chance(1, in: 8) {
        stream.add(news: Double(1 + random.below(9)) / 10, at: start + minute * Self.minute)
      } else {
        stream.add(
          DisplayedValue(.number(Double(random.below(6)))), of: random.below(count), subject: "s",
          at: start + minute * Self.minute)
      }
    }
    return stream
  }

  /// Returns the least wrong looks by trying every choice of reloads at the changes.
  private static func bruteForce(_ stream: ScreenStream, _ day: ScreenDay, gap: Int64, reloadsMax: Int) -> Double {
    var instants: [Int64] = []
    for change in stream.changes where change.time != instants.last { instants.append(change.time) }
    var best = Double.infinity
    for choice in 0..<(1 << instants.count) where choice.nonzeroBitCount <= reloadsMax {
      let reloads = instants.indices.filter { choice & (1 << $0) != 0 }.map { instants[$0] }
      if zip(reloads, reloads.dropFirst()).contains(where: { $1 - $0 < gap }) { continue }
      best = min(best, ScreenSamples.wrongLooks(stream, day, reloads: reloads))
    }
    return best
  }

  @Test("equals the best of all choices on random days", arguments: 1...300 as ClosedRange<UInt64>)
  func bruteForce(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let stream = Self.stream(&random, changes: 3 + random.below(6))
    var views: [Double] = []
    for _ in 0..<24 { views.append(Double(random.below(5)) / 4) }
    views[12] = 1
    let free = random.chance(1, in: 3) ? [Self.start + Int64(random.below(1430)) * Self.minute] : []
    let day = ScreenSamples.day(
      of: stream, free: free, looks: ScreenSamples.looks(views)(ScreenSamples.days.day(at: Self.start)))
    let gap = Int64(random.below(2)) * 5 * Self.minute
    let optimum = ScreenOptimum(stream, day: day, truth: stream.start, gap: gap, reloadsMax: 9, hasGrid: false)
    #expect(abs(optimum.none - ScreenSamples.wrongLooks(stream, day, reloads: [])) < 1e-9, "seed \(seed)")
    for reloads in 0...3 {
      let best = Self.bruteForce(stream, day, gap: gap, reloadsMax: reloads)
      #expect(abs(optimum.wrongLooks(reloads: reloads) - best) < 1e-9, "seed \(seed), \(reloads) reloads")
    }
  }

  @Test("one more reload may not help where two more do")
  func twoMore() {
    // The value leaves and returns within the gap of the one look that counts.
    let stream = ScreenSamples.number(per: 1, [(60, 1), (120, 0)])
    var views = [Double](repeating: 0, count: 24)
    views[5] = 1
    views[6] = 1
    let day = ScreenSamples.day(of: stream, looks: ScreenSamples.looks(views)(ScreenSamples.days.day(at: Self.start)))
    let optimum = ScreenOptimum(stream, day: day, truth: stream.start, gap: 0, reloadsMax: 3)
    #expect(abs(optimum.none - 25) < 1e-9)
    #expect(abs(optimum.wrongLooks(reloads: 1) - 25) < 1e-9)
    #expect(abs(optimum.wrongLooks(reloads: 2)) < 1e-9)
  }

  @Test("no strategy leaves fewer wrong looks than the optimum", arguments: 400...415 as ClosedRange<UInt64>)
  func bound(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let stream = Self.stream(&random, changes: 60)
    let day = ScreenSamples.day(of: stream)
    for tokens in [4, 20] {
      let optimum = ScreenOptimum(
        stream, day: day, truth: stream.start, gap: 5 * Self.minute, reloadsMax: tokens)
      for strategy in ReloadStrategy.baselines {
        let reloads = StrategyCourse.reloads(
          strategy, for: stream, tokens: tokens, minInterval: 5 * Self.minute, days: ScreenSamples.days,
          looks: ScreenSamples.looks())
        let wrong = ScreenSamples.wrongLooks(stream, day, reloads: reloads)
        // The candidates are changes and a grid, so a reload between them can be a little better.
        #expect(wrong > optimum.wrongLooks(reloads: tokens) * 0.97 - 0.05, "seed \(seed), \(strategy.name)")
      }
    }
  }

  @Test("a day with too many changes keeps fewer candidates, says so, and is hardly worse")
  func thinned() {
    var random = SeededRandom(seed: 5)
    let stream = Self.stream(&random, changes: 120)
    let day = ScreenSamples.day(of: stream)
    let all = ScreenOptimum(stream, day: day, truth: stream.start, gap: 0, reloadsMax: 8)
    let few = ScreenOptimum(stream, day: day, truth: stream.start, gap: 0, reloadsMax: 8, changesMax: 40)
    #expect(!all.isThinned)
    #expect(few.isThinned)
    #expect(few.none == all.none)
    #expect(few.wrongLooks(reloads: 8) >= all.wrongLooks(reloads: 8))
    #expect(few.wrongLooks(reloads: 8) < all.wrongLooks(reloads: 8) * 1.2 + 0.2)
  }

  @Test("the table of a day with 12,000 changes stays within 10 MB")
  func memory() {
    var random = SeededRandom(seed: 6)
    var stream = ScreenStream(measures: [FieldDistance(DisplayField(path: "data.f", per: .units(5), weight: 1))])
    let second: Int64 = 1_000_000
    for change in 0..<12_000 {
      let value = DisplayedValue(.number(Double(random.below(9))))
      stream.add(value, of: 0, subject: "s", at: Self.start + Int64(change) * 7 * second)
    }
    let day = ScreenSamples.day(of: stream)
    // Fewer candidates than the bound, so that the test is fast: the table grows in proportion to both.
    let (candidates, reloads) = (250, 7)
    let optimum = ScreenOptimum(
      stream, day: day, truth: stream.start, gap: 0, reloadsMax: reloads, hasGrid: false, changesMax: candidates)
    #expect(optimum.isThinned)
    #expect(optimum.tableBytes <= (candidates + 1) * (reloads + 1) * MemoryLayout<Double>.stride)
    let grid = Int(LocalDays.day / ScreenOptimum.grid)
    let largest = (ScreenOptimum.changesMax + grid + 1) * MemoryLayout<Double>.stride
    #expect(largest * 208 <= 10_000_000)
  }
}
