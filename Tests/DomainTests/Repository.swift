import Foundation
import JSON

/// The files of this repository, for tests that compare them with the code.
enum Repository {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Reads a text file.
  /// - Parameter path: relative to the repository.
  /// - Throws: the file system's error.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Reads `schemas/NAME.schema.json`.
  /// - Throws: the file system's error, or `JSONError`.
  static func schema(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: text("schemas/\(name).schema.json"))
  }

  /// The paths of all Markdown pages, relative to the repository.
  static func pages() -> [String] {
    let folders = ["", "schemas", "Sources/rouse/Documentation.docc"]
    return folders.flatMap { folder in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
      return names.filter { $0.hasSuffix(".md") }.sorted().map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }
  }
}

extension JSONValue {
  /// The texts of an array; the empty list for anything else.
  var texts: [String] {
    guard case .array(let elements) = self else { return [] }
    return elements.compactMap { element in
      if case .string(let text) = element { text } else { nil }
    }
  }

  /// The names of an object's members, in their order.
  var names: [String] {
    guard case .object(let members) = self else { return [] }
    return members.map(\.key)
  }

  /// The value at a path of member names; nil if there is none.
  func at(_ path: String...) -> JSONValue? { path.reduce(self as JSONValue?) { $0?[$1] } }
}
