import Domain

/// The description of one setting of the long-running roles. The decoder, the help, `--print-config` and the reference
/// page are all made from it.
struct Setting: Sendable {
  let key: SettingKey
  let type: SettingType
  /// The value that holds when none is given; nil when there is none.
  let fallback: SettingValue?
  /// The behaviour without a value, in words; nil when there is a ``fallback``, or nothing to say.
  let fallbackWords: String?
  /// The command-line option for this setting, in addition to `--set`.
  let option: String?
  /// A phrase for the help, with a full stop.
  let help: String

  init(
    _ key: SettingKey, _ type: SettingType, _ fallback: SettingValue? = nil, without fallbackWords: String? = nil,
    option: String? = nil, _ help: String
  ) {
    self.key = key
    self.type = type
    self.fallback = fallback
    self.fallbackWords = fallbackWords
    self.option = option
    self.help = help
  }

  /// Returns the description of a key.
  static func of(_ key: SettingKey) -> Setting {
    guard let setting = all.first(where: { $0.key == key }) else {
      preconditionFailure("the setting \(key.rawValue) has no description")
    }
    return setting
  }

  /// Returns the setting with a name such as `kafka.bootstrapServers`; nil when there is none.
  static func named(_ name: String) -> Setting? { SettingKey(rawValue: name).map(of) }

  /// The names of all settings with their defaults, each followed by a line of help.
  static var list: String {
    all.map { setting in
      let shown = setting.fallback.map { $0.isEmpty ? "" : " = \($0.text)" } ?? ""
      return "  \(setting.key.rawValue)\(shown)\n    \(setting.help)"
    }.joined(separator: "\n")
  }

  /// Returns the message for a name that no setting has.
  /// - Parameters:
  ///   - name: the name that was given.
  ///   - known: the names that would have been possible.
  static func unknown(_ name: String, known: [String] = SettingKey.allCases.map(\.rawValue)) -> String {
    let near = NearestName.of(name, among: known).map { " did you mean \($0)?" } ?? ""
    return "\(name): unknown setting;\(near) known: \(known.joined(separator: ", "))"
  }
}
