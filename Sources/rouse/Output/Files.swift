import Foundation

/// Looks at the file system.
enum Files {
  /// Whether there is a file or a folder at a path.
  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
