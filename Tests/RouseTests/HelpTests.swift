import Foundation
import Testing

@Suite("Help and wrong use")
struct HelpTests {
  @Test("every command has an abstract and a discussion with an example that calls it")
  func help() throws {
    let entries = try CommandTree.read()
    #expect(entries.count > 30, "the tree was not read")
    for entry in entries {
      let outcome = try Workplace().rouse(list: entry.path + ["--help"])
      #expect(outcome.status == 0)
      #expect(outcome.err == "")
      let calls = Self.examples(in: entry.command.discussion ?? "").filter { $0.contains(entry.title) }
      #expect(!calls.isEmpty, "\(outcome.out)")
      #expect(outcome.out.contains("\nEXAMPLE\n  "), "\(outcome.out)")
      #expect(!outcome.out.contains("\n\\"), "\(entry.title): an example was wrapped")
    }
  }

  @Test("every abstract is a sentence that begins with a verb")
  func abstracts() throws {
    for entry in try CommandTree.read() {
      let abstract = entry.command.abstract ?? ""
      #expect(isSentence(abstract), "\(entry.title): \(abstract)")
      let first = abstract.prefix { $0 != " " }
      #expect(
        !["A", "An", "The", "What", "How", "Who", "Which", "Why", "One", "That", "Of"].contains(first),
        "\(entry.title): \(abstract)")
    }
  }

  @Test("every argument, option and flag is described by a sentence")
  func arguments() throws {
    for entry in try CommandTree.read() {
      for argument in entry.command.arguments ?? [] {
        #expect(isSentence(argument.abstract ?? ""), "\(entry.title) \(argument.title): \(argument.abstract ?? "")")
      }
    }
  }

  /// Whether a text begins with a capital letter or a name, and ends like a sentence or with an addition in parentheses.
  private func isSentence(_ text: String) -> Bool {
    guard let first = text.first, let last = text.last, text.count > 8 else { return false }
    return (first.isUppercase || first.isNumber || first == "-") && (last == "." || last == ")" || last == "…")
  }

  @Test("examples use commands and options that exist")
  func examples() throws {
    let entries = try CommandTree.read()
    for entry in entries {
      for example in Self.examples(in: entry.command.discussion ?? "") {
        let words = example.split(separator: " ").map(String.init).drop { $0 != "rouse" }
        let called = entries.filter { words.dropFirst().starts(with: $0.path) }.max { $0.path.count < $1.path.count }
        let known = Set((called?.command.arguments ?? []).map(\.title))
        #expect(called.map { !$0.path.isEmpty } == true, "\(entry.title): \(example)")
        for word in words where word.hasPrefix("--") {
          let option = String(word.prefix { $0 != "=" })
          #expect(known.contains(option), "\(entry.title): \(example): no option \(option)")
        }
      }
    }
  }

  /// Returns the command lines under the heading EXAMPLE, each on one line.
  private static func examples(in discussion: String) -> [String] {
    guard let heading = discussion.range(of: "EXAMPLE\n") else { return [] }
    let block = discussion[heading.upperBound...].components(separatedBy: "\n\n")[0]
    return block.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test("the version is one line on standard output")
  func version() throws {
    let outcome = try Workplace().rouse("--version")
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    #expect(outcome.lines.first?.split(separator: ".").count == 3)
  }

  @Test(
    "wrong use exits 2 and says what was wrong, on standard error",
    arguments: [
      (["nonsense"], "unexpected argument 'nonsense'"),
      (["plan"], "missing expected argument '--policy <file>'"),
      (["x\ncritical: forged"], "x\\u{a}critical: forged"),
      (
        ["plan", "--policy", "p", "--devices", "d", "--events", "e", "--as-run", "--register-activities"],
        "--as-run plans what the topics hold, so it takes no --register-activities"
      ),
      (["plan", "--policy", "-", "--devices", "-", "--events", "e"], "only one input can be - (standard input)"),
      (
        ["fleet", "--events", "-", "--devices", "1", "--out", "o", "--template", "-"],
        "only one input can be - (standard input)"
      ),
      (["verify", "--decisions", "-", "--commands", "c", "--policy", "-"], "only one input can be - (standard input)"),
      (
        ["plan", "--policy", "p", "--devices", "d", "--events", "e", "--decisions", "-", "--commands", "-"],
        "only one output can be - (standard output)"
      ),
      (["policy", "profiles", "--formt", "json"], "unknown option '--formt'"),
      (["fleet", "--events", "e", "--devices", "many", "--out", "-"], "the value 'many' is invalid"),
      (["fleet", "--events", "e", "--devices", "1", "--out", "-", "--kinds", "X"], "expected Kind=prefix/"),
      (["audit", "top", "--by", "size", "--store", "s"], "the value 'size' is invalid"),
      (["audit", "device", "d", "--store", "s", "--from", "noon"], "expected an RFC 3339 date and time"),
      (["audit", "device", "d", "--store", "s", "--limit", "0"], "expected at least 1"),
      (["audit", "statement", "d", "--store", "s", "--utc-offset", "2"], "expected an offset to UTC such as +02:00"),
      (
        ["audit", "device", "d", "--store", "s", "--from", "2013-07-05T00:00:00Z", "--to", "2013-07-04T00:00:00Z"],
        "--from 2013-07-05T00:00:00Z is not before --to 2013-07-04T00:00:00Z"
      ),
      (["audit", "summary", "--store", "s", "--format", "xml"], "the value 'xml' is invalid"),
      (["bench", "planner", "--fan-out", "0"], "--fan-out: found 0"),
      (["bench", "pipeline", "--fan-out", "5", "--devices", "4"], "--fan-out: found 5, expected 1 to 4"),
      (["bench", "pipeline", "--mode", "passthrough"], "it copies what --mode transactional wrote; name both"),
      (["bench", "latency", "--property", "linger"], "--property: part 1 is not name=value"),
      (["bench", "restore", "--rounds", "0"], "--rounds: found 0, expected 1 to 100"),
      (["simulate"], "name at least one --policy"),
      (["simulate", "--strategies", "--tokens", "0"], "--tokens: found 0"),
      (
        ["simulate", "--policy", "p", "--devices", "d", "--events", "e", "--views-zone", "Mars"],
        "expected an IANA zone"
      ),
    ])
  func wrongUse(_ arguments: [String], _ message: String) throws {
    let outcome = try Workplace().rouse(list: arguments)
    #expect(outcome.status == 2)
    #expect(outcome.out == "")
    #expect(outcome.err.hasPrefix("rouse: "))
    #expect(outcome.err.contains(message), "\(outcome.err)")
  }

  @Test("a command that refuses its options while it runs points to its own help")
  func ownHelp() throws {
    let outcome = try Workplace().rouse("topics", "check", "--set", "foo.bar=1")
    #expect(outcome.status == 2)
    #expect(outcome.err.contains("foo.bar"))
    #expect(outcome.err.hasSuffix("\n  See 'rouse topics check --help' for more information.\n"), "\(outcome.err)")
  }
}
