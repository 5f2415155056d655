import Domain
import JSON

/// Compares the expected decisions and commands of a story with the actual ones. Only the members that the story
/// names are compared; lists must have equal elements.
struct CorpusMatcher {
  var clock: CorpusClock

  /// Returns the public form of a decision, with the version of its policy as `policy`.
  static func value(_ decision: Decision) -> JSONValue {
    parsed(decision).merged(with: .object([("policy", .string(decision.policy.version.text))]))
  }

  /// Returns the public form of a command, with the members of its request at the top. `body` is the payload as
  /// text, and `bytes`
  /// is its size.
  static func value(_ command: Command) -> JSONValue {
    let whole = parsed(command)
    let request = whole["apns"]?.members ?? []
    let members = whole.members.filter { !["apns", "policy"].contains($0.key) }
    return .object(
      members + request + [
        ("body", .string(command.apns.payload)), ("bytes", .number(Double(command.apns.payload.utf8.count))),
      ])
  }

  private static func parsed(_ record: some JSONCodable) -> JSONValue {
    (try? JSONValue(parsing: String(decoding: record.json(), as: UTF8.self))) ?? .null
  }

  static func text(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return writer.text
  }

  func compare(_ expected: [JSONValue], _ actual: [JSONValue], what: String) -> [String] {
    if expected.count != actual.count {
      return ["expected \(expected.count) \(what)s, found \(actual.count)"]
    }
    return zip(expected, actual).enumerated().flatMap { index, pair in
      differences(pair.0, pair.1, path: "\(what) \(index + 1)")
    }
  }

  func contains(_ expected: JSONValue, _ actual: [String], what: String) -> [String] {
    guard case .array(let texts) = expected, texts.count == actual.count else {
      return ["\(what)s: expected a list of \(actual.count), found \(actual)"]
    }
    return zip(texts, actual).compactMap { text, actual in
      if case .string(let part) = text, actual.contains(part) { return nil }
      return "\(what): expected \(Self.text(text)) in \(actual)"
    }
  }

  private func differences(_ expected: JSONValue, _ actual: JSONValue?, path: String) -> [String] {
    func differs() -> [String] {
      ["\(path): expected \(Self.text(expected)), found \(actual.map(Self.text) ?? "none")"]
    }
    guard let actual else { return expected == .null ? [] : differs() }
    switch (expected, actual) {
    case (.object(let members), .object):
      return members.flatMap { differences($0.value, actual[$0.key], path: "\(path), \($0.key)") }
    case (.array(let a), .array(let b)):
      if a.count != b.count { return differs() }
      return zip(a, b).enumerated().flatMap { differences($1.0, $1.1, path: "\(path)[\($0)]") }
    case (.string(let text), .object): return text == Self.short(actual) ? [] : differs()
    case (.string(let text), .number(let number)): return matches(text, number) ? [] : differs()
    case (.number(let a), .number(let b)): return abs(a - b) <= 1e-5 * max(1, abs(a)) ? [] : differs()
    case (.string(let text), .string(let other)):
      if text == other { return [] }
      if let instant = clock.instant(text), instant == Timestamp(rfc3339: other) { return [] }
      return differs()
    default: return expected == actual ? [] : differs()
    }
  }

  /// Returns whether a number is in a range such as `0.3..0.4`, or equals a story time in Unix seconds.
  private func matches(_ text: String, _ number: Double) -> Bool {
    if let instant = clock.instant(text) { return Double(instant.seconds) == number }
    let bounds = text.split(separator: "..").compactMap { Double($0) }
    // Public numbers are rounded, so a difference of a millionth is allowed.
    return bounds.count == 2 && number >= bounds[0] - 1e-6 && number <= bounds[1] + 1e-6
  }

  /// Returns the short form of a decision (`event instance reason`), of a served instance (`instance reason event
  /// …`), or of a charge
  /// (`ledger owner left`).
  private static func short(_ value: JSONValue) -> String {
    func part(_ key: String) -> String {
      switch value[key] {
      case .string(let text)?: text
      case .number(let number)?: String(Int(number))
      case .array(let list)?: list.map { if case .string(let text) = $0 { text } else { "?" } }.joined(separator: " ")
      default: "?"
      }
    }
    let keys =
      if value["ledger"] != nil {
        ["ledger", "owner", "left"]
      } else if value["decision"] != nil {
        ["event", "instance", "reason"]
      } else {
        ["instance", "reason", "events"]
      }
    return keys.map(part).filter { !$0.isEmpty }.joined(separator: " ")
  }
}
