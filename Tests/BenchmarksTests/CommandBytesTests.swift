import Testing

@testable import Benchmarks

@Suite("The moment in a command's bytes")
struct CommandBytesTests {
  @Test(
    "the newest due event of a command that was emitted at once counts",
    arguments: [
      (#"{"reason":"EMITTED","events":["bench-due-1500000-7"]}"#, 1.5),
      (#"{"reason":"EMITTED","events":["bench-due-1500000-7","bench-due-2500000-9","bench-due-2000000-8"]}"#, 2.5),
      (#"{"events":["bench-bench-due-3000000-1"],"reason":"EMITTED"}"#, 3),
      (#"{"reason":"EMITTED","events":["event-1"]}"#, nil),
      (#"{"reason":"EMITTED_AFTER_DEFER","events":["bench-due-1500000-7"]}"#, nil),
      (#"{"events":["bench-due-1500000-7"]}"#, nil),
      ("", nil),
    ])
  func newestDue(_ json: String, _ seconds: Double?) {
    #expect(CommandBytes.newestDue(in: Array(json.utf8).span) == seconds)
  }
}
