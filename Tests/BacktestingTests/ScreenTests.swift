import Domain
import Policies
import Testing

@testable import Backtesting

@Suite("A screen and the looks at it")
struct ScreenTests {
  private static let minute = ScreenSamples.minute
  private static let start = ScreenSamples.start

  @Test("wrong looks are the looks, each counted by how wrong the screen is")
  func wrongLooks() {
    // Two hours at half the distance, then two hours at the whole, then right again: at 50 looks in 24 hours.
    let stream = ScreenSamples.number(per: 10, [(60, 5), (180, 20), (300, 0)])
    let day = ScreenSamples.day(of: stream)
    let none = ScreenSamples.wrongLooks(stream, day, reloads: [])
    #expect(abs(none - 50.0 / 24 * (2 * 0.5 + 2)) < 1e-9)
    // A reload at the first change leaves the second one, which is more than 10 away, until the value is 0: 5 away.
    let one = ScreenSamples.wrongLooks(stream, day, reloads: [Self.start + 60 * Self.minute])
    #expect(abs(one - 50.0 / 24 * (2 + 19 * 0.5 + 4 * 0)) < 50.0 / 24 * 0.5 + 1e-9)
    #expect(abs(one - 50.0 / 24 * (2 + Double(24 - 5) * 0.5)) < 1e-9)
  }

  @Test("fields combine as the product of what is right, and undone changes leave nothing")
  func combined() {
    let fields = [
      FieldDistance(DisplayField(path: "data.a", weight: 0.5)),
      FieldDistance(DisplayField(path: "data.b", weight: 0.4)),
      FieldDistance(DisplayField(path: "data.c")),
    ]
    var screen = ScreenState(measures: fields, fields: [0, 1, 2], truth: Array(repeating: .absent, count: 3))
    let text = { DisplayedValue(.string($0)) }
    screen.take(.value(field: 0, text("x")))
    screen.take(.value(field: 1, text("y")))
    #expect(abs(screen.distance - 0.7) < 1e-12)
    screen.take(.value(field: 2, text("z")))
    #expect(screen.distance == 1)
    screen.take(.value(field: 2, .absent))
    screen.take(.news(0.5))
    #expect(abs(screen.distance - 0.85) < 1e-12)
    screen.reload()
    #expect(screen.distance == 0)
    screen.take(.value(field: 0, text("w")))
    screen.take(.value(field: 0, text("x")))
    #expect(screen.distance == 0)
  }

  @Test("a screen is exactly right when it shows the truth, and only then", arguments: 1...60 as ClosedRange<UInt64>)
  func exact(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let fields = (0..<4).map { place in
      FieldDistance(
        DisplayField(path: "data.f", per: place < 2 ? .units(3) : nil, weight: [0.3, 1, 0.1, 0.9][place]))
    }
    var screen = ScreenState(measures: fields, fields: [0, 1, 2, 3, 0, 1], truth: Array(repeating: .absent, count: 6))
    for _ in 0..<200 {
      if random.chance(1, in: 12) {
        screen.reload()
      } else {
        screen.take(.value(field: random.below(6), DisplayedValue(.number(Double(random.below(3))))))
      }
      let isRight = (0..<6).allSatisfy { screen.shown($0) == screen.truth[$0] }
      #expect((screen.distance == 0) == isRight, "seed \(seed)")
      let product = (0..<6).reduce(1.0) {
        $0 * (1 - fields[[0, 1, 2, 3, 0, 1][$1]](shown: screen.shown($1), truth: screen.truth[$1]))
      }
      #expect(abs(screen.distance - (1 - product)) < 1e-9, "seed \(seed)")
    }
  }

  @Test("recorded looks count at their own times")
  func recorded() {
    let stream = ScreenSamples.number(per: 10, [(60, 5), (180, 0)])
    let times = [10, 60, 100, 179, 181].map { Self.start + $0 * Self.minute }
    let day = ScreenSamples.day(of: stream, looks: DayLooks(recorded: times[...]))
    #expect(ScreenSamples.wrongLooks(stream, day, reloads: []) == 1.5)
    #expect(ScreenSamples.wrongLooks(stream, day, reloads: [Self.start + 90 * Self.minute]) == 0.5 + 0.5)
  }
}
