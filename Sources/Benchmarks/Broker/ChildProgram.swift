package import Foundation

/// A command line that a benchmark starts as a child process. The program that embeds the benchmarks provides it.
package struct ChildProgram: Sendable {
  /// The file of the program.
  package var executable: URL
  /// The arguments, without the program's name.
  package var arguments: [String]

  /// Creates a command line.
  package init(executable: URL, arguments: [String]) {
    self.executable = executable
    self.arguments = arguments
  }

  /// Runs the program to its end, without standard input.
  /// - Returns: the exit status.
  /// - Throws: Foundation's error when the program cannot be started.
  package func run() throws -> Int32 {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
