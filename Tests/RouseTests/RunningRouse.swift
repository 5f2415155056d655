import Foundation
import FoundationNetworking
import Testing

/// A `rouse` that serves HTTP, in a process beside a test. It runs until `end`, or until its owner is gone.
///
/// Nothing here awaits: the tests that compute would hold its turns back for minutes, in which the run would end at its limit.
final class RunningRouse {
  /// The address of the pages, such as `http://127.0.0.1:40123`.
  private(set) var address = ""
  private let process = Process()
  private let place: Workplace
  private let log: String

  /// Starts `rouse run` in a folder, and waits until it serves its pages for machines.
  /// - Parameters:
  ///   - arguments: the arguments behind `run`. `http.listen` is set here.
  ///   - place: the working directory. All that the program writes goes into a file there.
  ///   - launcher: the command that runs the program, which it gets as further arguments; none to run it directly.
  /// - Throws: when it ends before it serves its pages.
  convenience init(_ arguments: [String], in place: Workplace, through launcher: [String] = []) throws {
    try self.init(
      list: ["run", "--set", "http.listen=127.0.0.1:0"] + arguments, in: place, through: launcher,
      address: #/http://[0-9.:]+(?=/metrics)/#)
  }

  /// Starts the program in a folder, and waits until it has written an address.
  /// - Parameters:
  ///   - arguments: the arguments.
  ///   - place: the working directory. All that the program writes goes into a file there.
  ///   - launcher: the command that runs the program, which it gets as further arguments; none to run it directly.
  ///   - pattern: the address in what it writes.
  /// - Throws: when it ends before.
  init(
    list arguments: [String], in place: Workplace, through launcher: [String] = [], address pattern: Regex<Substring>
  ) throws {
    (self.place, log) = (place, "\(UUID().uuidString).log")
    let command = launcher + [Workplace.program.path] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.currentDirectoryURL = place.folder
    try place.put("", log)
    let words = try FileHandle(forWritingTo: place.folder.appendingPathComponent(log))
    (process.standardError, process.standardOutput) = (words, words)
    try process.run()
    address = try soon("the address of the pages") {
      let soFar = try self.words
      try #require(process.isRunning, "\(soFar)")
      return soFar.firstMatch(of: pattern).map { String($0.0) }
    }
  }

  deinit { if process.isRunning { process.terminate() } }

  /// All that the program has written.
  var words: String { get throws { String(decoding: try place.bytes(log), as: UTF8.self) } }

  /// Returns the text of a page.
  /// - Parameter path: its path, such as `/metrics`.
  /// - Throws: for an answer that is not 2xx, as a probe gives that says no.
  func page(_ path: String) throws -> String {
    let url = try #require(URL(string: address + path))
    return String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  /// Has the program end in order, and waits until it has.
  /// - Returns: its status.
  /// - Throws: when it does not end.
  func end() throws -> Int32 {
    process.terminate()
    try soon("the end of the process") { process.isRunning ? nil : true }
    return process.terminationStatus
  }
}

/// Asks `probe` until it answers, for three minutes at most.
/// - Parameters:
///   - what: the thing that is waited for, for the error.
///   - probe: returns nil while there is no answer.
/// - Throws: what `probe` throws, and when no answer came in time.
@discardableResult
func soon<Value>(_ what: String, _ probe: () throws -> Value?) throws -> Value {
  let end = Date(timeIntervalSinceNow: 180)
  while Date() < end {
    if let value = try probe() { return value }
    Thread.sleep(forTimeInterval: 0.02)
  }
  throw NeverHappened(what: what)
}

/// The error that something did not come in time.
struct NeverHappened: Error {
  var what: String
}
