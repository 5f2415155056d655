import Planning
import Replay
import Testing

@testable import Backtesting

@Suite("The strategies in use today")
struct ReloadStrategyTests {
  private static let second: Int64 = 1_000_000
  /// 2026-07-01T12:00:00Z
  private static let noon: Int64 = 1_782_907_200_000_000

  /// Returns news at regular instants. Each of them makes the screen wrong until the next reload.
  private func news(every step: Int64, count: Int) -> ScreenStream {
    var stream = ScreenStream(measures: [])
    for place in 0..<Int64(count) { stream.add(news: 0.5, at: Self.noon + place * step) }
    return stream
  }

  private func reloads(_ strategy: ReloadStrategy, _ stream: ScreenStream, tokens: Int, minInterval: Int64 = 0)
    -> [Int64]
  {
    StrategyCourse.reloads(
      strategy, for: stream, tokens: tokens, minInterval: minInterval, days: ScreenSamples.days,
      looks: ScreenSamples.looks())
  }

  @Test("every strategy keeps the day's tokens and the minimum interval", arguments: ReloadStrategy.baselines)
  func limits(strategy: ReloadStrategy) {
    let times = reloads(
      strategy, news(every: 37 * Self.second, count: 8000), tokens: 20, minInterval: 300 * Self.second)
    let days = LocalDays(zone: "GMT", anchorMinute: 240)
    var spent: [Int64: Int] = [:]
    for time in times { spent[days.day(at: time).index, default: 0] += 1 }
    #expect(spent.values.allSatisfy { $0 <= 20 })
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 300 * Self.second })
    #expect(spent.count >= 3)
  }

  @Test("first come spends all tokens on the first changes")
  func firstCome() {
    let stream = news(every: 600 * Self.second, count: 30)
    let times = reloads(.firstCome, stream, tokens: 5)
    #expect(times.prefix(5).elementsEqual(stream.changes.prefix(5).map(\.time)))
    // The screen is still wrong when the next day begins at 04:00.
    #expect(times.dropFirst(5).elementsEqual([Self.noon + 16 * 3600 * Self.second]))
  }

  @Test("debounce waits for five seconds of silence")
  func debounce() {
    let burst = news(every: 2 * Self.second, count: 4)
    #expect(reloads(.debounce, burst, tokens: 5) == [Self.noon + 11 * Self.second])
  }

  @Test("after its burst, GCRA reloads once per (24 hours / tokens)")
  func gcra() {
    let times = reloads(.gcra(burst: 4), news(every: 60 * Self.second, count: 300), tokens: 24)
    #expect(times.prefix(4).elementsEqual(news(every: 60 * Self.second, count: 4).changes.map(\.time)))
    #expect(times[4] - times[0] == 3600 * Self.second)
    #expect(times[5] - times[4] == 3600 * Self.second)
  }

  @Test("evenly by looks waits for its share of the looks that are left, and spends more where people look more")
  func evenly() {
    // 24 tokens and 50 looks: 0.7 of a 24th of the looks pass in 42 minutes. It is looked at every five minutes.
    let stream = ScreenSamples.number(per: 1, (0..<200).map { (Int64($0) * 7, Double($0 % 2 + 1)) })
    let times = reloads(.evenlyByLooks, stream, tokens: 24)
    #expect((42...50).contains((times[1] - times[0]) / (60 * Self.second)))
    #expect(times.count == 24)
    var views = [Double](repeating: 0.1, count: 24)
    for hour in 18..<22 { views[hour] = 1 }
    let evening = StrategyCourse.reloads(
      .evenlyByLooks, for: stream, tokens: 24, minInterval: 0, days: ScreenSamples.days,
      looks: ScreenSamples.looks(views))
    let start = ScreenSamples.start
    let busy = evening.count { $0 >= start + 14 * 3600 * Self.second && $0 < start + 18 * 3600 * Self.second }
    #expect(busy > evening.count / 2)
  }

  @Test("a change that is undone before a reload costs none")
  func undone() {
    let stream = ScreenSamples.number(per: 1, [(0, 1), (1, 2), (2, 1), (30, 1.5)])
    let times = reloads(.firstCome, stream, tokens: 9, minInterval: 300 * Self.second)
    #expect(times == [ScreenSamples.start, ScreenSamples.start + 30 * 60 * Self.second])
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
