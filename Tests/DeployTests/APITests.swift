import Foundation
import Testing

@Suite(
  "Made-up requests",
  .enabled(
    if: Tool.hasPackage("schemathesis") && Tool("kcat") != nil,
    "needs the Python package schemathesis in .build/tools, and Debian's package kcat"))
struct APITests {
  // The script says what it checks.
  @Test("made-up requests to each operation of the gateway and the console get answers as the document declares them")
  func requests() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.run(["python3", "Tests/DeployTests/check-api.py", Tool.rouse, folder.path])
    #expect(result.status == 0, "\(result.words)")
  }
}
