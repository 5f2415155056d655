import Domain
import KafkaClient
import LineFiles

/// A property of librdkafka whose value is in a file: a mounted secret, or a credential of systemd.
///
/// No message repeats a byte of the file.
struct PropertyFile: Sendable, Equatable, CustomStringConvertible {
  /// The name of the property.
  let name: String
  /// The path as it was given.
  let path: String

  /// The most bytes of a value, far above those of any password, token or chain of certificates.
  /// - Beyond: the file is refused.
  static let bytesMax = 256 << 10
  /// The variable with which a path may begin. systemd sets it for a unit with `LoadCredential`.
  static let credentials = "CREDENTIALS_DIRECTORY"

  /// Names a property and its file.
  /// - Throws: ``SettingRefusal`` when librdkafka does not know the property, or the path is empty.
  init(name: String, path: String) throws(SettingRefusal) {
    self.name = name
    self.path = path
    if KafkaConfiguration.refusal(of: name, "") == .unknownName {
      throw KafkaProperty.unknownName(name)
    }
    guard !path.isEmpty else { throw SettingRefusal(words: "\(name): expected the path of a file") }
  }

  /// `name=path`.
  var description: String { "\(name)=\(path)" }

  /// Reads the property. A line feed at the end of the file is not a part of the value.
  /// - Parameter environment: the variables of the process.
  /// - Throws: ``SettingRefusal`` when the file cannot be read, or does not hold a value of the property.
  func property(_ environment: [String: String]) throws(SettingRefusal) -> KafkaProperty {
    let path = try expanded(environment)
    func refusal(_ words: String) -> SettingRefusal { SettingRefusal(words: "\(name): \(path): \(words)") }
    let bytes: [UInt8]
    do throws(LineFileError) { bytes = try WholeFile.bytes(path, bytesMax: Self.bytesMax) } catch {
      throw SettingRefusal(words: "\(name): \(error)")
    }
    guard var text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
      throw refusal("is not UTF-8 text without zero bytes; write the value into it as text")
    }
    if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
    if text.utf8.last == UInt8(ascii: "\r") { text.unicodeScalars.removeLast() }
    guard !text.isEmpty else { throw refusal("is empty; write the value into it") }
    do throws(SettingRefusal) {
      return try KafkaProperty(name: name, value: text)
    } catch {
      // The reason may repeat the value.
      throw refusal("librdkafka does not accept what the file holds as a value of this property")
    }
  }

  /// Returns the path with the folder of credentials in place of its variable.
  /// - Throws: ``SettingRefusal`` when the variable is not set.
  func expanded(_ environment: [String: String]) throws(SettingRefusal) -> String {
    for prefix in ["$\(Self.credentials)/", "${\(Self.credentials)}/"] where path.hasPrefix(prefix) {
      guard let folder = environment[Self.credentials], !folder.isEmpty else {
        throw SettingRefusal(
          words: "\(name): \(Self.credentials) is not set; systemd sets it for a unit with LoadCredential=")
      }
      return "\(folder)/\(path.dropFirst(prefix.count))"
    }
    return path
  }

  /// Reads names and paths separated by commas. A comma inside a path cannot be written here.
  /// - Throws: ``SettingRefusal`` with the number of the part that is no `name=path`.
  static func list(fromItems items: [String]) throws(SettingRefusal) -> [PropertyFile] {
    var files: [PropertyFile] = []
    for (index, item) in items.enumerated() {
      guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
        throw SettingRefusal(words: "part \(index + 1) is not name=path, such as sasl.password=/run/secrets/kafka")
      }
      do throws(SettingRefusal) {
        files.append(
          try PropertyFile(
            name: String(item[..<equals].drop { $0 == " " }), path: String(item[item.index(after: equals)...])))
      } catch {
        throw SettingRefusal(words: "part \(index + 1): \(error.words)")
      }
    }
    return files
  }
}
