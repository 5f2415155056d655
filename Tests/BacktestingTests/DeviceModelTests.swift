import Domain
import Foundation
import LineFiles
import Policies
import Replay
import Testing

@testable import Backtesting

@Suite("The device model")
struct DeviceModelTests {
  private static let start: Int64 = 1_782_878_400_000_000
  private static let minute: Int64 = 60_000_000

  @Test("a system grants 40 to 70 reloads a day, more for a widget that people look at often, and refuses the rest")
  func budgets() {
    let model = DeviceModel(.apple, seed: 3)
    for (looks, least, most) in [(0.0, 40, 40), (30, 41, 56), (1000, 70, 70)] as [(Double, Int, Int)] {
      var budget = model.budget(device: "d", instance: "w", zone: "GMT", looksPerDay: looks)
      #expect((least...most).contains(budget.perDay), "\(looks) looks")
      // Pushes every six minutes for two days, beginning in the middle of a day.
      var granted = 0
      for place in 0..<480 where budget.grants(at: Self.start + Int64(3 * 60 + place * 6) * Self.minute) {
        granted += 1
      }
      #expect((2 * budget.perDay...3 * budget.perDay).contains(granted))
    }
  }

  @Test("a push too soon after the last reload is refused")
  func spacing() {
    var budget = DeviceModel(.apple).budget(device: "d", instance: "w", zone: "GMT", looksPerDay: 60)
    var answers: [Bool] = []
    for minute in [0, 4, 5, 6, 10] { answers.append(budget.grants(at: Self.start + Int64(minute) * Self.minute)) }
    #expect(answers == [true, false, true, false, true])
  }

  @Test("every number of the model names its source and its confidence")
  func figures() {
    #expect(DeviceModel(.trusting).figures.isEmpty)
    let figures = DeviceModel(.apple).figures
    #expect(figures.count >= 10)
    for figure in figures {
      #expect(!figure.provenance.source.isEmpty)
      #expect(["high", "medium", "low", "inference"].contains(figure.provenance.confidence))
    }
  }

  @Test("drawn looks are the same for the same seed, differ by device and seed, and follow the curve")
  func drawn() {
    var curve = [Double](repeating: 0, count: 24)
    curve[9] = 1
    let day = Self.start..<Self.start + LocalDays.day
    func looks(_ seed: UInt64, _ device: Identifier) -> [Int64] {
      LookModel(DeviceModel(.apple, seed: seed), screens: nil, curve: curve)
        .looks(at: device, zone: "GMT", from: day.lowerBound, to: day.upperBound)
    }
    #expect(looks(1, "a") == looks(1, "a"))
    #expect(looks(1, "a") != looks(2, "a"))
    #expect(looks(1, "a") != looks(1, "b"))
    var hours = LocalDays(zone: "GMT", anchorMinute: 0)
    #expect((20...100).contains(looks(1, "a").count))
    for look in looks(1, "a") { #expect(hours.hour(at: look) == 9) }
  }

  @Test("a device with recorded looks is looked at as recorded; the days of others copy recorded days")
  func recorded() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("screens-\(UUID().uuidString).jsonl").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var lines = try LineWriter(path: path)
    for time in [
      "2026-07-01T08:00:00Z", "2026-07-02T09:00:00Z", "2026-07-02T10:00:00Z", "2026-07-03T09:30:00Z",
      "2026-07-04T00:00:00Z",
    ] {
      try lines.append("{\"device\":\"d\",\"time\":\"\(time)\",\"kind\":\"unlock\"}")
      try lines.endLine()
    }
    try lines.close()
    let screens = try ScreenEvents(path: path, zone: "GMT")
    let looks = LookModel(DeviceModel(.apple), screens: screens, curve: screens.curve.hourly)
    let july = Self.start - 4 * LocalDays.hour
    let own = looks.looks(at: "d", zone: "GMT", from: july, to: july + LocalDays.day)
    #expect(own == [july + 8 * LocalDays.hour])
    #expect(looks.isRecorded("d", from: july))
    #expect(!looks.isRecorded("other", from: july))
    // Years later, every day copies 2 or 3 July, the only days that are recorded whole.
    let later = july + 1000 * LocalDays.day
    let wholes = [[9.0, 10.0], [9.5]]
    for day in 0..<6 {
      let from = later + Int64(day) * LocalDays.day
      let other = looks.looks(at: "other", zone: "GMT", from: from, to: from + LocalDays.day)
      #expect(wholes.contains(other.map { Double($0 - from) / Double(LocalDays.hour) }))
      // Asking hour by hour gives the same looks.
      let byHour = (0..<24).flatMap { hour in
        looks.looks(
          at: "other", zone: "GMT", from: from + Int64(hour) * LocalDays.hour,
          to: from + Int64(hour + 1) * LocalDays.hour)
      }
      #expect(byHour == other)
    }
    #expect(screens.curve(of: "d")?.hourly[9] == 1)
    #expect(screens.curve(of: "other") == nil)
  }
}
