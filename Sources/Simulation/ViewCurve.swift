import Domain
import JSON
import LineFiles
import Planning

/// When people look, from the screen events of some phones: for each local hour the share of days on which somebody looked
/// in that hour, relative to the best hour.
///
/// One line a screen event: `{"device": "p1", "time": "2017-03-01T05:34:31Z", "kind": "unlock"}`; kinds `screen-on`,
/// `screen-off`, `lock`, `unlock`. A home-screen widget is seen from an unlock on, so unlocks count; where a device has
/// none, `screen-on` does.
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

  private struct Phone {
    var first = Int64.max
    var last = Int64.min
    var unlocks: Set<Look> = []
    var wakes: Set<Look> = []
  }

  /// - Parameters:
  ///   - zone: IANA id of the time zone in which the hours are counted.
  public init(path: String, zone: String) throws {
    var local = LocalDays(zone: zone, anchorMinute: 0)
    var phones: [String: Phone] = [:]
    var reader = try LineReader(path: path)
    let json = JSONReader()
    while let line = try reader.next() {
      if line.isEmpty { continue }
      let place = "\(reader.path):\(reader.lineNumber)"
      let event: (device: String, time: Timestamp, kind: String)
      do throws(JSONError) {
        event = try json.read(Array(line)) { (node) throws(JSONError) in
          let text = try node.member("time", "a time").string()
          guard let time = Timestamp(rfc3339: text) else {
            throw JSONError(kind: .wrongValue, expected: "an RFC 3339 time", found: text)
          }
          return (
            try node.member("device", "a device").string(), time, try node.member("kind", "a kind").string()
          )
        }
      } catch { throw ViewCurveError(place: place, problem: "\(error)") }
      let look = Look(
        day: local.day(at: event.time.microseconds).index, hour: local.hour(at: event.time.microseconds))
      var phone = phones[event.device] ?? Phone()
      phone.first = min(phone.first, look.day)
      phone.last = max(phone.last, look.day)
      switch event.kind {
      case "unlock": phone.unlocks.insert(look)
      case "screen-on": phone.wakes.insert(look)
      case "screen-off", "lock": break
      default:
        throw ViewCurveError(
          place: place,
          problem: "found kind \"\(event.kind)\", expected screen-on, screen-off, lock or unlock")
      }
      phones[event.device] = phone
    }
    var looks = [Int](repeating: 0, count: 24)
    for phone in phones.values {
      for look in phone.unlocks.isEmpty ? phone.wakes : phone.unlocks { looks[look.hour] += 1 }
    }
    guard let most = looks.max(), most > 0 else {
      throw ViewCurveError(place: reader.path, problem: "nobody looked: expected at least one unlock or screen-on")
    }
    hourly = looks.map { Double($0) / Double(most) }
    devices = phones.count
    days = phones.values.reduce(0) { $0 + Int($1.last - $1.first + 1) }
  }
}

/// Why a file of screen events cannot be used.
public struct ViewCurveError: Error, CustomStringConvertible {
  var place: String
  var problem: String
  public var description: String { "\(place): \(problem)" }
}
