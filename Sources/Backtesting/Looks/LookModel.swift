import Domain
import Planning
import Policies

/// When the people of the simulated devices look at them: as recorded for devices that the screen events name, as one of
/// the recorded days, drawn anew for each day, for the others, and drawn by the hours of a curve where nothing is
/// recorded. The same question always has the same answer.
struct LookModel: Sendable {
  private let model: DeviceModel
  private let screens: ScreenEvents?
  /// Recorded days, as µs after local midnight: whole days of all phones, by device name.
  private let recorded: [[Int64]]
  private let curve: [Double]

  /// - Parameter curve: chance of a look by local hour, where nothing is recorded.
  init(_ model: DeviceModel, screens: ScreenEvents?, curve: [Double]) {
    self.model = model
    self.screens = screens
    self.curve = curve
    var recorded: [[Int64]] = []
    if let screens {
      let days = LocalDays(zone: screens.zone, anchorMinute: 0)
      for (_, phone) in screens.phones.sorted(by: { $0.key < $1.key }) where !phone.looks.isEmpty {
        // The first and the last day are recorded in part only.
        var day = days.day(at: phone.first)
        day = days.day(at: day.end)
        while day.end <= phone.last {
          let from = phone.looks.partitioningIndex { $0 >= day.start }
          let to = phone.looks.partitioningIndex { $0 >= day.end }
          recorded.append(phone.looks[from..<to].map { $0 - day.start })
          day = days.day(at: day.end)
        }
      }
    }
    self.recorded = recorded
  }

  /// Looks at a device in `from..<to`, µs, rising.
  func looks(at device: String, zone: String, from: Int64, to: Int64) -> [Int64] {
    if let phone = screens?.phones[device], phone.first < to, phone.last >= from {
      return Array(
        phone.looks[phone.looks.partitioningIndex { $0 >= from }..<phone.looks.partitioningIndex { $0 >= to }])
    }
    let days = LocalDays(zone: zone, anchorMinute: 0)
    var looks: [Int64] = []
    var day = days.day(at: from)
    while day.start < to {
      var random = model.random("day", device, String(day.index))
      let times = recorded.isEmpty ? drawn(device, &random) : recorded[random.below(recorded.count)]
      // A day with a change of clocks is an hour shorter or longer than the one that it copies.
      for time in times where day.start + time < day.end && day.start + time >= from && day.start + time < to {
        looks.append(day.start + time)
      }
      day = days.day(at: day.end)
    }
    return looks
  }

  /// Mean over the days of a device.
  func perDay(_ device: String) -> Double {
    if let phone = screens?.phones[device], phone.last > phone.first {
      return Double(phone.looks.count) / max(1, Double(phone.last - phone.first) / Double(LocalDays.day))
    }
    if recorded.isEmpty { return drawnPerDay(device) }
    return Double(recorded.reduce(0) { $0 + $1.count }) / Double(recorded.count)
  }

  /// Whether the screen events tell of this very device, at some time from an instant on.
  func isRecorded(_ device: String, from: Int64) -> Bool { (screens?.phones[device]?.last ?? .min) >= from }

  private func drawnPerDay(_ device: String) -> Double {
    var random = model.random("looks", device)
    let least = DeviceModel.looksPerDayLeast.value
    return least + (DeviceModel.looksPerDayMost.value - least) * random.unit()
  }

  private func drawn(_ device: String, _ random: inout SeededRandom) -> [Int64] {
    let perDay = drawnPerDay(device)
    let sum = curve.reduce(0, +)
    var times: [Int64] = []
    for (hour, chance) in curve.enumerated() where chance > 0 {
      let expected = perDay * chance / sum
      var count = Int(expected)
      if random.unit() < expected - Double(count) { count += 1 }
      for _ in 0..<count { times.append(Int64(hour) * LocalDays.hour + Int64(random.unit() * Double(LocalDays.hour))) }
    }
    return times.sorted()
  }
}
