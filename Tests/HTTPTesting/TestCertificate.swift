package import Foundation
package import Serving

/// A certificate for this machine and its key, in a folder of their own, made by `openssl`.
package struct TestCertificate: Sendable {
  /// The folder.
  package let folder: URL

  /// Makes a folder with a certificate.
  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try make()
  }

  /// The paths of the files.
  package var paths: TLSCertificate.Paths { TLSCertificate.Paths(certificate: path("tls.crt"), key: path("tls.key")) }

  /// Returns the path of a file in the folder.
  package func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Makes another certificate and its key.
  ///
  /// - Parameters:
  ///   - name: The name of the files, without `.crt` and `.key`.
  ///   - days: The days for which it is valid from now on.
  package func make(_ name: String = "tls", days: Int = 90) throws {
    let made = try Tool.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "\(days)",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
        path("\(name).key"), "-out", path("\(name).crt"),
      ])
    guard made.status == 0 else { throw Tool.Failure(words: made.err) }
  }

  /// Puts a file at the place of another at once, as programs that renew certificates do.
  package func replace(_ name: String, by other: String) throws {
    let copy = path("copy-\(UUID().uuidString)")
    try FileManager.default.copyItem(atPath: path(other), toPath: copy)
    // POSIX: the paths are lent for the call.
    guard unsafe rename(copy, path(name)) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// Removes the folder.
  package func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// Runs programs of the system to their end.
package enum Tool {
  /// The status and the output of a program that has ended.
  package struct Outcome: Sendable {
    package var status: Int32
    package var out: String
    package var err: String
  }

  /// A program that a test needs has failed.
  package struct Failure: Error {
    package var words: String
  }

  /// Runs a program, and waits for its end. It blocks its thread.
  package static func run(_ name: String, _ arguments: [String]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/\(name)")
    process.arguments = arguments
    let (out, err) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, out, err)
    try process.run()
    // Standard error is read last: the little that programs write there fits in the buffer of the pipe.
    let text = out.fileHandleForReading.readDataToEndOfFile()
    let words = err.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, out: String(decoding: text, as: UTF8.self),
      err: String(decoding: words, as: UTF8.self))
  }

  /// Runs `curl` without progress, with a time limit and without the settings of the user.
  package static func curl(_ arguments: [String]) throws -> Outcome {
    try run("curl", ["-q", "-sS", "--max-time", "60", "--noproxy", "*"] + arguments)
  }
}
