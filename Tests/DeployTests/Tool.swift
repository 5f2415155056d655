import Foundation
import Testing

/// A program that only tests need, and the programs and folders that the tests use. `deploy/test.sh --all` installs what is needed.
struct Tool: Sendable {
  /// The result of a run.
  struct Result {
    var status: Int32
    /// Everything that it printed, on standard output and standard error.
    var words: String
  }

  let path: String

  /// Checks and tests rules; from Debian's package `prometheus`.
  static let promtool = Tool("promtool")
  /// The server; from the same package.
  static let prometheus = Tool("prometheus")
  static let reason = "needs Debian's package prometheus, which deploy/test.sh --all installs"

  /// The folder of the repository.
  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// The folder with the rules and the dashboard.
  static let observability = repository.appending(path: "deploy/observability")
  /// The folder of the Python packages that the tests need.
  static let packages = repository.appending(path: ".build/tools").path
  /// The program `rouse` of this build, in the folder of the test bundle.
  static let rouse = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("rouse").path

  /// Finds a program.
  /// - Parameter name: its name on the search path; nil is returned if it is not there.
  init?(_ name: String) {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    guard let path = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.isExecutableFile) else {
      return nil
    }
    self.path = path
  }

  /// Returns whether a Python package is in the folder of packages.
  static func hasPackage(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(packages)/\(name)") }

  /// Runs a program of the search path to its end, in the folder of the repository.
  static func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Result {
    let output = FileManager.default.temporaryDirectory.appending(path: "rouse-\(UUID().uuidString)")
    try Data().write(to: output)
    defer { try? FileManager.default.removeItem(at: output) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = repository
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": packages]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    // A file, because a full pipe would block the program.
    let handle = try FileHandle(forWritingTo: output)
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    process.waitUntilExit()
    try handle.close()
    return Result(status: process.terminationStatus, words: try String(contentsOf: output, encoding: .utf8))
  }

  /// Returns the words that a program printed.
  /// - Throws: when it failed, which is recorded with its words.
  static func words(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let result = try run(arguments, environment)
    try #require(result.status == 0, "\(arguments.joined(separator: " ")): \(result.words)")
    return result.words
  }
}
