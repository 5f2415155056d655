import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of sweeps: what they find, and that they change nothing.
@Suite("Sweeps")
struct SweepTests {
  private static func sweep(_ planner: borrowing Planner, at instant: Int64 = .min) -> ScreenFigures {
    var sweep = ScreenSweep()
    while true {
      if let figures = planner.sweep(&sweep, at: Timestamp(microseconds: instant)) { return figures }
    }
  }

  @Test("a wrong screen counts with its age, its worth, its tokens and its price, as a decision would state them")
  func wrong() throws {
    var h = H(.slowDelays(), demand: .high)
    h.register(.phone())
    h.register(.phone("d2", widgets: [.flight("w1", interests: ["flight/UA2"])]))
    h.event(.delay(30, id: "e1", at: H.noon))
    let held = try #require(h.only)
    #expect(held.reason == .belowPrice)
    let kind = try #require(Self.sweep(h.planner, at: H.noon + 90_000_000).kinds.first)
    #expect(kind.name == "FlightStatus")
    #expect((kind.instances, kind.wrong, kind.tokensLeft) == (2, 1, 96))
    #expect(kind.ageSum == 90 && kind.ages[3] == 1 && kind.ages.reduce(0, +) == 1)
    #expect(Float(kind.worthPending) == Float(held.value))
    // The demand of the first instance holds the change, so its price is that of the decision; the second one knows of nothing.
    #expect(kind.tokenPrices > held.price)
    #expect(kind.changesExpected > 2 && kind.worthExpected > 0)
  }

  @Test("a screen that a push has set right is not wrong, and its token is spent")
  func right() throws {
    var h = H(.slowDelays())
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .emitted)
    let kind = try #require(Self.sweep(h.planner).kinds.first)
    #expect((kind.instances, kind.wrong, kind.tokensLeft, kind.worthPending) == (1, 0, 47, 0))
  }

  @Test("the age of a wrong screen on which no event waits counts from the last change of its subject")
  func caughtUpLater() throws {
    var h = H(.slowDelays(), demand: .high)
    let none = Registration.Tokens(widgets: nil, background: nil)
    h.register(.phone(tokens: none))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(h.only?.reason == .noToken)
    #expect(Self.sweep(h.planner).kinds.isEmpty)
    h.register(.phone(at: H.noon + 10 * H.minute), at: H.noon + 10 * H.minute)
    let kind = try #require(Self.sweep(h.planner, at: H.noon + 20 * H.minute).kinds.first)
    #expect(kind.wrong == 1 && kind.ageSum == 20 * 60)
  }

  @Test("instances that no push can reach, of disabled kinds and on devices in developer mode are left out")
  func uncounted() {
    var h = H(.slowDelays())
    h.register(.phone("d1", tokens: Registration.Tokens(widgets: nil, background: nil)))
    h.register(.phone("d2", developerMode: true))
    h.register(.phone("d3", widgets: [.flight(kind: "Unknown")]))
    #expect(Self.sweep(h.planner).kinds.isEmpty)
    h.activate(.slowDelays { $0.enabled = false })
    h.register(.phone("d4"))
    #expect(Self.sweep(h.planner).kinds.isEmpty)
  }

  @Test("a scheduled reload whose time has passed has set the screen right")
  func reloaded() throws {
    var h = H(.slowDelays(), demand: .high)
    h.register(.phone(widgets: [.flight(nextReload: H.noon + 30 * H.minute)]))
    h.event(.delay(30, id: "e1", at: H.noon))
    #expect(try #require(Self.sweep(h.planner).kinds.first).wrong == 1)
    h.register(.phone("d2"), at: H.noon + 40 * H.minute)
    #expect(try #require(Self.sweep(h.planner).kinds.first).wrong == 0)
  }

  @Test("after the end of a budget day all tokens are left, before anything has begun the next day")
  func nextDay() throws {
    var h = H(.slowDelays())
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.tick(at: H.noon + 24 * H.hour)
    #expect(try #require(Self.sweep(h.planner).kinds.first).tokensLeft == 48)
  }

  @Test("tokens that were left at the end of a day count once, with the next event; days without events do not count")
  func unspent() {
    var h = H(.slowDelays())
    h.register(.phone())
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.hour))
    #expect(Self.unspent(&h.planner) == 0)
    h.event(.delay(0, id: "e3", at: H.noon + 72 * H.hour))
    #expect(Self.unspent(&h.planner) == 46)
    #expect(Self.unspent(&h.planner) == 0)
  }

  private static func unspent(_ planner: inout Planner) -> Int {
    var sum = 0
    planner.takeOutcomes { _, counts in sum += counts.tokensUnspent }
    return sum
  }

  @Test("decisions and state are the same, byte for byte, with a sweep after each record and without")
  func reads() {
    func run(sweeping: Bool) -> (H, [[UInt8]: [UInt8]]) {
      var h = H(.slowDelays(), demand: .high)
      for device in 0..<40 { h.register(.phone(Identifier("d\(device)"))) }
      var sweep = ScreenSweep()
      for round in 0..<60 {
        let time = H.noon + Int64(round) * 37 * H.minute
        h.event(.delay(Double(round * 7 % 60), id: Identifier("e\(round)"), at: time))
        if sweeping { _ = h.planner.sweep(&sweep, at: Timestamp(microseconds: time + H.hour)) }
      }
      var state: [[UInt8]: [UInt8]] = [:]
      h.planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
      return (h, state)
    }
    let (with, without) = (run(sweeping: true), run(sweeping: false))
    #expect(with.0.decisions == without.0.decisions && with.0.decisions.count > 1000)
    #expect(with.0.commands == without.0.commands)
    #expect(with.1 == without.1)
  }

  @Test("a sweep of many devices takes several slices, and counts each device once")
  func slices() throws {
    var h = H(.slowDelays())
    for device in 0..<600 { h.register(.phone(Identifier("d\(device)"))) }
    var (sweep, slices) = (ScreenSweep(), 1)
    var figures: ScreenFigures?
    while figures == nil {
      figures = h.planner.sweep(&sweep, at: .distantPast)
      if figures == nil { slices += 1 }
    }
    #expect(figures?.kinds.first?.instances == 600 && figures?.stride == 1)
    // A device with one instance counts twice towards a slice: as a device and as an instance.
    #expect(slices == 5)
  }

  @Test("of a partition that is too large, each sweep visits one device of each block, and not always the same")
  func sampled() {
    let slots = ScreenSweep.devicesMax * 3 - 1
    var sweep = ScreenSweep()
    func visited() -> [UInt32] {
      var visited: [UInt32] = []
      while let device = sweep.next(slots: slots) { visited.append(device.number) }
      return visited
    }
    let first = visited()
    #expect(sweep.stride == 3)
    #expect(first.count == ScreenSweep.devicesMax)
    #expect(first.enumerated().allSatisfy { $0.element == .max || Int($0.element) / 3 == $0.offset })
    for rest in UInt32(0)..<3 { #expect(first.count { $0 % 3 == rest } > first.count * 3 / 10) }
    sweep.kinds = [ScreenFigures.Kind()]
    sweep.kinds[0].instances = 7
    sweep.kinds[0].noteWrong(age: 100)
    let figures = sweep.finish { _ in ("k", nil) }
    #expect(figures.stride == 3 && figures.kinds[0].instances == 21 && figures.kinds[0].wrong == 3)
    #expect(figures.kinds[0].ages.reduce(0, +) == 3 && figures.kinds[0].ageSum == 300)
    #expect(visited() != first)
  }
}
