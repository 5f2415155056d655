import Foundation
import Testing

/// The library for apps, as a package of an app resolves and builds it.
@Suite("RouseClient as a package", .enabled(if: Tool("swift") != nil, "needs the Swift toolchain on the search path"))
struct ClientPackageTests {
  private static func page() throws -> [String] {
    let path = Tool.repository.appending(path: "Sources/rouse/Documentation.docc/SwiftClient.md")
    return try String(contentsOf: path, encoding: .utf8).matches(of: /```swift\n((?s).*?)```/).map { String($0.1) }
  }

  @Test("the manifest of the page fetches nothing, and builds without a network")
  func alone() throws {
    let place = try TemporaryFolder()
    let manifest = try #require(try Self.page().first { $0.contains("import PackageDescription") })
    let dependency = #/url: "https://git.example.com/rouse.git", branch: "main"/#
    try #require(manifest.contains(dependency))
    // A path dependency has the name of its folder.
    let link = place.url.appending(path: "rouse")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: Tool.repository)
    let app = place.url.appending(path: "app")
    let sources = app.appending(path: "Sources/FlightsPush")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    try manifest.replacing(dependency, with: #"path: "../rouse""#)
      .write(to: app.appending(path: "Package.swift"), atomically: true, encoding: .utf8)
    try "import RouseClient\npublic let type = \"\\(DeviceClient.self)\"\n"
      .write(to: sources.appending(path: "Push.swift"), atomically: true, encoding: .utf8)
    // Whatever is fetched all the same meets a closed port.
    let closed = "http://127.0.0.1:9"
    let words = try Tool.words(
      ["swift", "build", "--package-path", app.path, "--cache-path", "\(place.path)/cache", "--disable-sandbox"],
      environment: ["http_proxy": closed, "https_proxy": closed, "ALL_PROXY": closed])
    #expect(words.contains("Build complete!"), "\(words)")
    #expect(!FileManager.default.fileExists(atPath: "\(app.path)/Package.resolved"), "something was pinned")
    for folder in ["checkouts", "repositories"] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: "\(app.path)/.build/\(folder)")
      #expect(names ?? [] == [], "\(folder)")
    }
    let modules = try FileManager.default.contentsOfDirectory(atPath: "\(app.path)/.build/debug/Modules")
    #expect(
      modules.filter { $0.hasSuffix(".swiftmodule") }.sorted() == [
        "FlightsPush.swiftmodule", "RouseClient.swiftmodule",
      ])
  }

  @Test("the blocks of the page that need Apple's frameworks are at least Swift")
  func parsed() throws {
    let place = try TemporaryFolder()
    let blocks = try Self.page().filter { $0.contains(/import (WidgetKit|ActivityKit|SwiftUI)\n/) }
    #expect(blocks.count == 5)
    for (index, block) in blocks.enumerated() {
      let file = place.url.appending(path: "block\(index).swift")
      try block.write(to: file, atomically: true, encoding: .utf8)
      let result = try Tool.run(["swiftc", "-frontend", "-parse", "-swift-version", "6", file.path])
      #expect(result.status == 0, "\(result.words)")
    }
  }
}
