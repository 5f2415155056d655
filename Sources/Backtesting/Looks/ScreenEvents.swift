import Domain
import JSON
import LineFiles
import Planning

/// The screen events of some phones: when their people looked.
///
/// One line a screen event: `{"device": "p1", "time": "2017-03-01T05:34:31Z", "kind": "unlock"}`; kinds `screen-on`,
/// `screen-off`, `lock`, `unlock`. A home-screen widget is seen from an unlock on, so unlocks count; where a device has
/// none, `screen-on` does.
public struct ScreenEvents: Equatable, Sendable {
  /// One phone's looks, µs, rising.
  struct Phone: Equatable, Sendable {
    var looks: [Int64] = []
    /// First and last event of any kind, µs.
    var first = Int64.max
    var last = Int64.min
  }

  /// By device.
  let phones: [String: Phone]
  /// Time zone in which local hours are counted.
  let zone: String
  let path: String

  private struct Raw {
    var phone = Phone()
    var wakes: [Int64] = []
  }

  /// - Parameter zone: IANA id of the time zone in which the hours are counted.
  public init(path: String, zone: String) throws {
    var raw: [String: Raw] = [:]
    var reader = try LineReader(path: path)
    let json = JSONReader()
    while let line = try reader.next() {
      if line.isEmpty { continue }
      let place = "\(reader.path):\(reader.lineNumber)"
      let event: (device: String, time: Timestamp, kind: String)
      do throws(JSONError) { event = try Self.read(Array(line), with: json) } catch {
        throw ScreenEventsError(place: place, problem: "\(error)")
      }
      let time = event.time.microseconds
      raw[event.device, default: Raw()].phone.first = min(raw[event.device]?.phone.first ?? .max, time)
      raw[event.device, default: Raw()].phone.last = max(raw[event.device]?.phone.last ?? .min, time)
      switch event.kind {
      case "unlock": raw[event.device, default: Raw()].phone.looks.append(time)
      case "screen-on": raw[event.device, default: Raw()].wakes.append(time)
      case "screen-off", "lock": break
      default:
        throw ScreenEventsError(
          place: place,
          problem: "found kind \"\(event.kind)\", expected screen-on, screen-off, lock or unlock")
      }
    }
    phones = raw.mapValues { raw in
      var phone = raw.phone
      if phone.looks.isEmpty { phone.looks = raw.wakes }
      phone.looks.sort()
      return phone
    }
    self.zone = zone
    self.path = reader.path
    if !phones.values.contains(where: { !$0.looks.isEmpty }) {
      throw ScreenEventsError(place: reader.path, problem: "nobody looked: expected at least one unlock or screen-on")
    }
  }

  private static func read(
    _ line: [UInt8], with json: JSONReader
  ) throws(JSONError) -> (device: String, time: Timestamp, kind: String) {
    try json.read(line) { (node) throws(JSONError) in
      let text = try node.member("time", "a time").string()
      guard let time = Timestamp(rfc3339: text) else {
        throw JSONError(kind: .wrongValue, expected: "an RFC 3339 time", found: text)
      }
      return (try node.member("device", "a device").string(), time, try node.member("kind", "a kind").string())
    }
  }

  /// Of all phones together.
  public var curve: ViewCurve { ViewCurve(phones.values, zone: zone) }

  /// Of one device; nil where the file does not know it, or it never looked.
  func curve(of device: String) -> ViewCurve? {
    guard let phone = phones[device], !phone.looks.isEmpty else { return nil }
    return ViewCurve([phone], zone: zone)
  }
}

/// Why a file of screen events cannot be used.
public struct ScreenEventsError: Error, CustomStringConvertible {
  var place: String
  var problem: String
  public var description: String { "\(place): \(problem)" }
}
