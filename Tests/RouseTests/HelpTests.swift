import Testing

@Suite("Help and wrong use")
struct HelpTests {
  @Test(
    "every command explains itself with an example",
    arguments: [
      [], ["plan"], ["fleet"], ["policy"], ["policy", "check"], ["policy", "explain"], ["policy", "diff"],
      ["policy", "profiles"], ["audit"], ["audit", "device"], ["audit", "event"], ["audit", "why"], ["audit", "top"],
      ["audit", "statement"], ["audit", "zombies"], ["audit", "summary"], ["audit", "export"], ["bench"],
      ["bench", "planner"], ["dead-letters", "list"], ["dead-letters", "show"], ["dead-letters", "replay"],
      ["bench", "audit"], ["bench", "pipeline"], ["bench", "latency"], ["bench", "restore"], ["simulate"],
    ])
  func help(_ command: [String]) throws {
    let outcome = try Workplace().rouse(list: command + ["--help"])
    #expect(outcome.status == 0)
    #expect(outcome.err == "")
    let example = "EXAMPLE\n  " + (["rouse"] + command).joined(separator: " ")
    #expect(outcome.out.contains(example), "\(outcome.out)")
    #expect(!outcome.out.contains("\n\\"), "an example was wrapped")
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
      (["plan", "--policy", "-", "--devices", "-", "--events", "e"], "only one input can be - (standard input)"),
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
      (["audit", "summary", "--store", "s", "--format", "xml"], "the value 'xml' is invalid"),
      (["bench", "planner", "--fan-out", "0"], "--fan-out: found 0"),
      (["bench", "pipeline", "--fan-out", "5", "--devices", "4"], "--fan-out: found 5, expected 1 to 4"),
      (["bench", "pipeline", "--mode", "passthrough"], "it copies what --mode transactional wrote; name both"),
      (["bench", "latency", "--property", "linger"], "--property linger: expected name=value"),
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
}
