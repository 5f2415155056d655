import ArgumentParser
import Foundation
import LineFiles

/// Looks at the file system.
enum Files {
  /// Whether there is a file or a folder at a path.
  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

extension Files {
  /// Lists an audit store with the files that SQLite and the audit keep beside it under its name.
  /// - Parameters:
  ///   - option: The option that names the store.
  ///   - path: The path of the store; nil if the option is not given.
  static func store(_ option: String, _ path: String?) -> [(option: String, path: String?)] {
    guard let path else { return [] }
    return [(option, path)]
      + ["-wal", "-shm", "-journal", ".key"].map { ("the file beside \(option)", path + $0) }
  }

  /// Checks that no output of a command is one of its inputs or another of its outputs, whose content would be lost, and that
  /// the standard input and the standard output are named at most once.
  /// - Parameters:
  ///   - outputs: The options of the files to write, with their paths; nil for an option that is not given.
  ///   - inputs: The options of the files to read, with their paths; nil for an option that is not given.
  /// - Throws: `ValidationError` that says which options or streams are named twice.
  static func checkDistinct(
    outputs: [(option: String, path: String?)], inputs: [(option: String, path: String?)]
  ) throws {
    func named(_ files: [(option: String, path: String?)]) -> [NamedPath] {
      files.compactMap { file in file.path.map { NamedPath(file.option, $0) } }
    }
    if inputs.count(where: { $0.path == "-" }) > 1 {
      throw ValidationError("only one input can be - (standard input)")
    }
    if outputs.count(where: { $0.path == "-" }) > 1 {
      throw ValidationError("only one output can be - (standard output)")
    }
    do throws(LineFileError) {
      try NamedPath.checkDistinct(outputs: named(outputs), inputs: named(inputs))
    } catch {
      throw ValidationError(error.description)
    }
  }
}
