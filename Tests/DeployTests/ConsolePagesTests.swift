import Foundation
import Testing

@Suite(
  "Pages of the console",
  .enabled(
    if: Tool("chromedriver") != nil && Tool("chromium") != nil && Tool("kcat") != nil
      && Tool.hasPackage("axe_core_python"),
    "needs Debian's packages chromium and chromium-driver, and the Python package axe-core-python in .build/tools"))
struct ConsolePagesTests {
  // The script says what it checks.
  @Test("a browser asks why in three clicks, applies a policy and replays a dead letter, and finds every page in order")
  func browsed() throws {
    let folder = try TemporaryFolder()
    let script = "Tests/DeployTests/check-console.py"
    let result = try Tool.run(["python3", script, Tool.rouse, folder.path])
    #expect(result.status == 0, "\(result.words)")
    // The picture of the page about the console is made here.
    guard ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_PAGES"] != nil, result.status == 0 else { return }
    let picture = Tool.repository.appending(path: "Sources/rouse/Documentation.docc/Resources/console.png")
    try Data(contentsOf: folder.url.appending(path: "overview.png")).write(to: picture)
  }
}
