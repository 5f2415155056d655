import Foundation
import Synchronization
import Testing

@testable import Serving

@Suite("The date of answers") struct HTTPDateClockTests {
  @Test("dates are those of a calendar, over leap days and ends of centuries")
  func dates() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    #expect(HTTPDateClock.text(of: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    for second in stride(from: 0, to: 8_000_000_000, by: 86_400 * 13 + 3_671) {
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(second)))
      #expect(HTTPDateClock.text(of: second) == expected)
    }
    for second in [68_169_599, 68_169_600, 951_782_399, 951_782_400, 951_868_800, 4_107_542_400] {
      #expect(HTTPDateClock.text(of: second) == formatter.string(from: Date(timeIntervalSince1970: Double(second))))
    }
  }

  @Test("the date follows the clock")
  func follows() {
    let second = Mutex(0)
    let clock = HTTPDateClock { second.withLock { $0 } }
    #expect(clock.text == "Thu, 01 Jan 1970 00:00:00 GMT" && clock.text == "Thu, 01 Jan 1970 00:00:00 GMT")
    second.withLock { $0 = 86_399 }
    #expect(clock.text == "Thu, 01 Jan 1970 23:59:59 GMT")
    #expect(abs(HTTPDateClock.systemSecond() - Int(Date().timeIntervalSince1970)) < 100)
  }
}
