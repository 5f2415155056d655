import Foundation
import Policies

/// A policy document from a path, or from standard input for `-`.
enum PolicyFile {
  static func document(_ path: String) throws -> PolicyDocument {
    try PolicyDocument(bytes: try bytes(path), file: path == "-" ? "standard input" : path)
  }

  private static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    do {
      if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw Failure("cannot read \(path): \(reason(error)); give the path of a policy, a YAML file")
    }
  }

  private static func reason(_ error: any Error) -> String {
    if let posix = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError {
      return posix.localizedDescription.lowercased()
    }
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile: return "no such file or directory"
    case .fileReadNoPermission: return "permission denied"
    default: return (error as NSError).localizedDescription
    }
  }
}
