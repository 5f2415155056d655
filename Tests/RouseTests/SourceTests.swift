import Foundation
import Pipeline
import Testing

/// The source is named consistently, and what it refers to is there.
@Suite("Source")
struct SourceTests {
  /// Nested names that mean something together with the type around them only.
  private static let partialNames: Set<String> = [
    "Content", "Entry", "Flags", "Group", "Header", "Input", "Key", "Kind", "Line", "Name", "Operation", "Outcome",
    "Owner", "Part",
    "Progress", "Refusal", "Result", "Row", "State", "Step", "Tag", "Traits",
  ]

  private static let declared = Result { try SourceFile.all(below: "Sources").flatMap(\.types) }

  private static func types() throws -> [SourceFile.TypeDeclaration] { try declared.get() }

  @Test("no two types of the top level have one name, and none has a module's name")
  func topLevel() throws {
    let modules = try FileManager.default.contentsOfDirectory(
      atPath: DocumentationPage.root.appending(path: "Sources").path)
    var paths: [String: String] = Dictionary(uniqueKeysWithValues: modules.map { ($0, "the module") })
    let types = try Self.types().filter(\.owner.isEmpty)
    #expect(types.count > 300)
    for type in types {
      if let other = paths[type.name] { Issue.record("\(type.name): \(type.path) and \(other)") }
      paths[type.name] = type.path
    }
  }

  @Test("no nested type has the name of a module or of a type of the top level")
  func nested() throws {
    let types = try Self.types()
    let modules = try FileManager.default.contentsOfDirectory(
      atPath: DocumentationPage.root.appending(path: "Sources").path)
    let top = Set(types.filter(\.owner.isEmpty).map(\.name) + modules)
    for type in types where !type.owner.isEmpty && top.contains(type.name) {
      Issue.record("\(type.owner).\(type.name) in \(type.path)")
    }
  }

