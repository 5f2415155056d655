import Domain
import JSON

extension Settings {
  /// A line for each setting: the key, the value and its origin. Secrets are not shown.
  var report: PrintableText {
    let width = (SettingKey.allCases.map(\.rawValue.count).max() ?? 0) + 2
    return values.map { value -> PrintableText in
      let key = value.setting.key.rawValue
      let padding = String(repeating: " ", count: width - key.count)
      return "\(key)\(padding)\(value.content?.shown ?? "-")  (\(value.origin))"
    }.joined(separator: "\n") + "\n"
  }

  /// An array with the description, the value and the origin of each setting. Secrets are not shown.
  var json: [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for value in values { value.write(to: &json) }
    json.endArray()
    return json.bytes
  }
}

extension Settings.Value {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("key", setting.key.rawValue)
    json.member("environment", setting.key.environmentName)
    if let option = setting.option {
      json.member("option", option)
    }
    json.member("type", setting.type.name)
    setting.type.writeBounds(to: &json)
    json.key("default")
    Self.write(setting.fallback, to: &json)
    if let words = setting.fallbackWords {
      json.member("defaultMeaning", words)
    }
    json.member("help", setting.help)
    json.key("value")
    Self.write(content, to: &json)
    json.member("origin", origin.description)
    json.endObject()
  }

  private static func write(_ value: SettingValue?, to json: inout JSONWriter) {
    switch value {
    case .text(let text)?: json.string(text)
    case .number(let number)?: json.integer(number)
    case .texts(let list)?: write(list, to: &json)
    case .properties(let list)?: write(list.map(\.description), to: &json)
    case .propertyFiles(let list)?: write(list.map(\.description), to: &json)
    case nil: json.null()
    }
  }

  private static func write(_ list: [String], to json: inout JSONWriter) {
    json.beginArray()
    for text in list { json.string(text) }
    json.endArray()
  }
}

extension SettingType {
  /// Writes the possible values as members of an open object: `minimum`, `maximum` and `unit`, or `choices`.
  fileprivate func writeBounds(to json: inout JSONWriter) {
    switch self {
    case .number(let bounds, let unit):
      json.member("minimum", bounds.lowerBound)
      json.member("maximum", bounds.upperBound)
      json.member("unit", unit)
    case .choice(let words), .choices(let words):
      json.list("choices", words)
    case .text, .texts, .properties, .propertyFiles: break
    }
  }
}
