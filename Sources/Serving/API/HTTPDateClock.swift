import Glibc
import Synchronization

/// The text of the header `Date`, made once a second. May be used from any thread.
final class HTTPDateClock: Sendable {
  private struct Made {
    var second: Int
    var text: String
  }

  private let made = Mutex(Made(second: .min, text: ""))
  private let now: @Sendable () -> Int

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Makes a clock.
  ///
  /// - Parameter now: Returns the seconds since 1970.
  init(now: @escaping @Sendable () -> Int = HTTPDateClock.systemSecond) { self.now = now }

  /// The time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  var text: String {
    let second = now()
    return made.withLock { made in
      if made.second != second { made = Made(second: second, text: Self.text(of: second)) }
      return made.text
    }
  }

  /// The seconds since 1970 by the clock of the system.
  @Sendable static func systemSecond() -> Int {
    var time = timespec()
    // POSIX: the pointer is lent for the call, which fills `time`.
    return unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 ? time.tv_sec : 0
  }

  /// Returns the text of a time from 1970 on.
  static func text(of second: Int) -> String {
    let (day, rest) = max(0, second).quotientAndRemainder(dividingBy: 86_400)
    let (year, month, dayOfMonth) = civil(day)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    let years = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
    return "\(days[day % 7]), \(two(dayOfMonth)) \(months[month - 1]) \(years) \(time) GMT"
  }

  /// Returns the date of a number of days since 1970, by shifting the start of the year to March:
  /// https://howardhinnant.github.io/date_algorithms.html#civil_from_days
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}
