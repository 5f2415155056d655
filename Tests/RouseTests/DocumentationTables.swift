import Console
import DeviceView
import Domain
import Foundation
import Gateway
import Installation
import JSON
import KafkaClient
import Keys
import Observing
import Operating
import Pipeline

@testable import rouse

/// The tables of the pages that are made from what the program and the schemas say of themselves.
enum DocumentationTables {
  /// The rows of a table, the head included.
  /// - Parameter name: `commands`, `settings`, `metrics`, `incidents`, `access`, `checks`, `findings`, `reasons`, `advice`, `bounds PATH` for the bounds of a module or file
  ///   below `Sources`, or `schema NAME` for the fields of `schemas/NAME.schema.json`.
  /// - Throws: when there is no such table, or the program or the schema cannot be read.
  static func rows(_ name: String) throws -> [String] {
    let words = name.split(separator: " ").map(String.init)
    switch words.first {
    case "commands": return try commands()
    case "settings": return try settings()
    case "metrics": return metrics()
    case "incidents": return incidents()
    case "access": return access()
    case "checks": return checks()
    case "findings": return findings()
    case "reasons": return reasons()
    case "advice": return advice()
    case "bounds" where words.count == 2: return try bounds(words[1])
    case "schema" where words.count == 2: return try schema(words[1])
    default: throw PageError(description: "there is no table named '\(name)'")
    }
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> [String] {
    ([head, head.map { $0.isEmpty ? "" : "---" }.map { $0.isEmpty ? "---" : $0 }] + rows).map { row in
      "| " + row.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
  }

  // MARK: Commands

  private static func commands() throws -> [String] {
    table(
      ["command", "purpose"],
      try ProgramCommand.program().leaves.map { ["`\($0.name)`", $0.abstract] })
  }

  // MARK: Reasons

  private static func reasons() -> [String] {
    table(
      ["code", "verdict", "meaning"],
      Reason.allCases.map { ["`\($0.rawValue)`", $0.verdict?.rawValue ?? "on commands only", $0.meaning] })
  }

  private static func advice() -> [String] {
    table(["code", "what to do"], Reason.allCases.map { ["`\($0.rawValue)`", $0.advice] })
  }

  // MARK: Metrics

  /// From the descriptions by which the program makes its metrics.
  private static func metrics() -> [String] {
    let registry = PipelineCounters().registry
    ProcessMetrics.add(to: registry)
    _ = GatewayMetrics(registry)
    _ = DeviceViewMetrics(registry)
    _ = ConsoleMetrics(registry)
    _ = TokenMetrics(registry)
    return table(
      ["metric", "type", "labels", "meaning", "when it looks odd"],
      registry.descriptions.map { metric in
        let labels = metric.labels.map { "`\($0.name)`: \($0.meaning)" }.joined(separator: "; ")
        let seriesMax = metric.seriesMax.formatted(.number.locale(Locale(identifier: "en_US")))
        let bound = metric.labels.isEmpty ? "" : ". At most \(seriesMax) series"
        return ["`\(metric.name)`", metric.kind.name, labels + bound, "\(metric.help).", metric.advice]
      })
  }

  // MARK: Log lines

  private static func incidents() -> [String] {
    table(
      ["incident", "level and message", "what happened", "what is lost", "what to do"],
      Incident.allCases.map { incident in
        [
          "`\(incident.rawValue)`", "\(incident.level): \(incident.message)", incident.meaning, incident.loss,
          incident.advice,
        ]
      })
  }

  // MARK: Access

  /// With the default names of topics and groups.
  private static func access() -> [String] {
    let settings = ClusterSettings(kafka: [:], eventTopics: ["events"])
    return table(
      ["role", "resource", "operations", "why"],
      AccessRole.allCases.flatMap { role in
        AccessTable(settings).rules(of: role).map { rule in
          let resource = rule.resource
          let name = resource.isPrefix ? "`\(resource.name)` (prefix)" : "`\(resource.name)`"
          return [
            "`\(role.rawValue)`", "\(resource.kind.rawValue) \(name)",
            rule.operations.sorted().map { "`\($0.rawValue)`" }.joined(separator: ", "), rule.purpose,
          ]
        }
      })
  }

  // MARK: rouse doctor

  private static func checks() -> [String] {
    table(
      ["check", "looks at", "codes"],
      DoctorCheck.all.map { check in
        let codes = check.codes.map { "[`\($0.rawValue)`](#\($0.rawValue.lowercased()))" }
        return ["`\(check.name)`", check.purpose, codes.joined(separator: ", ")]
      })
  }

  /// A section for each code, the most urgent first.
  private static func findings() -> [String] {
    FindingCode.allCases.flatMap { code in
      let words = code.meaning
      return [
        "### \(code.rawValue)", "",
        "\(words.title.prefix(1).uppercased())\(words.title.dropFirst()). Severity: \(words.worst.rawValue).",
        "", "- **Found when**: \(words.condition)", "- **Means**: \(words.meaning)",
        "- **Do**: \(code.advice("--config rouse.yaml"))", "",
      ]
    }.dropLast()
  }

  // MARK: Bounds

  private static func bounds(_ path: String) throws -> [String] {
    table(
      ["bound", "value", "beyond it", "in code"],
      try BoundsTable(path).bounds.map { [$0.meaning, $0.value, $0.beyond, "`\($0.name)`"] })
  }

  // MARK: Settings

  /// From the program's own words: keys with defaults and explanations in the help of `rouse run`.
  private static func settings() throws -> [String] {
    let help = try Workplace().rouse("run", "--help", environment: ["COLUMNS": "1000"]).lines
    guard let start = help.firstIndex(of: "SETTINGS") else {
      throw PageError(description: "rouse run --help has no section SETTINGS")
    }
    var rows: [[String]] = []
    for line in help[(start + 1)...].prefix(while: { $0.hasPrefix("  ") }) {
      if line.hasPrefix("    ") {
        guard var row = rows.popLast() else { continue }
        row[3] += (row[3].isEmpty ? "" : " ") + line.drop { $0 == " " }
        rows.append(row)
      } else {
        let words = line.dropFirst(2).split(separator: " = ", maxSplits: 1).map(String.init)
        rows.append(["`\(words[0])`", words.count > 1 ? "`\(words[1])`" : "", "`\(environmentName(words[0]))`", ""])
      }
    }
    let known = try Workplace().rouse("run", "--print-config").lines.compactMap { $0.split(separator: " ").first }
    guard rows.map(\.[0]) == known.map({ "`\($0)`" }) else {
      throw PageError(description: "rouse run --help and --print-config list different settings")
    }
    return table(["key", "default", "environment", "meaning"], rows)
  }

  /// `kafka.bootstrapServers` as `ROUSE_KAFKA_BOOTSTRAP_SERVERS`.
  private static func environmentName(_ key: String) -> String {
    key.reduce(into: "ROUSE_") { name, character in
      if character == "." {
        name += "_"
      } else {
        name += (character.isUppercase ? "_" : "") + character.uppercased()
      }
    }
  }

  // MARK: Schemas

  private static func schema(_ name: String) throws -> [String] {
    let url = DocumentationPage.root.appending(path: "schemas/\(name).schema.json")
    let document = try JSONValue(parsing: try String(contentsOf: url, encoding: .utf8))
    var walk = SchemaWalk(document: document)
    walk.members(of: document, path: "")
    return table(["field", "", "meaning"], walk.rows)
  }
}

/// Lists the fields that a JSON Schema describes, each with its path.
private struct SchemaWalk {
  let document: JSONValue
  private(set) var rows: [[String]] = []

  init(document: JSONValue) { self.document = document }

  mutating func members(of schema: JSONValue, path: String) {
    let schema = resolved(schema)
    if case .object(let properties) = schema["properties"] {
      for (name, value) in properties {
        let isRequired = schema["required"]?.strings.contains(name) == true
        member(value, path: path.isEmpty ? name : "\(path).\(name)", isRequired: isRequired)
      }
    }
    if let other = schema["additionalProperties"], case .object = other {
      member(other, path: "\(path).\(path.hasSuffix("kinds") ? "<kind>" : "<name>")", isRequired: false)
    }
  }

  private mutating func member(_ value: JSONValue, path: String, isRequired: Bool) {
    let schema = resolved(value)
    if schema["type"] == .string("null") { return }
    let standard = (value["default"] ?? schema["default"]).map { "`\($0.plain)`" }
    let meaning = (value["description"] ?? schema["description"])?.text ?? ""
    // Where another form is allowed too, the description names both.
    let names = value.forms.count > 1 ? nil : value["enum"] ?? schema["enum"]
    let choices = names?.strings.map { "`\($0)`" }.joined(separator: ", ")
    // Said once, above the tables.
    let words = meaning.replacing("Null counts as absent.", with: "").trimmingCharacters(in: .whitespaces)
    let text = [words, choices.map { "One of \($0)." }].compactMap { $0 }.filter { !$0.isEmpty }
    rows.append(["`\(path)`", isRequired ? "required" : standard ?? "", text.joined(separator: " ")])
    if let items = schema["items"] {
      members(of: items, path: path + "[]")
    } else {
      members(of: schema, path: path)
    }
  }

  /// The target of a reference, and the case of `anyOf` that is not null. Beside `properties`, `anyOf` is only a condition.
  private func resolved(_ schema: JSONValue) -> JSONValue {
    if case .string(let reference) = schema["$ref"], let name = reference.split(separator: "/").last {
      return document["$defs"]?[String(name)].map(resolved) ?? schema
    }
    return schema["properties"] == nil ? schema.forms.first.map(resolved) ?? schema : schema
  }
}

extension JSONValue {
  /// The cases of `anyOf` that are not null.
  fileprivate var forms: [JSONValue] {
    guard case .array(let cases) = self["anyOf"] else { return [] }
    return cases.filter { $0["type"] != .string("null") }
  }

  fileprivate var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  fileprivate var strings: [String] {
    guard case .array(let elements) = self else { return [] }
    return elements.compactMap(\.text)
  }

  fileprivate var plain: String {
    switch self {
    case .string(let text): text
    case .number(let number): number == number.rounded() ? String(Int(number)) : String(number)
    case .bool(let flag): String(flag)
    case .array(let elements): "[" + elements.map(\.plain).joined(separator: ", ") + "]"
    case .null, .object: "…"
    }
  }
}

/// The commands of the program with their options, as it prints them.
struct ProgramCommand: Sendable {
  let name: String
  let abstract: String
  let options: Set<String>
  let subcommands: [ProgramCommand]
  let isShown: Bool

  /// Asks the built program.
  /// - Throws: when it does not answer.
  static func program() throws -> ProgramCommand {
    let dump = try Workplace().rouse("--experimental-dump-help").out
    guard let command = try JSONValue(parsing: dump)["command"] else {
      throw PageError(description: "rouse does not tell its commands")
    }
    return ProgramCommand(command, prefix: "")
  }

  private init(_ value: JSONValue, prefix: String) {
    let name = prefix + (value["commandName"]?.text ?? "")
    self.name = name
    abstract = value["abstract"]?.text ?? ""
    isShown = value["shouldDisplay"] != .bool(false)
    var options: Set<String> = []
    if case .array(let arguments) = value["arguments"] {
      for argument in arguments {
        guard case .array(let names) = argument["names"] else { continue }
        for option in names {
          guard let text = option["name"]?.text else { continue }
          options.insert(option["kind"]?.text == "long" ? "--" + text : "-" + text)
        }
      }
    }
    self.options = options
    if case .array(let commands) = value["subcommands"] {
      subcommands = commands.map { ProgramCommand($0, prefix: name + " ") }.filter {
        $0.isShown && !$0.name.hasSuffix(" help")
      }
    } else {
      subcommands = []
    }
  }

  /// The commands that have no commands below them.
  var leaves: [ProgramCommand] { subcommands.isEmpty ? [self] : subcommands.flatMap(\.leaves) }

  /// The mistake in a command line that begins with `rouse`; nil if there is none.
  func problem(_ words: [String]) -> String? {
    guard let first = words.first else { return nil }
    if let command = subcommands.first(where: { $0.name == "\(name) \(first)" }) {
      return command.problem(Array(words.dropFirst()))
    }
    if !subcommands.isEmpty, !first.hasPrefix("-"), first != "…" { return "\(name) has no command '\(first)'" }
    for word in words where word.hasPrefix("-") && word != "-" && word.dropFirst().first?.isNumber != true {
      let option = String(word.prefix { $0 != "=" })
      if !options.contains(option) { return "\(name) has no option '\(option)'" }
    }
    return nil
  }
}
