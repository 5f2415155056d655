/// The chance of a look by local hour: the share of days with a look in that hour, relative to the hour with the most.
public struct ViewCurve: Equatable, Sendable {
  /// The values of the local hours 0…23; the largest is 1.
  public let hourly: [Double]
  /// The number of phones that the curve rests on.
  public let devices: Int
  /// The number of days of all phones that the curve rests on.
  public let days: Int

  private struct Look: Hashable {
    var day: Int64
    var hour: Int
  }

  /// Computes the curve of some phones.
  /// - Parameters:
  ///   - phones: The records of the phones, with at least one look.
  ///   - zone: The IANA id of the time zone in which local hours are counted.
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
