import Domain
import Planning
import Policies
import Replay

/// The looks of people at the modelled devices.
///
/// A device with recorded looks is looked at as recorded. Every day of another device copies a recorded day, drawn at
/// random. Without any record, looks are drawn by the hours of a view curve. The same arguments always give the same looks.
struct LookModel: Sendable {
  private let model: DeviceModel
  private let screens: ScreenEvents?
  /// The recorded whole days of all phones, in the order of device ids: looks in µs after local midnight.
  private let recorded: [[Int64]]
  private let curve: [Double]

  /// Prepares the looks.
  /// - Parameters:
  ///   - model: The model that draws.
  ///   - screens: The recorded looks; nil without any.
  ///   - curve: The chance of a look by local hour, 24 values, for use without a record.
  init(_ model: DeviceModel, screens: ScreenEvents?, curve: [Double]) {
    self.model = model
    self.screens = screens
    self.curve = curve
    var recorded: [[Int64]] = []
    if let screens {
      let days = LocalDays(zone: screens.zone, anchorMinute: 0)
      for (_, phone) in screens.phones.sorted(by: { $0.key < $1.key }) where !phone.looks.isEmpty {
        // The first and the last day are recorded only in part, so they are left out.
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

  /// Returns the looks at a device in `from..<to`, µs, rising.
  /// - Parameters:
  ///   - device: The id of the device.
  ///   - zone: The IANA id of its time zone.
  ///   - from: The first instant, µs.
  ///   - to: The end, µs.
  func looks(at device: Identifier, zone: String, from: Int64, to: Int64) -> [Int64] {
    if let phone = screens?.phones[device], phone.first < to, phone.last >= from {
      return Array(
        phone.looks[phone.looks.partitioningIndex { $0 >= from }..<phone.looks.partitioningIndex { $0 >= to }])
    }
    let days = LocalDays(zone: zone, anchorMinute: 0)
    var looks: [Int64] = []
    var day = days.day(at: from)
    while day.start < to {
      var random = model.random("day", device, "\(day.index)")
      let times = recorded.isEmpty ? drawn(device, &random) : recorded[random.below(recorded.count)]
      // A day on which the clocks change is shorter or longer than the day that it copies.
      for time in times where day.start + time < day.end && day.start + time >= from && day.start + time < to {
        looks.append(day.start + time)
      }
      day = days.day(at: day.end)
    }
    return looks
  }

  /// Returns the mean number of looks a day at a device.
  func perDay(_ device: Identifier) -> Double {
    if let phone = screens?.phones[device], phone.last > phone.first {
      return Double(phone.looks.count) / max(1, Double(phone.last - phone.first) / Double(LocalDays.day))
    }
    if recorded.isEmpty { return drawnPerDay(device) }
    return Double(recorded.reduce(0) { $0 + $1.count }) / Double(recorded.count)
  }

  /// Returns whether there are recorded looks at this very device from an instant on.
  func isRecorded(_ device: Identifier, from: Int64) -> Bool { (screens?.phones[device]?.last ?? .min) >= from }

  /// Returns the number of looks a day that the model draws for a device.
  private func drawnPerDay(_ device: Identifier) -> Double {
    var random = model.random("looks", device)
    let least = DeviceModel.looksPerDayLeast.value
    return least + (DeviceModel.looksPerDayMost.value - least) * random.unit()
  }

  /// Draws the looks of one day by the view curve, µs after local midnight, rising.
  private func drawn(_ device: Identifier, _ random: inout SeededRandom) -> [Int64] {
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
