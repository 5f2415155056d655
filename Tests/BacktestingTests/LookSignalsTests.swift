import Domain
import Replay
import Testing

@testable import Backtesting

@Suite("Signals of looks")
struct LookSignalsTests {
  private static let start: Int64 = 1_782_878_400_000_000

  private static func signals() -> LookSignals {
    let model = DeviceModel(.apple, seed: 4)
    let curve = [Double](repeating: 1, count: 24)
    return LookSignals(
      model, looks: LookModel(model, screens: nil, curve: curve),
      streams: [
        InstanceStream(device: "d", app: "a.b", instance: "w", kind: "K", zone: "GMT", reach: .widgetPush)
      ], from: start)
  }

  /// Returns the times of all signals up to an instant, µs.
  /// - Parameter step: The time between two records of the log, µs.
  private static func times(upTo end: Int64, by step: Int64) -> [Int64] {
    var signals = signals()
    var times: [Int64] = []
    var instant = min(end, start + step)
    while true {
      while let signal = signals.next(upTo: instant) { times.append(signal.time.microseconds) }
      if instant == end { return times }
      instant = min(end, instant + step)
    }
  }

  @Test("a long gap has looks at its beginning and its end, but none in the middle")
  func gap() {
    let end = Self.start + 365 * LocalDays.day
    let all = Self.times(upTo: end, by: 7 * LocalDays.day)
    let ends = Self.times(upTo: end, by: 365 * LocalDays.day)
    let middle = Self.start + LookSignals.gapMax..<end - LookSignals.gapMax
    #expect(ends == all.filter { !middle.contains($0) })
    #expect(ends.count > 500)
  }

  @Test("a gap of seven thousand years has no more signals than one of four weeks")
  func millennia() {
    let end = Self.start + 7000 * 365 * LocalDays.day
    #expect((500...5000).contains(Self.times(upTo: end, by: end).count))
  }

  @Test("a gap of four weeks has looks throughout")
  func fourWeeks() {
    let end = Self.start + 28 * LocalDays.day
    #expect(Self.times(upTo: end, by: 28 * LocalDays.day) == Self.times(upTo: end, by: LocalDays.day))
  }
}
