import Foundation
import Yams

/// A settings file: YAML that nests the components of the keys. Every value is checked against its description, and a
/// wrong one is reported with line and column.
struct SettingsFile {
  let path: String
  private(set) var values: [SettingKey: SettingValue] = [:]

  /// Reads and checks a file.
  /// - Throws: ``Failure`` when it cannot be read, is no YAML, or holds an unknown key or a wrong value.
  init(path: String) throws(Failure) {
    guard Files.exists(path) else { throw Failure("\(path): there is no such file; name another with --config") }
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw Failure("\(path): cannot be read as UTF-8 text; name another with --config")
    }
    try self.init(path: path, yaml: text)
  }

  /// The character that replaces `*` while libyaml and Yams read, so that YAML aliases are not recognised: a few lines
  /// of them stand for a document of any size, and Yams compares keys by their content.
  private static let asterisk: Unicode.Scalar = "\u{E000}"

  /// Checks the text of a file.
  /// - Parameters:
  ///   - path: the path, for messages.
  ///   - yaml: the text.
  /// - Throws: ``Failure`` as ``init(path:)`` does.
  init(path: String, yaml: String) throws(Failure) {
    self.path = path
    let root: Node?
    guard !yaml.unicodeScalars.contains(Self.asterisk) else {
      throw Failure("\(path): the character U+E000 cannot be used in a settings file")
    }
    let disguised = String(String.UnicodeScalarView(yaml.unicodeScalars.map { $0 == "*" ? Self.asterisk : $0 }))
    do { root = try Yams.compose(yaml: disguised) } catch { throw Failure("\(path): not YAML: \(Self.words(error))") }
    if let root, !Self.isEmpty(root) { try read(root, prefix: []) }
  }

  /// The place and the kind of a YAML error. The error itself would quote the line, which may hold a password.
  private static func words(_ error: any Error) -> String {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
      .composer(_, let problem, let mark, _)?:
      "line \(mark.line), column \(mark.column): \(problem)"
    case .duplicatedKeysInMapping(let names, let context)?:
      "line \(context.mark.line): \(restored(names.sorted().joined(separator: ", "))): given more than once"
    default: "the text cannot be parsed"
    }
  }

  /// Whether a node is a null: nothing, `~` or `null`, without quotes.
  private static func isEmpty(_ node: Node) -> Bool {
    guard case .scalar(let scalar) = node, scalar.style == .plain || scalar.style == .any else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  private mutating func read(_ node: Node, prefix: [String]) throws(Failure) {
    guard let mapping = node.mapping else { throw failure(at: node, "expected a mapping of settings") }
    for (keyNode, value) in mapping {
      let path = prefix + [try key(keyNode)]
      let name = path.joined(separator: ".")
      if let setting = Setting.named(name) {
        // A key without a value leaves the default in force.
        guard !Self.isEmpty(value) else { continue }
        do throws(SettingRefusal) {
          values[setting.key] = try Self.value(of: value, setting.type)
        } catch {
          throw failure(at: value, "\(name): \(error.words)")
        }
        continue
      }
      guard SettingKey.allCases.contains(where: { $0.rawValue.hasPrefix(name + ".") }) else {
        throw failure(at: keyNode, Setting.unknown(name))
      }
      try read(value, prefix: path)
    }
  }

  private func key(_ node: Node) throws(Failure) -> String {
    guard case .scalar(let scalar) = node else { return "?" }
    do throws(SettingRefusal) { return try Self.text(scalar) } catch { throw failure(at: node, error.words) }
  }

  /// Returns the text of a scalar, as the file has it.
  /// - Throws: ``SettingRefusal`` for what YAML reads as an alias.
  private static func text(_ scalar: Node.Scalar) throws(SettingRefusal) -> String {
    guard scalar.style != .plain || scalar.string.unicodeScalars.first != asterisk else {
      throw SettingRefusal(
        words: "an unquoted * begins a YAML alias, which settings cannot use; write the value out, or quote the text")
    }
    return restored(scalar.string)
  }

  private static func restored(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == asterisk ? "*" : $0 }))
  }

  private func failure(at node: Node, _ words: String) -> Failure {
    Failure("\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1): \(words)")
  }

  private static func value(of node: Node, _ type: SettingType) throws(SettingRefusal) -> SettingValue {
    switch node {
    case .scalar(let scalar): return try type.value(scalar: text(scalar))
    case .sequence(let sequence):
      var items: [String] = []
      for item in sequence {
        guard case .scalar(let scalar) = item else {
          throw SettingRefusal(words: "expected \(type.expectation), found a nested list or mapping")
        }
        items.append(try text(scalar))
      }
      return try type.value(list: items)
    case .mapping(let mapping):
      switch type {
      case .properties:
        return .properties(
          try entries(mapping) { name, value throws(SettingRefusal) in try KafkaProperty(name: name, value: value) })
      case .propertyFiles:
        return .propertyFiles(
          try entries(mapping) { name, path throws(SettingRefusal) in try PropertyFile(name: name, path: path) })
      case .text, .texts, .number, .choice, .choices:
        throw SettingRefusal(words: "expected \(type.expectation), found a mapping")
      }
    case .alias: throw SettingRefusal(words: "expected \(type.expectation), found an alias")
    }
  }

  /// Reads elements from a mapping of full names, such as `sasl.password: "a,b"`.
  private static func entries<Element>(
    _ mapping: Node.Mapping, _ make: (String, String) throws(SettingRefusal) -> Element
  ) throws(SettingRefusal) -> [Element] {
    var elements: [Element] = []
    for (index, (key, value)) in mapping.enumerated() {
      guard case .scalar(let name) = key, case .scalar(let scalar) = value else {
        throw SettingRefusal(
          words: "entry \(index + 1): expected a property's full name and a text, such as sasl.username: rouse")
      }
      do throws(SettingRefusal) {
        elements.append(try make(text(name), text(scalar)))
      } catch {
        throw SettingRefusal(words: "entry \(index + 1): \(error.words)")
      }
    }
    return elements
  }
}
