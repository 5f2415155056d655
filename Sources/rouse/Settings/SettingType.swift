/// The types of settings, each with the values that it allows.
enum SettingType: Sendable, Equatable {
  /// Any text. The empty text counts as no value.
  case text
  /// Texts: a sequence in the file, separated by commas elsewhere.
  case texts
  /// A whole number within bounds; `unit` is a plural noun such as `milliseconds`.
  case number(ClosedRange<Int>, unit: String)
  /// One of these words.
  case choice([String])
  /// At least one of these words: a sequence in the file, separated by commas elsewhere.
  case choices([String])
  /// Properties of librdkafka: a mapping or a sequence of `name=value` in the file, separated by commas elsewhere.
  case properties
  /// Properties of librdkafka whose values are in files, in the forms of `properties`, with a path for the value.
  case propertyFiles

  /// The name of the type in the machine-readable listing.
  var name: String {
    switch self {
    case .text: "text"
    case .texts: "list"
    case .number: "number"
    case .choice: "choice"
    case .choices: "choices"
    case .properties: "properties"
    case .propertyFiles: "propertyFiles"
    }
  }

  /// The possible values, for messages: `a whole number from 1 to 64`.
  var expectation: String {
    switch self {
    case .text: "a text"
    case .texts: "a list of texts"
    case .number(let bounds, _): "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
    case .choice(let words): "one of \(words.joined(separator: ", "))"
    case .choices(let words): "some of \(words.joined(separator: ", "))"
    case .properties: "a mapping of librdkafka's properties, or a list of name=value"
    case .propertyFiles: "a mapping of librdkafka's properties to the paths of files, or a list of name=path"
    }
  }
}
