import Domain
import Foundation
import JSON
import Policies
import Testing
import Yams

@testable import Planning

/// One file of the corpus: a story of records with the decisions that must follow. `Corpus/README.md` describes the
/// format.
struct CorpusCase: CustomTestStringConvertible, Sendable {
  /// The path below `Corpus` without the extension: `area/name`.
  let name: String
  let text: String

  var testDescription: String { name }

  static let directory = Bundle.module.resourceURL.map { $0.appending(path: "Corpus") }

  /// Every case, sorted by name.
  static let all: [CorpusCase] = {
    guard let directory, let files = FileManager.default.enumerator(atPath: directory.path) else { return [] }
    return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix("policies/") }.sorted()
      .compactMap { path in
        guard let text = try? String(contentsOf: directory.appending(path: path), encoding: .utf8) else { return nil }
        return CorpusCase(name: String(path.dropLast(".yaml".count)), text: text)
      }
  }()

  /// Returns the story in the file.
  /// - Throws: `CorpusMistake` for an unknown or missing key, and the parser's error for a file that is not YAML.
  func read() throws -> CorpusStory {
    let root = try JSONValue(yaml: text, file: name)
    try root.allow(["says", "because", "day", "partition", "demand", "policy", "steps"], in: name)
    guard case .string(let says)? = root["says"], case .string(let because)? = root["because"],
      case .array(let steps)? = root["steps"], !steps.isEmpty
    else { throw CorpusMistake("\(name): expected says, because and steps") }
    let day: String
    if case .string(let text)? = root["day"] { day = text } else { day = "2026-07-01" }
    var place = (number: Int32(0), of: Int32(1))
    if case .number(let number)? = root["partition"]?["number"], case .number(let of)? = root["partition"]?["of"] {
      place = (Int32(number), Int32(of))
    }
    return CorpusStory(
      says: says, because: because, clock: CorpusClock(day: day), partition: place,
      demand: try CorpusStory.demand(root["demand"]),
      policy: root["policy"] ?? .string("widgets"), steps: steps)
  }
}

/// The content of one file of the corpus.
struct CorpusStory {
  var says: String
  var because: String
  var clock: CorpusClock
  var partition: (number: Int32, of: Int32)
  var demand: DemandPrior
  var policy: JSONValue
  var steps: [JSONValue]

  /// Returns the demand that planners expect before they know anything: `none`, the default, makes tokens free; `high` makes them
  /// dearer than any reload is worth, for some minutes; `usual` is that of production. A mapping has its numbers.
  static func demand(_ value: JSONValue?) throws -> DemandPrior {
    switch value {
    case nil, .string("none")?: .none
    case .string("usual")?: .standard
    case .string("high")?: .high
    case .object?: try numbers(value)
    default: throw CorpusMistake("demand: expected none, usual or high")
    }
  }

  private static func numbers(_ value: JSONValue?) throws -> DemandPrior {
    guard case .number(let need)? = value?["need"], case .number(let worth)? = value?["worth"] else {
      throw CorpusMistake("demand: expected need and worth")
    }
    return DemandPrior(need: need, worth: worth, worthPerToken: .infinity)
  }

  /// Returns the policy of a story or of a `policy` step: the name of a document in `policies/`, a mapping with such a name
  /// as `base` and with changes, or a whole document as text.
  static func policy(_ value: JSONValue) throws -> PolicyDocument {
    switch value {
    case .string(let text) where text.contains("\n"): return try PolicyDocument(yaml: text, file: "policy")
    case .string(let name): return try document(try base(name), name)
    case .object(let members):
      guard case .string(let name)? = value["base"] else { throw CorpusMistake("policy: expected a base") }
      let changes = JSONValue.object(members.filter { $0.key != "base" })
      return try document(try base(name).merged(with: changes), name)
    default: throw CorpusMistake("policy: expected a name, a mapping with base, or a document")
    }
  }

  private static func document(_ tree: JSONValue, _ name: String) throws -> PolicyDocument {
    var writer = JSONWriter()
    writer.value(tree)
    // JSON is YAML.
    return try PolicyDocument(yaml: writer.text, file: name)
  }

  private static func base(_ name: String) throws -> JSONValue {
    guard let url = CorpusCase.directory?.appending(path: "policies/\(name).yaml"),
      let text = try? String(contentsOf: url, encoding: .utf8)
    else { throw CorpusMistake("policy: there is no policies/\(name).yaml") }
    return try JSONValue(yaml: text, file: name)
  }
}

/// Reads the times of a story: `12:00`, `12:00:30`, `+1d 04:00` (UTC, from the story's day), or RFC 3339.
struct CorpusClock {
  var day: String

  func instant(_ text: String) -> Timestamp? {
    var clock = Substring(text)
    var days: Int64 = 0
    if clock.first == "+", let end = clock.firstIndex(of: "d"), let count = Int64(clock[..<end].dropFirst()) {
      days = count
      clock = clock[end...].dropFirst().drop { $0 == " " }
    }
    let parts = clock.split(separator: ":")
    guard (2...3).contains(parts.count), parts[0].count == 2, parts[1].count == 2 else {
      return Timestamp(rfc3339: text)
    }
    let whole = parts.count == 2 ? "\(clock):00" : String(clock)
    return Timestamp(rfc3339: "\(day)T\(whole)Z").map { $0 + .hours(24 * days) }
  }
}

/// A mistake in a file of the corpus.
struct CorpusMistake: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension JSONValue {
  /// Reads a YAML document. A plain scalar that looks like a number, a boolean or null is one; any other scalar is a text.
  init(yaml: String, file: String) throws {
    guard let node = try Yams.compose(yaml: yaml) else { throw CorpusMistake("\(file): empty") }
    try self.init(node)
  }

  private init(_ node: Node) throws {
    switch node {
    case .scalar(let scalar): self = Self.scalar(scalar.string, plain: scalar.style == .plain || scalar.style == .any)
    case .sequence(let sequence): self = .array(try sequence.map { try JSONValue($0) })
    case .mapping(let mapping):
      self = .object(try mapping.map { (key: $0.key.string ?? "", value: try JSONValue($0.value)) })
    case .alias: throw CorpusMistake("YAML aliases are not read")
    }
  }

  private static func scalar(_ text: String, plain: Bool) -> JSONValue {
    guard plain else { return .string(text) }
    switch text {
    case "", "~", "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      guard let first = text.utf8.first, (48...57).contains(first) || first == 45, let number = Double(text) else {
        return .string(text)
      }
      return .number(number)
    }
  }

  /// Returns the value with changes. Objects are merged member by member, null removes a member, and other values
  /// are replaced.
  func merged(with changes: JSONValue) -> JSONValue {
    guard case .object(var members) = self, case .object(let new) = changes else { return changes }
    for (key, value) in new {
      let place = members.firstIndex { $0.key == key }
      switch (place, value) {
      case (let place?, .null): members.remove(at: place)
      case (let place?, _): members[place].value = members[place].value.merged(with: value)
      case (nil, .null): break
      case (nil, _): members.append((key, value))
      }
    }
    return .object(members)
  }

  /// The members of an object; empty for any other value.
  var members: [(key: String, value: JSONValue)] { if case .object(let members) = self { members } else { [] } }

  /// Checks the keys of an object.
  /// - Throws: `CorpusMistake` for a key that is not in `keys`.
  func allow(_ keys: Set<String>, in place: String) throws {
    for (key, _) in members where !keys.contains(key) {
      throw CorpusMistake("\(place): unknown key \(key); expected one of \(keys.sorted().joined(separator: ", "))")
    }
  }
}
