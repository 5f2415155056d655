import JSON
import Pipeline
import Testing

@Suite("The form of the log")
struct LogFormatTests {
  @Test("with log.format=json each line of a run that fails is an object, the last one says why")
  func failing() throws {
    // An address of no machine, so that the run fails at once.
    let arguments = ["run", "--set", "http.listen=203.0.113.1:1"]
    let place = try Workplace()
    let json = try place.rouse(list: arguments + ["--set", "log.format=json"])
    #expect(json.status == 1)
    #expect(json.out.isEmpty)
    let lines = try json.err.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let last = try #require(lines.last)
    #expect(last["level"] == .string("critical"))
    #expect(last["label"] == .string("rouse"))
    #expect(last["incident"] == .string(Incident.runFailed.rawValue))
    guard case .string(let reason)? = last["error"] else {
      Issue.record("no reason: \(json.err)")
      return
    }
    let text = try place.rouse(list: arguments)
    #expect(text.status == 1)
    #expect(text.err.hasSuffix("rouse: \(reason)\n"), "\(text.err)")
  }

  @Test("a form that there is not is refused")
  func unknown() throws {
    let outcome = try Workplace().rouse("run", "--set", "log.format=xml")
    #expect(outcome.status == 2)
    #expect(outcome.err.contains("log.format: expected one of text, json, found 'xml'"), "\(outcome.err)")
  }
}
