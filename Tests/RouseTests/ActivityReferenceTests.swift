import Foundation
import Testing

/// Plans a fleet of Live Activities through a weekend of made-up matches, of whose events few carry the score and some come late, and compares
/// each push with the state of its match, which a script computes from the events alone.
@Suite("Live Activities of a weekend, computed twice")
struct ActivityReferenceTests {
  private static let reference = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Reference")

  @Test(
    "each push says what its match is, and each new token is answered within a second",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
  func weekend() throws {
    let place = try Workplace()
    let streams = Self.reference.appendingPathComponent("streams.py").path
    #expect(try Self.run(["/usr/bin/python3", "-B", streams, "weekend", "."], in: place).status == 0)
    let outcome = try Self.run(
      ["/bin/bash", Self.reference.appendingPathComponent("activities.sh").path, "weekend-events.jsonl"], in: place)
    #expect(outcome.status == 0 && outcome.out.contains("\nwrong     0 "), "\(outcome.out)")
    #expect(outcome.out.contains("'start': ") && outcome.out.contains("AWAITING_TOKEN"), "\(outcome.out)")
  }

  private static func run(_ command: [String], in place: Workplace) throws -> (status: Int32, out: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.currentDirectoryURL = place.folder
    process.environment = ProcessInfo.processInfo.environment.merging(["ROUSE": Workplace.program.path]) { $1 }
    try place.put("", "out.txt")
    let out = try FileHandle(forWritingTo: place.folder.appendingPathComponent("out.txt"))
    (process.standardOutput, process.standardError) = (out, out)
    try process.run()
    process.waitUntilExit()
    try out.close()
    return (process.terminationStatus, try place.lines("out.txt").joined(separator: "\n"))
  }
}
