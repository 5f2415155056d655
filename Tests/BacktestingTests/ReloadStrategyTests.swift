import Planning
import Testing

@testable import Backtesting

@Suite("The strategies in use today")
struct ReloadStrategyTests {
  private static let second: Int64 = 1_000_000
  /// 2026-07-01T12:00:00Z
  private static let noon: Int64 = 1_782_907_200_000_000

  private func arrivals(every step: Int64, count: Int) -> [Arrival] {
    (0..<Int64(count)).map {
      Arrival(time: Self.noon + $0 * step, expires: Self.noon + $0 * step + 7200 * Self.second, relevance: 0.5)
    }
  }

  private func reloads(_ strategy: ReloadStrategy, _ arrivals: [Arrival], tokens: Int, minInterval: Int64 = 0)
    -> [Int64]
  {
    strategy.reloads(
      for: arrivals, tokens: tokens, minInterval: minInterval, days: LocalDays(zone: "GMT", anchorMinute: 240))
  }

  @Test("every strategy keeps the day's tokens and the minimum interval", arguments: ReloadStrategy.baselines)
  func limits(strategy: ReloadStrategy) {
    let times = reloads(
      strategy, arrivals(every: 37 * Self.second, count: 8000), tokens: 20, minInterval: 300 * Self.second)
    let days = LocalDays(zone: "GMT", anchorMinute: 240)
    var spent: [Int64: Int] = [:]
    for time in times { spent[days.day(at: time).index, default: 0] += 1 }
    #expect(spent.values.allSatisfy { $0 <= 20 })
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 300 * Self.second })
    #expect(spent.count >= 3)
  }

  @Test("first come spends all tokens on the first changes")
  func firstCome() {
    let stream = arrivals(every: 600 * Self.second, count: 30)
    #expect(reloads(.firstCome, stream, tokens: 5) == stream.prefix(5).map(\.time))
  }

  @Test("debounce waits for five seconds of silence")
  func debounce() {
    let burst = arrivals(every: 2 * Self.second, count: 4)
    #expect(reloads(.debounce, burst, tokens: 5) == [Self.noon + 11 * Self.second])
  }

  @Test("after its burst, GCRA reloads once per (24 hours / tokens)")
  func gcra() {
    let times = reloads(.gcra(burst: 4), arrivals(every: 60 * Self.second, count: 300), tokens: 24)
    #expect(times.prefix(4).elementsEqual(arrivals(every: 60 * Self.second, count: 4).map(\.time)))
    #expect(times[4] - times[0] == 3600 * Self.second)
    #expect(times[5] - times[4] == 3600 * Self.second)
  }

  @Test("in the classic table, four an hour lasts, twelve an hour ends before eleven, and on demand leaves most")
  func classic() {
    let table = ClassicStrategies(tokens: 48)
    #expect(table.rows.map(\.wanted) == [48, 144, 8])
    #expect(table.rows.map(\.granted) == [48, 48, 8])
    #expect(table.rows.map(\.exhaustedMinute) == [nil, 10 * 60 + 55, nil])
    #expect(table.rows.map { $0.left[24] } == [0, 0, 40])
    #expect(ClassicStrategies(tokens: 120).rows[1].exhaustedMinute == 16 * 60 + 55)
  }
}
