import Domain
import Foundation
import JSON
import Pipeline
import Testing

/// The pages say what the program does: everything shown on them is made by running it, here and by `deploy/docs.sh`.
@Suite("Documentation")
struct DocumentationTests {
  /// Whether stale blocks are rewritten instead of reported. `deploy/docs.sh` sets it.
  private static let writes = ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_PAGES"] != nil
  /// Whether pages are written that differ in nothing but what is masked, too.
  private static let writesAll = ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_PAGES"] == "all"

  @Test("the pages show the program's output", arguments: sequences)
  func shown(paths: [String]) throws {
    let pages = try paths.map { try DocumentationPage(path: $0) }
    let outcomes = try DocumentationSession(pages).run()
    for (page, outcomes) in zip(pages, outcomes) { try check(page, outcomes) }
  }

  /// Pages that follow each other run together. A page that cannot be read fails alone. `ROUSE_TEST_PAGES=Kafka` runs only
  /// those with a page of such a name.
  private static let sequences: [[String]] = {
    let all = (try? DocumentationSession.sequences()) ?? DocumentationPage.paths.map { [$0] }
    guard let name = ProcessInfo.processInfo.environment["ROUSE_TEST_PAGES"] else { return all }
    return all.filter { $0.contains { $0.contains(name) } }
  }()

  private func check(_ page: DocumentationPage, _ outcomes: [DocumentationSession.BlockOutcome?]) throws {
    // A page with a stale output is written anew as a whole, so that its figures are of one run.
    var (outputs, isStale) = ([(range: Range<Int>, lines: [String])](), Self.writesAll)
    var named: [String: DocumentationSession.BlockOutcome] = [:]
    var blocks = zip(page.runs, outcomes).makeIterator()
    for ((mode, name, code), outcome) in zip(page.runs, outcomes) {
      guard let outcome else { continue }
      if let name { named[name] = outcome }
      let expected: Int32 = if case .once(let status) = mode { status } else { 0 }
      #expect(outcome.status == expected, "\(page.path):\(code.lowerBound): \(mode): \(outcome.output)")
    }
    var above: DocumentationSession.BlockOutcome?
    for part in page.parts {
      let (range, found, masks): (Range<Int>, [String], [OutputMask])
      switch part {
      case .run:
        above = blocks.next()?.1
        continue
      case .output(let options, let text):
        guard let outcome = options.name.map({ named[$0] }) ?? above, outcome.status >= 0 else {
          Issue.record("\(page.path):\(text.lowerBound): no commands have printed this")
          continue
        }
        (range, found, masks) = (text, options.lines(of: outcome.output), options.masks)
      case .table(let name, let rows):
        (range, found, masks) = (rows, [""] + (try DocumentationTables.rows(name)) + [""], [])
      }
      outputs.append((range, found))
      if let difference = difference(page.lines[range], found, masks) {
        report(page.path, range, difference)
        isStale = true
      }
    }
    if Self.writes, isStale {
      try page.replacing(outputs).write(
        to: DocumentationPage.root.appending(path: page.path), atomically: true, encoding: .utf8)
    }
  }

  private func report(_ path: String, _ place: Range<Int>, _ difference: String) {
    guard !Self.writes else { return }
    Issue.record("\(path):\(place.lowerBound + 1) is stale; deploy/docs.sh rewrites it:\n\(difference)")
  }

  /// The lines that differ, masks applied; nil: none.
  private func difference(_ shown: ArraySlice<String>, _ found: [String], _ masks: [OutputMask]) -> String? {
    let masked = [Array(shown), found].map { lines in
      lines.map { line in masks.reduce(line) { $1.applied(to: $0) } }
        .filter { !masks.contains(.limit) || !$0.isEmpty }
    }
    guard masked[0] != masked[1] else { return nil }
    return masked[1].difference(from: masked[0]).map { change in
      switch change {
      case .remove(let offset, let line, _): "- \(offset + 1): \(line)"
      case .insert(let offset, let line, _): "+ \(offset + 1): \(line)"
      }
    }.joined(separator: "\n")
  }

