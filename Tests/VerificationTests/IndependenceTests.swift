import Foundation
import Testing

/// The compiler finds every module that is built, also one that a target does not depend on, so the imports are read.
@Suite("independence of the verifier")
struct IndependenceTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

  /// Returns the modules that the files of a module import.
  private func imports(of module: String) throws -> Set<String> {
    let folder = Self.sources.appendingPathComponent(module)
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var imports: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let place = words.prefix(3).firstIndex(of: "import"), place + 1 < words.count else { continue }
        imports.insert(String(words[place + 1]))
      }
    }
    return imports
  }

  @Test("the verifier imports neither a planner nor a database nor the audit store")
  func verification() throws {
    #expect(try imports(of: "Verification") == ["Domain", "Foundation", "JSON", "Policies"])
  }

  @Test("the audit store imports neither a planner nor the verifier")
  func auditing() throws {
    #expect(try imports(of: "Auditing") == ["Domain", "Foundation", "GRDB", "GRDBSQLite", "Glibc", "JSON"])
  }
}
