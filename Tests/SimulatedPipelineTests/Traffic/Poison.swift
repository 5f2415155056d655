import Domain
import KafkaClient

/// A record of a public topic that intake must refuse. Each kind once stopped a pipeline, or could.
enum Poison: String, CaseIterable {
  case notJSON, noValue, empty, notUTF8, lacksFields, tooDeep, tooLarge
  case keyTooLarge, headersTooLarge
  case idTooLong, timeFarAhead, timeBefore1970, timeOfNoCalendar
  case deviceOfAnotherKey, zoneOfNoMap, tooManyInterests, tombstoneOfNoDevice
  case signalOfNoKind, signalOfTwoDevices

  /// A record of this kind.
  struct Record {
    var topic = "events"
    var key: [UInt8]
    var value: [UInt8]?
    var headers: [KafkaHeader] = []
  }

  /// Makes a record.
  /// - Parameter key: a key that no other record has, because compaction removes records of one key.
  func record(key: String) -> Record {
    let key = Array(key.utf8)
    func of(_ text: String, _ topic: String = "events") -> Record {
      Record(topic: topic, key: key, value: Array(text.utf8))
    }
    switch self {
    case .notJSON: return of("not json", "signals")
    case .noValue: return Record(key: key, value: nil)
    case .empty: return of("", "devices")
    case .notUTF8: return Record(key: key, value: [0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])
    case .lacksFields: return of(#"{"specversion":"1.0","id":"x"}"#, "devices")
    case .tooDeep:
      return of(event(data: String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)))
    case .tooLarge: return of(event(data: "\"" + String(repeating: "x", count: DomainBounds.recordBytesMax) + "\""))
    case .keyTooLarge:
      return Record(key: key + Array(repeating: 0x78, count: DomainBounds.keyBytesMax), value: Array(event().utf8))
    case .headersTooLarge:
      let header = KafkaHeader("trace", Array(repeating: 0x78, count: DomainBounds.headersBytesMax))
      return Record(key: key, value: Array(event().utf8), headers: [header])
    case .idTooLong: return of(event(id: String(repeating: "e\u{301}", count: 100)))
    case .timeFarAhead: return of(event(time: "9999-12-31T23:59:59.999999Z"))
    case .timeBefore1970: return of(event(time: "0000-01-01T00:00:00Z"))
    case .timeOfNoCalendar: return of(device(key, updatedAt: "2026-02-30T00:00:00Z"), "devices")
    case .deviceOfAnotherKey: return of(device(Array("another".utf8)), "devices")
    case .zoneOfNoMap: return of(device(key, zone: "Mars/Base"), "devices")
    case .tooManyInterests:
      return of(device(key, interests: (0..<100).map { "\"k\($0)\"" }.joined(separator: ",")), "devices")
    case .tombstoneOfNoDevice:
      return Record(topic: "devices", key: key + Array(repeating: 0x78, count: DomainBounds.nameBytesMax), value: nil)
    case .signalOfNoKind: return of(signal("app.exploded", of: "d1"), "signals")
    case .signalOfTwoDevices: return of(signal("app.foregrounded", of: "another"), "signals")
    }
  }

  private func event(id: String = "poison", time: String = "2026-07-01T12:00:00Z", data: String = "{}") -> String {
    #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"flight.delay.changed","subject":"\#(Traffic.flights[0])","#
      + #""time":"\#(time)","data":\#(data)}"#
  }

  private func device(
    _ id: [UInt8], zone: String = "GMT", interests: String = "", updatedAt: String = "2026-07-01T12:00:00Z"
  ) -> String {
    #"{"device":"\#(String(decoding: id, as: UTF8.self))","app":"a","environment":"production","platform":"iOS","#
      + #""osVersion":"26.0","timeZone":"\#(zone)","updatedAt":"\#(updatedAt)","#
      + #""widgets":[{"id":"w","kind":"K","interests":[\#(interests)]}]}"#
  }

  private func signal(_ type: String, of device: String) -> String {
    #"{"specversion":"1.0","id":"s","source":"/s","type":"rouse.signal.\#(type)","subject":"\#(device)"}"#
  }

  /// Values of the log that no release writes. A first byte from 2 to 8 would be a newer format, which waits for an upgrade.
  static let logValues: [[UInt8]?] = [
    nil, [], [0, 1, 2], [1, 0xee, 0xff], Array("{\"id\":1}".utf8), [9, 0], Array(repeating: 0xff, count: 100),
    // A registration and a device of as many bytes as a varint can say.
    [1, 2, 0] + Array(repeating: 0xff, count: 9) + [1], [1, 3, 0] + Array(repeating: 0xff, count: 8) + [0x7f],
    [1, 1] + Array(repeating: 0x78, count: 300_000),
  ]
}
