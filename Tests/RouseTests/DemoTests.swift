import Foundation
import JSON
import Testing

@Suite("rouse demo") struct DemoTests {
  @Test("deploy/demo.sh refuses before the build what the command refuses after it")
  func script() throws {
    let deploy = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "deploy")
    func demo(_ arguments: [String]) throws -> (status: Int32, err: String) {
      let (process, errors) = (Process(), Pipe())
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["bash", deploy.appending(path: "demo.sh").path] + arguments
      (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
      try process.run()
      let text = try errors.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
    for arguments in [["--bogus"], ["--devices", "20", "extra"], ["--stay=1"], ["--keep"]] {
      let answer = try demo(arguments)
      #expect(answer.status == 2 && answer.err.hasPrefix("demo.sh: "), "\(arguments): \(answer)")
    }
    let script = try String(contentsOf: deploy.appending(path: "demo.sh"), encoding: .utf8)
    let line = try #require(script.split(separator: "\n").first { $0.hasPrefix("options='") })
    let known = Set(line.dropFirst("options='".count).dropLast().split(separator: " ").map(String.init))
    let help = try Workplace().rouse("demo", "--help")
    let usage = try #require(help.out.components(separatedBy: "OPTIONS:").first)
    let shown = usage.matches(of: /\[(--[a-z-]+)( <)?/).map { "\($0.1)" + ($0.2 == nil ? "" : "=") }
    #expect(Set(shown) == known, "\(usage)")
  }

  @Test("the console answers while the day is played, and afterwards with --stay, until a signal")
  func stay() throws {
    let demo = try RunningRouse(
      list: ["demo", "--devices", "20", "--partitions", "1", "--speed", "20000", "--stay"], in: Workplace(),
      address: #/http://[0-9.:]+(?=/\nmetrics)/#)
    let decisions: () throws -> JSONValue? = {
      try JSONValue(parsing: demo.page("/v1/summary"))["decisions"]
    }
    // Until the audit stage has made the store, the answer is 503.
    try soon("a decision") { (try? decisions()).flatMap { $0 == .number(0) ? nil : true } }
    #expect(try !demo.words.contains("the console stays"))
    try soon("the end of the day") { try demo.words.contains("the console stays") ? true : nil }
    #expect(try demo.words.contains("15,606 events of a day became"))
    #expect(try decisions() != .number(0))
    // The embedded broker does not tell how far planners are; those of the demo do.
    let lag = try soon("the end of the log") {
      let lag = try demo.page("/v1/lag")
      return lag.contains(#/"role":"planner","oldest":\d+,"next":\d+,"end":\d+,"waiting":0,/#) ? lag : nil
    }
    #expect(!lag.isEmpty)
    let health = try demo.page("/health")
    #expect(!health.contains("not known for") && !health.contains("Not known:"), "\(health)")
    #expect(try demo.end() == 0)
  }

  @Test("a speed that is none is refused")
  func speed() throws {
    let place = try Workplace()
    for speed in ["0", "-1", "1e9", "fast"] {
      #expect(try place.rouse("demo", "--speed", speed).status == 2, "\(speed)")
    }
  }
}
