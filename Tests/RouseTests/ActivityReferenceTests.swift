import Foundation
import Testing

/// Plans a fleet of Live Activities through a weekend of made-up matches, of whose events few carry the score and some come late, and compares
/// each push with the state of its match, which a script computes from the events alone.
@Suite("Live Activities of a weekend, computed twice")
struct ActivityReferenceTests {
  private static let reference = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Reference")
  private static let python = URL(fileURLWithPath: "/usr/bin/python3")

  @Test(
    "each push says what its match is, and each new token is answered within a second",
    .enabled(if: FileManager.default.isExecutableFile(atPath: python.path), "needs python3"))
  func weekend() throws {
    let place = try Workplace()
    let streams = Self.reference.appendingPathComponent("streams.py").path
    let made = try place.run(Self.python, ["-B", streams, "weekend", "."])
    #expect(made.status == 0, "\(made.err)")
    let outcome = try place.run(
      URL(fileURLWithPath: "/bin/bash"),
      [Self.reference.appendingPathComponent("activities.sh").path, "weekend-events.jsonl"],
      environment: ["ROUSE": Workplace.program.path])
    #expect(outcome.status == 0 && outcome.out.contains("\nwrong     0 "), "\(outcome.out) \(outcome.err)")
    #expect(outcome.out.contains("'start': ") && outcome.out.contains("AWAITING_TOKEN"), "\(outcome.out)")
  }
}
