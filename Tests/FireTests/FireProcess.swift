import Foundation
import Glibc

/// A `rouse run` in a separate process.
final class FireProcess {
  let name: String
  private let process = Process()
  private let log: URL
  private let handle: FileHandle

  /// The program `rouse`, in the folder of the test bundle.
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("rouse")

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - name: The name for stories and log files.
  ///   - folder: The working directory, which also gets the log.
  ///   - settings: The values of `--set`.
  /// - Throws: Errors of the file system, or if the program cannot be run.
  init(_ name: String, folder: URL, settings: [String]) throws {
    self.name = name
    log = folder.appendingPathComponent("\(name)-\(UUID().uuidString.prefix(8)).log")
    try Data().write(to: log)
    handle = try FileHandle(forWritingTo: log)
    process.executableURL = Self.program
    process.arguments = ["run"] + settings.flatMap { ["--set", $0] }
    process.currentDirectoryURL = folder
    // Several processes run at a time.
    process.environment = ["PATH": "/usr/bin:/bin", "ROUSE_HTTP_LISTEN": "off"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
  }

  deinit { if process.isRunning { signal(SIGKILL) } }

  var isRunning: Bool { process.isRunning }
  var status: Int32 { process.terminationStatus }
  /// Everything that it has written so far.
  var words: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  func signal(_ number: Int32) { _ = kill(process.processIdentifier, number) }

  /// Sends SIGKILL and waits until the process is gone.
  func kill9() {
    signal(SIGKILL)
    process.waitUntilExit()
  }

  /// Sends SIGTERM and waits.
  ///
  /// - Returns: A sentence that says what went wrong; nil if it ended in time with status 0, or by the signal because it had not begun.
  func end(within seconds: Double) -> String? {
    let began = Date()
    signal(SIGTERM)
    while process.isRunning, Date().timeIntervalSince(began) < seconds { Thread.sleep(forTimeInterval: 0.02) }
    guard !process.isRunning else {
      kill9()
      return "\(name) did not end within \(seconds) s of SIGTERM:\n\(words.prefix(6000))"
    }
    let hadNotBegun = process.terminationReason == .uncaughtSignal && words.isEmpty
    return process.terminationStatus == 0 || hadNotBegun
      ? nil : "\(name) ended with status \(process.terminationStatus):\n\(words.prefix(6000))"
  }
}
