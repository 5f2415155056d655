/// The value of a setting, of the type that its description names.
enum SettingValue: Sendable, Equatable {
  case text(String)
  case number(Int)
  case texts([String])
  case properties([KafkaProperty])
  case propertyFiles([PropertyFile])

  /// Whether the value is an empty text or list.
  var isEmpty: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .number: false
    case .texts(let list): list.isEmpty
    case .properties(let list): list.isEmpty
    case .propertyFiles(let list): list.isEmpty
    }
  }

  /// The value in the form that `--set` takes, secrets left out.
  var text: String { list(separator: ",") }

  /// The value for people, secrets left out; `-` for an empty list.
  var shown: String {
    switch self {
    case .texts(let list) where list.isEmpty: "-"
    case .properties(let list) where list.isEmpty: "-"
    case .propertyFiles(let list) where list.isEmpty: "-"
    case .text, .number, .texts, .properties, .propertyFiles: list(separator: ", ")
    }
  }

  private func list(separator: String) -> String {
    switch self {
    case .text(let text): text
    case .number(let number): String(number)
    case .texts(let list): list.joined(separator: separator)
    case .properties(let list): list.map(\.description).joined(separator: separator)
    case .propertyFiles(let list): list.map(\.description).joined(separator: separator)
    }
  }
}

/// The refusal of a value. Its message never repeats a secret.
struct SettingRefusal: Error, Equatable {
  /// The reason, without the setting's name.
  var words: String
}

extension SettingType {
  /// Reads a value from the environment or the command line.
  /// - Throws: ``SettingRefusal`` when the text is no value of this type.
  func value(from text: String) throws(SettingRefusal) -> SettingValue {
    switch self {
    case .text, .number, .choice: try value(scalar: text)
    case .texts, .choices, .propertyFiles: try value(list: Self.split(text))
    case .properties: .properties(try KafkaProperty.list(fromText: text))
    }
  }

  /// Reads a value from a scalar of the settings file.
  /// - Throws: ``SettingRefusal`` when the text is no value of this type, or when the type is a list.
  func value(scalar text: String) throws(SettingRefusal) -> SettingValue {
    switch self {
    case .text: return .text(text)
    case .number(let bounds, _):
      guard let number = Int(text), bounds.contains(number) else { throw refusal(of: text) }
      return .number(number)
    case .choice(let words):
      guard words.contains(text) else { throw refusal(of: text) }
      return .text(text)
    case .texts, .choices, .properties, .propertyFiles:
      throw SettingRefusal(words: "expected \(expectation), found a text")
    }
  }

  /// Reads a value from a sequence of texts.
  /// - Throws: ``SettingRefusal`` when the texts are no value of this type.
  func value(list: [String]) throws(SettingRefusal) -> SettingValue {
    switch self {
    case .texts: return .texts(list)
    case .choices(let words):
      if let wrong = list.first(where: { !words.contains($0) }) { throw refusal(of: wrong) }
      guard !list.isEmpty else { throw SettingRefusal(words: "expected \(expectation), found none") }
      return .texts(list)
    case .properties: return .properties(try KafkaProperty.list(fromItems: list))
    case .propertyFiles: return .propertyFiles(try PropertyFile.list(fromItems: list))
    case .text, .number, .choice: throw SettingRefusal(words: "expected \(expectation), found a list")
    }
  }

  private func refusal(of text: String) -> SettingRefusal {
    SettingRefusal(words: "expected \(expectation), found '\(text)'")
  }

  /// Splits at commas and drops the spaces around the parts; empty parts do not count.
  private static func split(_ text: String) -> [String] {
    text.split(separator: ",").map { part in
      let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
      return String(part.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }.filter { !$0.isEmpty }
  }
}
