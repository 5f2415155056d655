import Foundation

/// A page of the documentation: `README.md` or a page of the catalog. Comments in it say how its blocks are made:
///
/// ```
/// <!-- run -->                  before a block of shell commands: they run, in the order of the page, in one folder
/// <!-- run: exits 1 -->         the same, for commands that are shown to fail <!-- run: as NAME -->         the same;
/// an output anywhere on the page can name it <!-- run: until TEXT -->      they run again until they print TEXT: the
/// pipeline needs a moment <!-- run: behind until TEXT --> they go on running behind the blocks that follow, once they
/// have printed TEXT <!-- wait: TEXT -->           until the commands that go on running have printed TEXT <!-- not
/// run: REASON -->      nothing runs, but commands and options are checked <!-- output -->               before a block
/// of text: what the commands above printed <!-- output: of NAME, first 9, mask time speed -->  of other commands; only
/// the first lines; times and speeds may differ, masked in this order <!-- table: NAME -->          the lines up to
/// <!-- end --> are a table that `DocumentationTables` makes <!-- broker: topic=4 -->      a broker with this topic, of
/// 4 partitions, is reached as localhost:9092 <!-- after: OTHER.md -->      the page goes on where the other one ends:
/// same folder, same broker
/// ```
struct DocumentationPage: Sendable {
  /// Relative to the repository's root.
  let path: String
  let lines: [String]
  let parts: [Part]
  /// The broker's topics and their partitions; nil: the page needs none.
  let brokerTopics: [(name: String, partitions: Int)]?
  /// The path of the page that has to run before this one; nil: none.
  let predecessor: String?

  /// A place of the page that something makes or checks.
  enum Part: Sendable {
    case run(RunMode, name: String?, code: Range<Int>)
    case output(OutputOptions, text: Range<Int>)
    case table(String, rows: Range<Int>)
  }

  enum RunMode: Equatable, Sendable {
    case once(status: Int32)
    case until(String)
    case behind(String)
    case wait(String)
    case notRun
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let catalog = "Sources/rouse/Documentation.docc"

  /// The paths of all pages, README first.
  static let paths: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: catalog).path)) ?? []
    return ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
  }()

  /// Reads and parses a page.
  /// - Parameter path: relative to the repository's root.
  /// - Throws: when the file cannot be read or a comment in it is not understood.
  init(path: String) throws {
    self.path = path
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var parser = PageParser(path: path, lines: lines)
    parts = try parser.parse()
    brokerTopics = parser.brokerTopics
    predecessor = parser.predecessor
  }

  /// The page with other lines at some places.
  func replacing(_ changes: [(range: Range<Int>, lines: [String])]) -> String {
    var result = lines
    for change in changes.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      result.replaceSubrange(change.range, with: change.lines)
    }
    return result.joined(separator: "\n")
  }

  /// The blocks of commands, in their order.
  var runs: [(mode: RunMode, name: String?, code: Range<Int>)] {
    parts.compactMap { part in
      guard case .run(let mode, let name, let code) = part else { return nil }
      return (mode, name, code)
    }
  }

  /// The commands of all shell blocks, also of those that are not run.
  var shellBlocks: [String] {
    runs.map { lines[$0.code].joined(separator: "\n") }
  }

  /// The lines that are prose: outside of blocks and comments.
  var prose: [String] {
    var isInside = false
    return lines.filter { line in
      if line.hasPrefix("```") {
        isInside.toggle()
        return false
      }
      return !isInside && !line.hasPrefix("<!--")
    }
  }
}

/// The lines of an output that the page shows, and the parts of them that may differ.
struct OutputOptions: Sendable {
  /// The name of the commands that printed it; nil: the ones above.
  var name: String?
  var first: Int?
  var last: Int?
  var masks: [OutputMask] = []

  /// The output as the page shows it.
  func lines(of output: String) -> [String] {
    var lines = output.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
    while lines.last == "" { lines.removeLast() }
    while lines.first == "" { lines.removeFirst() }
    if let first, lines.count > first { lines = lines.prefix(first) + ["…"] }
    if let last, lines.count > last { lines = ["…"] + lines.suffix(last) }
    return lines
  }
}

/// A kind of text that differs from run to run.
enum OutputMask: String, CaseIterable, Sendable {
  /// RFC 3339 instants, with any offset.
  case time
  /// Numbers with a unit of time, memory or speed.
  case speed
  /// Ids of decisions and commands, offsets, APNs ids, and keys of the gateway.
  case ids
  /// Every number.
  case numbers
  /// The machine's name.
  case host
  /// The sentence about a limit without which a push would have been sent. It is missing while a token is worth nothing: in the
  /// last hours of a budget day, if tokens are left over.
  case limit