  @Test("links lead to files and headings that are there", arguments: DocumentationPage.paths + [schemaIndex])
  func links(path: String) throws {
    let page = try DocumentationPage(path: path)
    let folder = DocumentationPage.root.appending(path: path).deletingLastPathComponent()
    for line in page.prose {
      for match in line.matches(of: /\]\(([^)\s]+)\)/) {
        let link = String(match.1)
        if link.hasPrefix("http") { continue }
        let halves = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let target =
          halves[0].isEmpty ? DocumentationPage.root.appending(path: path) : folder.appending(path: halves[0])
        #expect(FileManager.default.fileExists(atPath: target.path), "\(path): \(link) leads nowhere")
        if halves.count == 2, let text = try? String(contentsOf: target, encoding: .utf8) {
          #expect(Self.anchors(text).contains(halves[1]), "\(path): \(link): there is no such heading")
        }
      }
    }
  }

  private static let schemaIndex = "schemas/README.md"

  @Test("the index of the schemas names each of them")
  func schemas() throws {
    let index = try DocumentationPage(path: Self.schemaIndex)
    let folder = DocumentationPage.root.appending(path: "schemas").path
    let schemas = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".schema.json") }
    #expect(schemas.count == index.lines.count { $0.hasPrefix("| [`") })
    for schema in schemas {
      #expect(index.lines.contains { $0.hasPrefix("| [`\(schema)`](\(schema)) |") }, "\(schema)")
    }
  }

  /// The anchors that Git hosts make of a page's headings.
  private static func anchors(_ text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
        heading.drop { $0 == "#" || $0 == " " }.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
          .replacing(" ", with: "-")
      })
  }

  @Test("every command that a page names has the subcommands and options that the program knows")
  func commands() throws {
    let program = try ProgramCommand.program()
    for path in DocumentationPage.paths {
      let page = try DocumentationPage(path: path)
      var lines = page.shellBlocks.flatMap(ShellWords.commands)
      for line in page.prose {
        lines += line.matches(of: /`([^`]+)`/).flatMap { ShellWords.commands(in: String($0.1)) }
      }
      for words in lines where words.first == "rouse" {
        let problem = program.problem(Array(words.dropFirst()))
        #expect(problem == nil, "\(path): \(words.joined(separator: " ")): \(problem ?? "")")
      }
    }
  }

  @Test("README is short, and every page is linked from it or from the first page of the catalog")
  func readme() throws {
    let readme = try DocumentationPage(path: "README.md")
    #expect(readme.lines.count <= 131, "a README is one or two screens; the rest belongs in the catalog")
    let index = try DocumentationPage(path: "\(DocumentationPage.catalog)/Rouse.md")
    let text = (readme.lines + index.lines).joined(separator: "\n")
    for path in DocumentationPage.paths.dropFirst() {
      let name = URL(filePath: path).lastPathComponent
      #expect(text.contains(name + ")") || name == "Rouse.md", "nothing leads to \(name)")
    }
  }

  @Test("the page about asking why has every code, in the order of the checks, with a verdict and what to do")
  func reasons() throws {
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/AskingWhy.md")
    let rows = page.lines.compactMap { $0.prefixMatch(of: /\| `([A-Z_]+)` \|/).map { String($0.1) } }
    let codes = Reason.allCases.map(\.rawValue)
    #expect(rows == codes + codes)
    let verdicts = page.lines.compactMap {
      $0.prefixMatch(of: /\| `[A-Z_]+` \| ([a-z ]+) \| [A-Z]/).map { String($0.1) }
    }
    #expect(verdicts.prefix(codes.count).allSatisfy { Verdict(rawValue: $0) != nil || $0 == "on commands only" })
  }

  @Test("the page on formats names every code of a dead letter", arguments: DomainError.Code.allCases)
  func deadLetters(_ code: DomainError.Code) throws {
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/Formats.md")
    #expect(page.prose.contains { $0.hasPrefix("| `") && $0.contains("`\(code.rawValue)`") })
  }

  @Test("the page on operation explains every count of the log", arguments: PipelineCounters.Counter.allCases)
  func counts(_ counter: PipelineCounters.Counter) throws {
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/RunningOnKafka.md")
    #expect(page.prose.contains { $0.hasPrefix("| ") && $0.contains("`\(counter)`") })
  }
}

