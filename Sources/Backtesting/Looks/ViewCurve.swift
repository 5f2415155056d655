/// When people look: for each local hour the share of days on which somebody looked in that hour, relative to the best
/// hour.
public struct ViewCurve: Equatable, Sendable {
  /// By local hour 0…23; the largest is 1.
  public let hourly: [Double]
  /// Phones and days that it rests on.
  public let devices: Int
  public let days: Int

  private struct Look: Hashable {
    var day: Int64
    var hour: Int
  }

  /// - Parameter phones: at least one of them has looked.
  init(_ phones: some Collection<ScreenEvents.Phone>, zone: String) {
    var local = LocalDays(zone: zone, anchorMinute: 0)
    var looks = [Int](repeating: 0, count: 24)
    var days: Int64 = 0
    for phone in phones {
      var seen: Set<Look> = []
      for look in phone.looks { seen.insert(Look(day: local.day(at: look).index, hour: local.hour(at: look))) }
      for look in seen { looks[look.hour] += 1 }
      if phone.first <= phone.last { days += local.day(at: phone.last).index - local.day(at: phone.first).index + 1 }
    }
    let most = Double(max(1, looks.max() ?? 0))
    hourly = looks.map { Double($0) / most }
    devices = phones.count
    self.days = Int(days)
  }
}
