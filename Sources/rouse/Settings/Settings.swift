import ArgumentParser

/// Every setting with its value and the place where the value was given. An option of the command line takes precedence
/// over the environment, the environment over the file, and the file over the default.
struct Settings {
  /// A setting in force.
  struct Value {
    var setting: Setting
    /// The value; nil when there is none.
    var content: SettingValue?
    var origin: ValuePlace
  }

  /// The place where a value was given.
  enum ValuePlace: CustomStringConvertible, Equatable {
    case option
    case environment(variable: String)
    case file(path: String)
    case fallback

    /// `flag`, `environment ROUSE_…`, `file rouse.yaml` or `default`.
    var description: String {
      switch self {
      case .option: "flag"
      case .environment(let variable): "environment \(variable)"
      case .file(let path): "file \(path)"
      case .fallback: "default"
      }
    }
  }

  /// The settings in the order of ``SettingKey``.
  private(set) var values: [Value] = []

  /// Reads all settings and checks each of them.
  /// - Parameters:
  ///   - assignments: texts `key=value` from the command line; the last one of a key holds.
  ///   - environment: the variables of the process.
  ///   - file: the settings file; nil when there is none.
  /// - Throws: `ValidationError` for a wrong assignment, ``Failure`` for a wrong variable.
  init(assignments: [String], environment: [String: String], file: SettingsFile?) throws {
    var options: [SettingKey: SettingValue] = [:]
    for assignment in assignments {
      let (setting, text) = try Self.parse(assignment: assignment)
      do throws(SettingRefusal) {
        options[setting.key] = try setting.type.value(from: text)
      } catch {
        throw ValidationError("--set: \(setting.key.rawValue): \(error.words)")
      }
    }
    try Self.checkNames(environment)
    for setting in Setting.all {
      let key = setting.key
      if let value = options[key] {
        values.append(Value(setting: setting, content: value, origin: .option))
      } else if let value = try Self.value(of: setting, in: environment) {
        values.append(Value(setting: setting, content: value, origin: .environment(variable: key.environmentName)))
      } else if let file, let value = file.values[key] {
        values.append(Value(setting: setting, content: value, origin: .file(path: file.path)))
      } else {
        values.append(Value(setting: setting, content: setting.fallback, origin: .fallback))
      }
    }
  }

  private static func parse(assignment: String) throws -> (Setting, String) {
    guard let equals = assignment.firstIndex(of: "=") else {
      throw ValidationError("--set \(assignment): expected key=value")
    }
    let name = String(assignment[..<equals])
    guard let setting = Setting.named(name) else { throw ValidationError(Setting.unknown(name)) }
    return (setting, String(assignment[assignment.index(after: equals)...]))
  }

  private static func value(of setting: Setting, in environment: [String: String]) throws(Failure) -> SettingValue? {
    let variable = setting.key.environmentName
    guard let text = environment[variable] else { return nil }
    do throws(SettingRefusal) {
      return try setting.type.value(from: text)
    } catch {
      throw Failure("environment \(variable): \(setting.key.rawValue): \(error.words)")
    }
  }

  /// Refuses misspelt variables. Those that begin with `ROUSE_TEST_` belong to the tests of this program.
  private static func checkNames(_ environment: [String: String]) throws(Failure) {
    let known = SettingKey.allCases.map(\.environmentName)
    for name in environment.keys.sorted() where name.hasPrefix("ROUSE_") && !name.hasPrefix("ROUSE_TEST_") {
      guard known.contains(name) else {
        throw Failure("environment " + Setting.unknown(name, known: known.sorted()))
      }
    }
  }

  /// Returns a setting with its value and origin.
  subscript(_ key: SettingKey) -> Value {
    guard let value = values.first(where: { $0.setting.key == key }) else {
      preconditionFailure("the setting \(key.rawValue) has no description")
    }
    return value
  }

  /// Returns the text of a setting; nil when it has none, or an empty one.
  func text(_ key: SettingKey) -> String? {
    guard case .text(let text)? = self[key].content, !text.isEmpty else { return nil }
    return text
  }

  /// Returns the text of a setting that has a default; the default when the text is empty.
  func textOrDefault(_ key: SettingKey) -> String {
    guard let text = text(key) ?? self[key].setting.fallback?.text else {
      preconditionFailure("the setting \(key.rawValue) has no default")
    }
    return text
  }

  /// Returns the number of a setting that has a default.
  func numberOrDefault(_ key: SettingKey) -> Int {
    guard let number = number(key) else { preconditionFailure("the setting \(key.rawValue) has no default") }
    return number
  }

  /// Returns the elements of a setting whose value is a list of texts.
  func list(_ key: SettingKey) -> [String] {
    guard case .texts(let list)? = self[key].content else { return [] }
    return list
  }

  /// Returns the number of a setting; nil when it has none.
  func number(_ key: SettingKey) -> Int? {
    guard case .number(let number)? = self[key].content else { return nil }
    return number
  }

  /// Returns the librdkafka properties of a setting that holds them.
  func properties(_ key: SettingKey) -> [KafkaProperty] {
    guard case .properties(let properties)? = self[key].content else { return [] }
    return properties
  }

  /// Returns the files of a setting that holds properties of librdkafka.
  func propertyFiles(_ key: SettingKey) -> [PropertyFile] {
    guard case .propertyFiles(let files)? = self[key].content else { return [] }
    return files
  }

  /// Returns the choice of a setting; nil when it has none.
  func choice<Choice: RawRepresentable<String>>(_ key: SettingKey, of type: Choice.Type) -> Choice? {
    text(key).flatMap { Choice(rawValue: $0) }
  }

  /// Returns the error for a well-formed value that contradicts another one: wrong use when the value came from an option,
  /// otherwise a failure.
  func refusal(_ key: SettingKey, _ words: String) -> any Error {
    let text = "\(key.rawValue): \(words)"
    return self[key].origin == .option ? ValidationError(text) : Failure(text)
  }
}