extension DocumentationTests {
  @Test("every test that the page of guarantees names is there")
  func guarantees() throws {
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/Guarantees.md")
    let names = page.prose.filter { $0.hasPrefix("|") }.flatMap { row in
      row.matches(of: /"([^"]+)"/).map { String($0.1) }
    }
    #expect(names.count > 15)
    let sources = try Self.sources(below: "Tests")
    for name in names {
      #expect(sources.contains { $0.text.contains("\"\(name)\"") }, "there is no test named \"\(name)\"")
    }
  }

  @Test("every constant that bounds something says what happens beyond it, and rouse bounds prints it")
  func bounds() throws {
    // They bound nothing that comes from outside: sizes of texts that the program itself writes, shapes of tables, and steps
    // of what is learnt.
    let exempt: Set = [
      "decimalMax", "roundedMax", "varintMax", "textMax", "formatVersionMax", "prefetchMax", "countMax", "hoursMax",
      "windowsMax", "membersMax", "eventsMax", "gapMax", "timeoutMax", "examplesMax", "firstDeadLettersMax",
      "firstZombiesMax", "refusedPayloadsMax", "unknownPoliciesMax",
    ]
    let sources = DocumentationPage.root.appending(path: "Sources")
    var rows: [String] = []
    for module in try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
    where module != "Benchmarks" {
      var states = false
      for file in try BoundsTable.files(below: sources.appending(path: module)) {
        let text = try String(contentsOf: file, encoding: .utf8)
        states = states || text.contains("/// - Beyond:")
        let silent = try BoundsTable.silentBounds(in: text).filter { !exempt.contains($0) }
        #expect(silent.isEmpty, "\(file.lastPathComponent): say with '- Beyond:' what happens beyond \(silent)")
      }
      guard states else { continue }
      rows += try BoundsTable(module).bounds.map { bound in
        [module, bound.name, bound.value, bound.meaning, bound.beyond].joined(separator: "\t")
      }
    }
    let table = sources.appending(path: "rouse/Bounds/bounds.tsv")
    let expected = rows.map { $0 + "\n" }.joined()
    if Self.writes {
      try expected.write(to: table, atomically: true, encoding: .utf8)
    } else {
      #expect(
        try String(contentsOf: table, encoding: .utf8) == expected,
        "bounds.tsv is stale; deploy/docs.sh writes it again, and the next build compiles it in")
    }
  }

  @Test("rouse bounds prints every bound of the table, as text and as JSON, and of one module alone")
  func printedBounds() throws {
    // A table that is being written is compiled in by the next build.
    guard !Self.writes else { return }
    let table = DocumentationPage.root.appending(path: "Sources/rouse/Bounds/bounds.tsv")
    let rows = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").map {
      $0.split(separator: "\t").map(String.init)
    }
    try #require(rows.count > 200 && rows.allSatisfy { $0.count == 5 })
    let text = try Workplace().rouse("bounds").out
    for row in rows {
      #expect(text.contains("  \(row[1]) = \(row[2])\n    \(row[3])\n    beyond it: \(row[4])\n"), "\(row)")
    }
    guard case .array(let bounds) = try JSONValue(parsing: try Workplace().rouse("bounds", "--format", "json").out)
    else {
      Issue.record("no array")
      return
    }
    #expect(bounds.map { $0["name"] } == rows.map { .string($0[1]) })
    let ofOne = try Workplace().rouse("bounds", "Planning")
    #expect(ofOne.out.contains("  causesPerInstanceMax = 32\n") && !ofOne.out.contains("recordBytesMax"))
    let wrong = try Workplace().rouse("bounds", "Planing")
    #expect(wrong.status == 2 && wrong.err.contains("unknown module 'Planing'; did you mean Planning?"), "\(wrong.err)")
  }

  @Test("a file of Swift that a page names is there")
  func files() throws {
    let names = Set(try (Self.sources(below: "Tests") + Self.sources(below: "Sources")).map(\.name))
    for path in DocumentationPage.paths {
      for line in try DocumentationPage(path: path).prose {
        for match in line.matches(of: /`([A-Za-z+]+\.swift)`/) {
          #expect(names.contains(String(match.1)), "\(path): there is no \(match.1)")
        }
      }
    }
  }

  private static func sources(below folder: String) throws -> [(name: String, text: String)] {
    let root = DocumentationPage.root.appending(path: folder)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
    return try paths.map { path in
      let file = root.appending(path: path)
      return (file.lastPathComponent, try String(contentsOf: file, encoding: .utf8))
    }
  }
}

/// Splits shell text into its simple commands.
enum ShellWords {
  /// The words of each command, without assignments before it, redirections and quotes.
  static func commands(in text: String) -> [[String]] {
    var commands: [[String]] = [[]]
    var word = ""
    var quote: Character?
    var isComment = false
    func endWord() {
      if !word.isEmpty { commands[commands.count - 1].append(word) }
      word = ""
    }
    for character in text.replacing("\\\n", with: " ") {
      if isComment {
        if character == "\n" { isComment = false } else { continue }
      }
      if let open = quote {
        if character == open { quote = nil } else { word.append(character == "-" ? "–" : character) }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "#", word.isEmpty {
        isComment = true
      } else if "\n;|&()".contains(character) {
        endWord()
        commands.append([])
      } else if character == " " {
        endWord()
      } else {
        word.append(character)
      }
    }
    endWord()
    return commands.map { words in
      Array(words.drop { $0.contains("=") || ["do", "then", "if", "!", "{", "time"].contains($0) })
    }.filter { !$0.isEmpty }
  }
}
