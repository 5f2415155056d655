import Domain
import Foundation
import KafkaClient

/// A property of librdkafka, whose name librdkafka knows and whose value it accepts.
///
/// No message of this type repeats a name or a value that may be part of a password: a comma inside a password splits it
/// into parts, and a misspelt `sasl.password` is not recognised as a secret.
struct KafkaProperty: Sendable, Equatable, CustomStringConvertible {
  let name: String
  let value: String

  /// Creates a property.
  /// - Throws: ``SettingRefusal`` when librdkafka does not know the name or does not accept the value.
  init(name: String, value: String) throws(SettingRefusal) {
    self.name = name
    self.value = value
    switch KafkaConfiguration.refusal(of: name, value) {
    case nil: break
    case .unknownName: throw Self.unknownName(name)
    case .secretValue: throw SettingRefusal(words: "\(name): librdkafka does not accept the value")
    case .value(let reason): throw SettingRefusal(words: "\(name): \(reason)")
    }
  }

  /// Returns the refusal of a name that librdkafka does not know. It suggests a known name and never repeats the unknown one.
  static func unknownName(_ name: String) -> SettingRefusal {
    let near = NearestName.of(name, among: Self.frequentNames).map { "; did you mean \($0)?" } ?? ""
    return SettingRefusal(words: "librdkafka has no property of that name\(near)")
  }

  /// `name=value`, with `[secret]` for a secret value.
  var description: String { "\(name)=\(KafkaConfiguration.isSecret(name) ? "[secret]" : value)" }

  /// The names that are suggested for a misspelt one: those of security and of frequent tuning.
  private static let frequentNames = [
    "security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password",
    "sasl.oauthbearer.method", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.token.endpoint.url", "ssl.ca.location", "ssl.certificate.location", "ssl.key.location",
    "ssl.key.password", "ssl.keystore.location", "ssl.keystore.password", "enable.ssl.certificate.verification",
    "client.id", "client.rack", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
    "socket.timeout.ms", "partition.assignment.strategy", "fetch.wait.max.ms", "queued.max.messages.kbytes",
    "linger.ms", "compression.type", "message.max.bytes", "debug", "log_level",
  ]

  /// Reads properties separated by commas. A comma inside a value is written `\,`, a backslash before a comma `\\`.
  /// - Throws: ``SettingRefusal`` with the number of the part that is no property.
  static func list(fromText text: String) throws(SettingRefusal) -> [KafkaProperty] {
    var parts = [""]
    var isEscaped = false
    for character in text {
      switch character {
      case "," where !isEscaped: parts.append("")
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case ",", "\\": parts[parts.count - 1].append(character)
      default:
        // A backslash before any other character is kept as it is.
        if isEscaped { parts[parts.count - 1].append("\\") }
        parts[parts.count - 1].append(character)
      }
      isEscaped = false
    }
    if isEscaped { parts[parts.count - 1].append("\\") }
    return try list(fromItems: parts.filter { !$0.allSatisfy(\.isWhitespace) })
  }

  /// Reads properties from texts `name=value`.
  /// - Throws: ``SettingRefusal`` with the number of the text that is no property.
  static func list(fromItems items: [String]) throws(SettingRefusal) -> [KafkaProperty] {
    var properties: [KafkaProperty] = []
    for (index, item) in items.enumerated() {
      guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
        throw SettingRefusal(
          words: "part \(index + 1) is not name=value; write a comma inside a value as \\, or use a mapping in the "
            + "settings file")
      }
      do throws(SettingRefusal) {
        properties.append(
          try KafkaProperty(
            name: String(item[..<equals].drop { $0 == " " }), value: String(item[item.index(after: equals)...])))
      } catch {
        throw SettingRefusal(words: "part \(index + 1): \(error.words)")
      }
    }
    return properties
  }
}

/// A file with properties of librdkafka, one `name=value` a line, for what is secret: a mounted secret, or a credential of systemd.
///
/// Blanks around a name and a value do not count, and neither do empty lines and those that begin with `#`. No message repeats any text
/// of the file.
enum KafkaPropertiesFile {
  /// Reads a file.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The properties, in the order of the file.
  /// - Throws: ``SettingRefusal`` when the file cannot be read, or a line is no property.
  static func read(_ path: String) throws(SettingRefusal) -> [KafkaProperty] {
    guard Files.exists(path) else { throw SettingRefusal(words: "\(path): there is no such file") }
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw SettingRefusal(words: "\(path): cannot be read as UTF-8 text; is this user allowed to read it?")
    }
    var properties: [KafkaProperty] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = trimmed(line)
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
        throw SettingRefusal(words: "\(path):\(index + 1): expected name=value, or a comment that begins with #")
      }
      do throws(SettingRefusal) {
        properties.append(
          try KafkaProperty(
            name: String(trimmed(line[..<equals])), value: String(trimmed(line[line.index(after: equals)...]))))
      } catch {
        throw SettingRefusal(words: "\(path):\(index + 1): \(error.words)")
      }
    }
    return properties
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
