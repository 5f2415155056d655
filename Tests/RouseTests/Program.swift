import Foundation
import Testing

/// The result of a run of the program.
struct Outcome {
  var status: Int32
  var out: String
  var err: String
  /// The lines of standard output.
  var lines: [String] { out.split(separator: "\n").map(String.init) }
}

/// A temporary folder in which the built program runs.
final class Workplace {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func put(_ text: String, _ name: String) throws { try put(Data(text.utf8), name) }

  func put(_ bytes: Data, _ name: String) throws {
    given.insert(name)
    try bytes.write(to: folder.appendingPathComponent(name))
  }

  /// The names of the files that a test put here.
  private var given: Set<String> = []

  /// Checks that nobody but their owner can use the files that Rouse made here.
  ///
  /// - Returns: The names of these files, in order.
  func expectPrivate() throws -> [String] {
    let made = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { !given.contains($0) }
    var names: [String] = []
    for name in made.sorted() {
      let path = folder.appendingPathComponent(name).path
      let attributes: [FileAttributeKey: Any]
      do { attributes = try FileManager.default.attributesOfItem(atPath: path) } catch {
        // A program that runs may have removed it meanwhile.
        guard FileManager.default.fileExists(atPath: path) else { continue }
        throw error
      }
      let mode = attributes[.posixPermissions] as? Int
      #expect((mode ?? 0o777) & 0o077 == 0, "\(name): \(String(mode ?? 0, radix: 8))")
      if attributes[.type] as? FileAttributeType == .typeRegular { names.append(name) }
    }
    return names
  }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

  func lines(_ name: String) throws -> [String] {
    String(decoding: try bytes(name), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// The whole path of a file of the folder.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  @discardableResult
  func rouse(_ arguments: String..., input: String = "", environment: [String: String] = [:]) throws -> Outcome {
    try rouse(list: arguments, input: input, environment: environment)
  }

  /// Runs `rouse` to its end. Its output goes to files, because a full pipe would block it.
  /// - Parameters:
  ///   - arguments: the arguments, without the program's name.
  ///   - input: the text of standard input.
  ///   - environment: variables besides `PATH` and `COLUMNS`.
  func rouse(list arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome {
    try run(Self.program, arguments, input: input, environment: environment)
  }

  /// Runs a program to its end, as `rouse` does.
  func run(
    _ program: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    let run = UUID().uuidString
    try put(input, "\(run).in")
    for name in ["out", "err"] { try put("", "\(run).\(name)") }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ["PATH": "/usr/bin:/bin", "COLUMNS": "80"].merging(environment) { $1 }
    let handles = try [
      FileHandle(forReadingFrom: folder.appendingPathComponent("\(run).in")),
      FileHandle(forWritingTo: folder.appendingPathComponent("\(run).out")),
      FileHandle(forWritingTo: folder.appendingPathComponent("\(run).err")),
    ]
    process.standardInput = handles[0]
    process.standardOutput = handles[1]
    process.standardError = handles[2]
    try process.run()
    process.waitUntilExit()
    for handle in handles { try handle.close() }
    let outcome = Outcome(
      status: process.terminationStatus, out: String(decoding: try bytes("\(run).out"), as: UTF8.self),
      err: String(decoding: try bytes("\(run).err"), as: UTF8.self))
    for name in ["in", "out", "err"] {
      try FileManager.default.removeItem(at: folder.appendingPathComponent("\(run).\(name)"))
    }
    return outcome
  }

  /// The program, which the build puts into the folder of the test runner.
  /// The program of this build; the one that `ROUSE_TEST_PROGRAM` names when pages are written, so that their figures are
  /// those of a release build.
  static let program =
    ProcessInfo.processInfo.environment["ROUSE_TEST_PROGRAM"].map { URL(fileURLWithPath: $0) }
    ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("rouse")
}
