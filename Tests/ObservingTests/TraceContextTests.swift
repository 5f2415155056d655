import Testing

@testable import Observing

@Suite("Trace contexts") struct TraceContextTests {
  private static let usual = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test("a traceparent is read and written")
  func read() throws {
    let context = try #require(TraceContext(traceparent: Self.usual))
    #expect(context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(context.spanID == "00f067aa0ba902b7")
    #expect(context.isSampled)
    #expect(context.traceparent == Self.usual)
  }

  /// The cases of W3C Trace Context, section 3.2.
  @Test(
    "texts that W3C calls invalid are none, and later versions are read as the present one",
    arguments: [
      (usual, true), ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
      ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff", true),
      ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
      ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
      ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more", false), (usual + "-more", false),
      ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
      ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
      ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
      ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
      ("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false), ("", false), ("00-4bf9", false),
    ])
  func validity(text: String, isValid: Bool) { #expect((TraceContext(traceparent: text) != nil) == isValid) }

  @Test("the flags say whether a trace is sampled, and other flags are ignored")
  func flags() {
    let sampled = ["00": false, "01": true, "02": false, "03": true, "ff": true]
    for (flags, isSampled) in sampled {
      #expect(TraceContext(traceparent: Self.usual.dropLast(2) + flags)?.isSampled == isSampled)
    }
  }
}
