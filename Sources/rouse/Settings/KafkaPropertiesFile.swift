import Foundation

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
