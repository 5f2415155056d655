import Foundation
import Glibc
import Testing

/// A program that runs beside the test, with all that it writes in a file.
final class Program {
  private let process = Process()
  private let log: URL
  private let handle: FileHandle

  /// Starts a program.
  /// - Parameters:
  ///   - path: its file.
  ///   - arguments: its arguments.
  ///   - folder: the working directory, which also gets the log.
  /// - Throws: when it cannot be started.
  init(_ path: String, _ arguments: [String], in folder: URL) throws {
    log = folder.appending(path: "\(UUID().uuidString).log")
    try Data().write(to: log)
    handle = try FileHandle(forWritingTo: log)
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
  }

  deinit { kill9() }

  var isRunning: Bool { process.isRunning }
  var status: Int32 { process.terminationStatus }
  /// All that it has written so far.
  var words: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// Sends SIGKILL, and waits until the program is gone.
  func kill9() {
    guard process.isRunning else { return }
    _ = kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for a text in what the program writes, for a minute and a half at most.
  /// - Parameter pattern: the text.
  /// - Returns: what the pattern's group matched.
  /// - Throws: when the program ends before, or writes nothing of the kind.
  func waitFor(_ pattern: Regex<(Substring, Substring)>) throws -> String {
    let end = Date(timeIntervalSinceNow: 90)
    while Date() < end {
      let words = words
      if let match = words.firstMatch(of: pattern) { return String(match.1) }
      try #require(process.isRunning, "\(words)")
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw Missing(what: "nothing of the kind in: \(words)")
  }

  /// Waits until the program has ended by itself.
  /// - Returns: its status; nil if it still runs after `seconds`.
  func end(within seconds: Double) -> Int32? {
    let end = Date(timeIntervalSinceNow: seconds)
    while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.05) }
    return process.isRunning ? nil : process.terminationStatus
  }

  /// The error that something did not come in time.
  struct Missing: Error {
    var what: String
  }
}
