import Domain
import KafkaClient
import Operating

extension DeadLetterRecord {
  /// Two lines for a list: place, time, reason and origin, then the message.
  var line: PrintableText {
    let replayed: PrintableText = replayedAt.map { "  replayed \(Timestamp(milliseconds: $0))" } ?? ""
    return "\(place)  \(time)  \(reason)  from \(origin.map { "\($0)" } ?? "nowhere")\(replayed)\n    \(text)"
  }

  /// The letter with its headers, key and value for people. Bytes that are no UTF-8 are shown as hexadecimal digits,
  /// and controls are escaped, so that a value stays on one line.
  var page: PrintableText {
    var page = line + "\n"
    func shown(_ bytes: [UInt8]?) -> String {
      guard let bytes else { return "none" }
      return String(validating: bytes, as: UTF8.self) ?? Self.hexadecimal(bytes).joined(separator: " ")
    }
    for header in message.headers { page += "\(header.name): \(shown(header.value))\n" }
    if let leftOutHeaders {
      page += "headers: \(Digits.grouped(leftOutHeaders)) more, too large for a letter; they are at the origin\n"
    }
    page += "key: \(shown(message.key))\n"
    if let cutKeyBytes {
      page += "the key had \(Digits.grouped(cutKeyBytes)) bytes, too large for a letter; they are at the origin\n"
    }
    if let leftOutBytes {
      page += "value: \(Digits.grouped(leftOutBytes)) bytes, too large for a letter; they are at the origin\n"
    } else {
      page += "value, \(Digits.grouped(message.value?.count ?? 0)) bytes:\n\(shown(message.value))\n"
    }
    return page
  }
}
