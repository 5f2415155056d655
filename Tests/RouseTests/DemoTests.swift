import Foundation
import JSON
import Testing

@Suite("rouse demo") struct DemoTests {
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
