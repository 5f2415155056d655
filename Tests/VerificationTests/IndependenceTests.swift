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

  @Test("metrics know nothing of what they count, and the HTTP server nothing of what it serves")
  func observing() throws {
    #expect(
      try imports(of: "Observing") == [
        "CoreMetrics", "Foundation", "JSON", "ServiceContextModule", "Synchronization", "Tracing",
      ])
    #expect(
      try imports(of: "Serving") == [
        "Glibc", "JSON", "LineFiles", "Logging", "NIOCore", "NIOHPACK",
        "NIOHTTP1", "NIOHTTP2", "NIOPosix", "NIOSSL", "NIOTLS", "Synchronization",
      ])
    let server: Set = ["Serving", "NIOCore", "NIOHTTP1", "CoreMetrics"]
    #expect(try imports(of: "Pipeline").isDisjoint(with: server))
    #expect(try imports(of: "Operating").isDisjoint(with: server.union(["Pipeline", "Planning"])))
    #expect(try imports(of: "Installation").isDisjoint(with: server.union(["Pipeline", "Planning", "Policies"])))
  }

  @Test(
    "the gateway knows neither a database nor a planner, and the view of devices knows neither HTTP nor the gateway")
  func gateway() throws {
    #expect(
      try imports(of: "Gateway").isDisjoint(with: [
        "GRDB", "DeviceView", "Auditing", "Planning", "Policies", "Pipeline",
      ]))
    #expect(
      try imports(of: "DeviceView") == [
        "Domain", "Foundation", "GRDB", "KafkaClient", "Logging", "Observing", "Synchronization",
      ])
  }

  @Test("the library for apps needs Foundation alone")
  func client() throws {
    #expect(try imports(of: "RouseClient") == ["Foundation", "FoundationNetworking"])
  }

  @Test("the gateway imports neither a planner nor a database, the console no planner, and neither the other one")
  func gatewayAndConsole() throws {
    let forbidden: Set = ["Planning", "GRDB", "GRDBSQLite"]
    #expect(
      try imports(of: "Gateway").isDisjoint(with: forbidden.union(["Policies", "Pipeline", "Auditing", "Console"])))
    #expect(try imports(of: "Console").isDisjoint(with: forbidden.union(["Gateway", "Pipeline", "Backtesting"])))
    #expect(try imports(of: "Keys").isDisjoint(with: forbidden.union(["Gateway", "Console", "KafkaClient"])))
  }

  @Test("the audit store imports neither a planner nor the verifier")
  func auditing() throws {
    #expect(
      try imports(of: "Auditing") == ["Domain", "Foundation", "GRDB", "GRDBSQLite", "Glibc", "JSON", "Synchronization"])
  }
}
