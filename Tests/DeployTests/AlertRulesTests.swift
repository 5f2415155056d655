import Foundation
import Testing

@Suite("Alert rules", .enabled(if: Tool.promtool != nil, "\(Tool.reason)")) struct AlertRulesTests {
  /// Runs `promtool` in the folder of the rules.
  private func promtool(_ arguments: String...) throws -> (status: Int32?, words: String) {
    let folder = try TemporaryFolder()
    let files = try FileManager.default.contentsOfDirectory(
      at: Tool.observability, includingPropertiesForKeys: nil)
    for file in files {
      try FileManager.default.copyItem(at: file, to: folder.url.appending(path: file.lastPathComponent))
    }
    let program = try Program(try #require(Tool.promtool).path, arguments, in: folder.url)
    return (program.end(within: 1800), program.words)
  }

  @Test("promtool accepts the rules")
  func check() throws {
    let outcome = try promtool("check", "rules", "alerts.yaml")
    #expect(outcome.status == 0 && outcome.words.contains("rules found"), "\(outcome.words)")
  }

  @Test("each alert fires for the series that are odd, after its time, and not for the others")
  func fires() throws {
    let outcome = try promtool("test", "rules", "alerts.test.yaml")
    #expect(outcome.status == 0 && outcome.words.contains("SUCCESS"), "\(outcome.words)")
  }
}