  func applied(to line: String) -> String {
    switch self {
    case .time: line.replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/#, with: "<time>")
    case .speed:
      line.replacing(#/[\d.,]+ ?(ms|s|min|h|MiB|bytes|transactions|state records)\b/#, with: "<figure>")
        .replacing(#/[\d,]+ [a-z]+/s/#, with: "<speed>")
    case .ids:
      line.replacing(#/\b[dc]-\d+-\d+-\d+/#, with: "<id>")
        .replacing(#/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#, with: "<uuid>")
        .replacing(#/\brouse_[0-9a-f]{64}\b/#, with: "<key>").replacing(#/\b[0-9a-f]{12}\b/#, with: "<key id>")
    case .numbers: line.replacing(#/\d[\d.,]*/#, with: "#").replacing(#/\s+/#, with: " ")
    case .host: line.replacing(#/instance=\S+/#, with: "instance=<host>")
    case .limit: line.contains("without this limit it would have been sent") ? "" : line
    }
  }
}

/// A mistake on a page, with its place.
struct PageError: Error, CustomStringConvertible {
  var description: String
}

/// Finds the marked blocks of a page.
private struct PageParser {
  let path: String
  let lines: [String]
  var brokerTopics: [(name: String, partitions: Int)]?
  var predecessor: String?
  private var index = 0

  init(path: String, lines: [String]) {
    self.path = path
    self.lines = lines
  }

  mutating func parse() throws -> [DocumentationPage.Part] {
    var parts: [DocumentationPage.Part] = []
    while index < lines.count {
      let line = lines[index]
      if let marker = line.wholeMatch(of: /<!-- ([a-z]+(?: run)?)(?:: (.*?))? -->/) {
        if let part = try part(String(marker.1), marker.2.map(String.init)) { parts.append(part) }
      } else if line.hasPrefix("```") {
        let language = line.dropFirst(3)
        guard language != "sh", language != "text" else {
          throw mistake("a block of \(language) needs a comment above that says how it is made")
        }
        _ = try fence()
      }
      index += 1
    }
    return parts
  }

  private mutating func part(_ name: String, _ argument: String?) throws -> DocumentationPage.Part? {
    switch name {
    case "run":
      let (name, rest) = nameFirst(argument)
      let mode = try mode(rest)
      index += 1
      return .run(mode, name: name, code: try fence("sh"))
    case "wait":
      guard let argument else { throw mistake("wait: say for what") }
      return .run(.wait(argument), name: nil, code: index..<index)
    case "not run":
      guard argument != nil else { throw mistake("not run: say why") }
      index += 1
      return .run(.notRun, name: nil, code: try fence("sh"))
    case "output":
      let options = try options(argument)
      index += 1
      return .output(options, text: try fence("text"))
    case "table":
      let start = index + 1
      while index < lines.count, lines[index] != "<!-- end -->" { index += 1 }
      guard index < lines.count, let argument else { throw mistake("a table needs a name, and <!-- end --> below") }
      return .table(argument, rows: start..<index)
    case "broker":
      brokerTopics = (argument ?? "").split(separator: ",").compactMap { topic in
        let words = topic.split(separator: "=")
        guard words.count == 2, let partitions = Int(words[1]) else { return nil }
        return (words[0].trimmingCharacters(in: .whitespaces), partitions)
      }
      return nil
    case "after":
      predecessor = argument.map { "\(DocumentationPage.catalog)/\($0)" }
      return nil
    default: throw mistake("unknown comment '\(name)'")
    }
  }

  /// The lines inside the block that begins at the index; moves the index to its end.
  private mutating func fence(_ language: String? = nil) throws -> Range<Int> {
    guard index < lines.count, lines[index].hasPrefix("```") else { throw mistake("a block has to follow the comment") }
    if let language, lines[index] != "```" + language { throw mistake("expected a block of \(language)") }
    let start = index + 1
    index = start
    while index < lines.count, lines[index] != "```" { index += 1 }
    guard index < lines.count else { throw mistake("the block has no end") }
    return start..<index
  }

  /// Splits `as NAME, REST`.
  private func nameFirst(_ argument: String?) -> (name: String?, rest: String?) {
    guard let argument, argument.hasPrefix("as ") else { return (nil, argument) }
    let halves = argument.dropFirst(3).split(separator: ", ", maxSplits: 1).map(String.init)
    return (halves.first, halves.count > 1 ? halves[1] : nil)
  }

  private func mode(_ argument: String?) throws -> DocumentationPage.RunMode {
    guard let argument else { return .once(status: 0) }
    if argument.hasPrefix("exits "), let status = Int32(argument.dropFirst(6)) { return .once(status: status) }
    if argument.hasPrefix("until ") { return .until(String(argument.dropFirst(6))) }
    if argument.hasPrefix("behind until ") { return .behind(String(argument.dropFirst(13))) }
    throw mistake("run: \(argument): not understood")
  }

  private func options(_ argument: String?) throws -> OutputOptions {
    var options = OutputOptions()
    for option in (argument ?? "").split(separator: ",") {
      let words = option.split(separator: " ").map(String.init)
      switch words.first {
      case "of": options.name = words.dropFirst().first
      case "first": options.first = words.dropFirst().first.flatMap { Int($0) }
      case "last": options.last = words.dropFirst().first.flatMap { Int($0) }
      case "mask":
        options.masks += try words.dropFirst().map { word in
          guard let mask = OutputMask(rawValue: word) else { throw mistake("unknown mask '\(word)'") }
          return mask
        }
      default: throw mistake("output: \(option): not understood")
      }
    }
    return options
  }

  private func mistake(_ text: String) -> PageError { PageError(description: "\(path):\(index + 1): \(text)") }
}
