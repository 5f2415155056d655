import Foundation
import LineFiles
import Policies

/// A policy document from a path, or from standard input for `-`.
enum PolicyFile {
  static func document(_ path: String) throws -> PolicyDocument {
    try PolicyDocument(bytes: try bytes(path), file: path == "-" ? "standard input" : path)
  }

  /// As they stand: the policy's hash is that of its bytes.
  private static func bytes(_ path: String) throws -> [UInt8] {
    do {
      if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      guard let system = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError else {
        throw Failure("cannot read \(path): \((error as NSError).localizedDescription)")
      }
      throw LineFileError.system(operation: .open, path: path, code: system.code.rawValue)
    }
  }
}
