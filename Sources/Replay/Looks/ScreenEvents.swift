package import Domain
import JSON
import LineFiles

/// The recorded screen events of some phones, from which the times of looks follow.
///
/// Each line of the file is one screen event: `{"device": "p1", "time": "2017-03-01T05:34:31Z", "kind": "unlock"}`. Kinds
/// are `screen-on`, `screen-off`, `lock`, `unlock` and `view`. A `view` is a look that was recorded as such. If a device has
/// none, an unlock counts as a look, because a widget on the home screen is visible from then on. If a device has no unlocks
/// either, `screen-on` counts.
public struct ScreenEvents: Equatable, Sendable {
  /// The record of one phone.
  package struct Phone: Equatable, Sendable {
    /// The looks, µs, rising.
    package var looks: [Int64] = []
    /// The time of the first event of any kind, µs.
    package var first = Int64.max
    /// The time of the last event of any kind, µs.
    package var last = Int64.min
  }

  /// The records by device id.
  package let phones: [Identifier: Phone]
  /// The IANA id of the time zone in which local hours are counted.
  package let zone: String
  /// The path of the file, for messages.
  package let path: String

  private struct Raw {
    var phone = Phone()
    var unlocks: [Int64] = []
    var wakes: [Int64] = []
  }

  /// Reads a file of screen events.
  /// - Parameters:
  ///   - path: The path of a `.jsonl` file, a `.jsonl.gz` file, or `-` for standard input.
  ///   - zone: The IANA id of the time zone in which local hours are counted.
  /// - Throws: `LineFileError` if the file cannot be read; `ScreenEventsError` if a line is wrong or there is no look.
  public init(path: String, zone: String) throws {
    var raw: [Identifier: Raw] = [:]
    var reader = try LineReader(path: path)
    let json = JSONReader()
    while let line = try reader.next() {
      if line.isEmpty { continue }
      let place = "\(reader.path):\(reader.lineNumber)"
      let event: (device: Identifier, time: Timestamp, kind: String)
      do throws(JSONError) { event = try Self.read(Array(line), with: json) } catch {
        throw ScreenEventsError(place: place, problem: "\(error)")
      }
      let time = event.time.microseconds
      raw[event.device, default: Raw()].phone.first = min(raw[event.device]?.phone.first ?? .max, time)
      raw[event.device, default: Raw()].phone.last = max(raw[event.device]?.phone.last ?? .min, time)
      switch event.kind {
      case "view": raw[event.device, default: Raw()].phone.looks.append(time)
      case "unlock": raw[event.device, default: Raw()].unlocks.append(time)
      case "screen-on": raw[event.device, default: Raw()].wakes.append(time)
      case "screen-off", "lock": break
      default:
        throw ScreenEventsError(
          place: place,
          problem: "found kind \"\(event.kind)\", expected screen-on, screen-off, lock, unlock or view")
      }
    }
    phones = raw.mapValues { raw in
      var phone = raw.phone
      if phone.looks.isEmpty { phone.looks = raw.unlocks.isEmpty ? raw.wakes : raw.unlocks }
      phone.looks.sort()
      return phone
    }
    self.zone = zone
    self.path = reader.path
    if !phones.values.contains(where: { !$0.looks.isEmpty }) {
      throw ScreenEventsError(place: reader.path, problem: "no look: expected at least one view, unlock or screen-on")
    }
  }

  private static func read(
    _ line: [UInt8], with json: JSONReader
  ) throws(JSONError) -> (device: Identifier, time: Timestamp, kind: String) {
    try json.read(line) { (node) throws(JSONError) in
      let text = try node.member("time", "a time").string()
      guard let time = Timestamp(rfc3339: text) else {
        throw JSONError(kind: .wrongValue, expected: "an RFC 3339 time", found: text)
      }
      return (
        Identifier(try node.member("device", "a device").string()), time, try node.member("kind", "a kind").string()
      )
    }
  }

  /// The view curve of all phones together.
  public var curve: ViewCurve { ViewCurve(phones.values, zone: zone) }

  /// Returns the view curve of one device; nil if the file has no looks at it.
  package func curve(of device: Identifier) -> ViewCurve? {
    guard let phone = phones[device], !phone.looks.isEmpty else { return nil }
    return ViewCurve([phone], zone: zone)
  }
}

/// The reason why a file of screen events cannot be used.
public struct ScreenEventsError: Error, CustomStringConvertible {
  /// The file, with the number of the line if one is wrong.
  var place: String
  /// The mistake, and what was expected instead.
  var problem: String
  /// The place and the problem, for people.
  public var description: String { "\(place): \(problem)" }
}

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
