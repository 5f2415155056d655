package import Foundation

/// The parent's end of a child process that runs ``BrokerService``.
///
/// The child ends when its standard input closes, so it never outlives this process.
final class BrokerProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  /// The address on which the embedded broker listens, `host:port`.
  let bootstrapServers: String

  /// Starts the child and waits for its address.
  /// - Throws: ``BenchmarkError`` when the child ends first, Foundation's error when it cannot be started.
  init(_ program: ChildProgram) throws {
    process.executableURL = program.executable
    process.arguments = program.arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    bootstrapServers = try Self.line(output)
  }

  /// Has the child create a topic.
  /// - Throws: ``BenchmarkError`` when the child refuses or ends.
  func create(_ topic: String, partitions: Int) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(topic) \(partitions)\n".utf8))
    guard try Self.line(output) == BrokerService.done else {
      throw BenchmarkError("the embedded broker did not make the topic \(topic)")
    }
  }

  /// Reads byte by byte up to a line feed, so that no byte of the next answer is consumed.
  private static func line(_ pipe: Pipe) throws -> String {
    var bytes: [UInt8] = []
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    throw BenchmarkError("the process of the embedded broker ended early")
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

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
