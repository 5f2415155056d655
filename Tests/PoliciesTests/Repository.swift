import Foundation

/// The files of this repository, for tests that read them.
enum Repository {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The place of a file.
  /// - Parameter path: relative to the repository.
  static func url(_ path: String) -> URL { root.appending(path: path) }

  /// Reads the bytes of a file.
  /// - Throws: the file system's error.
  static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: url(path))) }

  /// Reads a file as text.
  /// - Throws: the file system's error.
  static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// Lists the names of the files in a folder that have a suffix, sorted.
  /// - Throws: the file system's error.
  static func names(in folder: String, suffix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).filter {
      $0.hasSuffix(suffix)
    }
    .sorted()
  }
}