  @Test("no two nested types have one name, unless it is the part of a name")
  func nestedTwice() throws {
    let nested = Dictionary(grouping: try Self.types().filter { !$0.owner.isEmpty }, by: \.name)
    let repeated = nested.filter { $0.value.count > 1 && $0.key != "CodingKeys" }
    for (name, types) in repeated.sorted(by: { $0.key < $1.key }) where !Self.partialNames.contains(name) {
      Issue.record("\(name): \(types.map { "\($0.owner) in \($0.path)" }.sorted().joined(separator: ", "))")
    }
    for name in Self.partialNames.sorted() { #expect(repeated[name] != nil, "\(name) is needed once at most") }
  }

  @Test("only the types that escape their values write to a terminal or a log")
  func printing() throws {
    // `Output` and `Words` take `PrintableText`; `PrintableLogHandler` escapes messages and metadata.
    let writers = ["Output/Words.swift": "standardError", "Logging/PrintableLogHandler.swift": "StreamLogHandler"]
    let pattern =
      /\b(?:debugPrint|print|dump|fputs|puts|printf|fwrite|NSLog)\(|StreamLogHandler|FileHandle\.standard(?:Error|Output)/
    var found = 0
    for file in try SourceFile.all(below: "Sources") {
      for line in file.text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        // Methods of these names are called on `Output` or on a group of options, or declared.
        let calls = line.replacing(/(?:Output|audit)\.print\(|func print\(/, with: "")
        guard let match = calls.firstMatch(of: pattern) else { continue }
        found += 1
        let isWriter = writers.contains { file.path.hasSuffix($0.key) && calls.contains($0.value) }
        #expect(isWriter, "\(file.path) calls \(match.0): \(line)")
      }
    }
    #expect(found >= writers.count)
  }

  @Test("messages of the log are constant: values are metadata")
  func messages() throws {
    let call =
      #/
      \b [lL]og(?:ger)? \. (?: trace | debug | info | notice | warning | error | critical | log ) \(
      (?<arguments> [^"]* " (?: [^"\\] | \\. )* )
      /#
    var found = 0
    for file in try SourceFile.all(below: "Sources") {
      for match in file.text.matches(of: call) {
        found += 1
        #expect(!match.arguments.contains("\\("), "\(file.path): \(match.0)")
      }
    }
    #expect(found > 30)
  }

  @Test("critical and error lines are logged as an incident, which has an entry on the page about observability")
  func incidents() throws {
    var reported: Set<String> = []
    for file in try SourceFile.all(below: "Sources") {
      if let match = file.text.firstMatch(of: /[lL]og(?:ger)?\.(?:error|critical)\(/) {
        Issue.record("\(file.path): \(match.0)…): log an Incident with report()")
      }
      for match in file.text.matches(of: /level:[^,"]*\.(?:error|critical)\b/) {
        Issue.record("\(file.path): \(match.0): log an Incident with report()")
      }
      guard !file.path.contains("Logging/Incident") else { continue }
      for incident in Incident.allCases where file.text.contains(".\(incident.rawValue)") {
        reported.insert(incident.rawValue)
      }
    }
    #expect(reported == Set(Incident.allCases.map(\.rawValue)), "an incident that nothing logs")
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/Observability.md")
    for incident in Incident.allCases {
      #expect(page.lines.contains { $0.hasPrefix("| `\(incident.rawValue)` | \(incident.level): ") }, "\(incident)")
      for text in [incident.meaning, incident.loss, incident.advice] {
        #expect(text.hasSuffix("."), "\(incident): \(text)")
      }
    }
  }

  @Test("no doc comment begins with a clause that stands for a noun")
  func beginnings() throws {
    let field = "(?:- (?:Returns|Throws|Parameter \\w+): )?"
    let beginning = try Regex("^ *///? \(field)(?:What|How|Of|That)\\b")
    var found = 0
    for file in try SourceFile.all(below: "Sources") + SourceFile.all(below: "Tests") {
      var isInside = false
      for line in file.text.split(separator: "\n", omittingEmptySubsequences: false) {
        let isComment = line.drop { $0 == " " }.hasPrefix("///")
        defer { isInside = isComment }
        guard isComment, !isInside || line.contains("/// - ") else { continue }
        found += 1
        #expect(line.firstMatch(of: beginning) == nil, "\(file.path): \(line)")
      }
    }
    #expect(found > 5_000)
  }

  @Test("every chapter that a story, a test or a page refers to is there, and so is its step")
  func chapters() throws {
    let chapters = try Self.chapters()
    var found = 0
    for (path, text) in try Self.referring() where text.utf8.contains("§".utf8.first ?? 0) {
      for match in text.matches(of: /§(\d+)(?:\.(\d+))?/) {
        found += 1
        let steps = chapters[Int(match.1) ?? 0]
        #expect(steps != nil, "\(path): How it works has no chapter \(match.1)")
        if let steps, let step = match.2.flatMap({ Int($0) }) {
          #expect(step >= 1 && step <= steps, "\(path): chapter \(match.1) has no step \(step)")
        }
      }
    }
    #expect(found > 100)
  }

  @Test("every policy key that a story refers to is in the table of keys")
  func keys() throws {
    let rows = try DocumentationTables.rows("schema policy")
    let keys = rows.compactMap { $0.prefixMatch(of: /\| `([^`]+)`/).map { String($0.1) } }
    var found = 0
    for (path, text) in try Self.referring() where text.contains("policy key ") {
      for match in text.matches(of: /Formats, policy\s+key\s+([A-Za-z.]*[A-Za-z])/) {
        found += 1
        #expect(keys.contains { $0.hasSuffix(".\(match.1)") || $0 == match.1 }, "\(path): there is no key \(match.1)")
      }
    }
    #expect(found > 10)
  }

  /// The chapters of the page "How it works" by number, each with the number of its steps: rows of a table, or items of a list.
  private static func chapters() throws -> [Int: Int] {
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/HowItWorks.md")
    var chapters: [Int: Int] = [:]
    var chapter = 0
    for line in page.lines {
      if let match = line.prefixMatch(of: #/\#\# (\d+)\. /#) {
        chapter = Int(match.1) ?? 0
        chapters[chapter] = 0
      } else if let match = line.prefixMatch(of: #/(?:\| \d+\.)?(\d+)(?: \||\.) /#), let number = Int(match.1) {
        chapters[chapter] = max(chapters[chapter] ?? 0, number)
      }
    }
    return chapters
  }

  /// The texts that refer to chapters: stories, tests, code and pages.
  private static func referring() throws -> [(path: String, text: String)] {
    let corpus = "Tests/PlanningTests/Corpus"
    let root = DocumentationPage.root.appending(path: corpus)
    let stories = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".yaml") }
    let pages = DocumentationPage.paths + stories.map { "\(corpus)/\($0)" } + ["\(corpus)/README.md"]
    let texts = try pages.map { path in
      (path, try String(contentsOf: DocumentationPage.root.appending(path: path), encoding: .utf8))
    }
    let code = try (SourceFile.all(below: "Sources") + SourceFile.all(below: "Tests")).map { ($0.path, $0.text) }
    return texts + code
  }
}
