import Foundation

/// A reader of bytes that come from outside or from a store. Whatever the bytes are, it may refuse them, and must not trap,
/// loop or reserve memory without bound.
struct FuzzTarget: Sendable {
  /// The name, as `deploy/fuzz.sh` and the folder of the corpus use it.
  let name: String
  /// The grammar of the input. Mutations keep it, so that they reach what lies behind the first check.
  let form: Form
  /// The number of mutated inputs of a test run. A slow reader has fewer.
  let cases: Int
  /// Returns valid inputs, from which mutations begin.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Reads one input.
  ///
  /// Throws a ``FuzzFinding`` if what was read does not hold what it should. Refusing the input is no finding.
  let body: @Sendable ([UInt8]) throws -> Void

  /// The grammar of an input.
  enum Form: Sendable {
    /// Text with strings, numbers and words: JSON, YAML, lines.
    case text
    /// Bytes without a grammar.
    case bytes
    /// Chunks, as ``FuzzFrames`` writes them.
    case frames
  }
}

/// Something that should hold after reading an input, and does not.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// - Throws: a finding unless the condition holds.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(description()) }
  }
}

extension FuzzTarget {
  /// Every target.
  static let all: [FuzzTarget] =
    textTargets + recordTargets + policyTargets + plannerTargets + storeTargets + auditTargets

  static let names = all.map(\.name)

  /// The files that once broke the target, or that reach far into it: `Corpus/NAME/*`, in the order of their names.
  /// - Throws: the file system's error.
  func corpus() throws -> [[UInt8]] {
    let folder = Self.corpusFolder.appending(path: name)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
      [UInt8](try Data(contentsOf: folder.appending(path: file)))
    }
  }

  static let corpusFolder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
}

/// The examples of the schemas, which are seeds.
enum FuzzExamples {
  /// Returns the files of a folder below `schemas/examples`, in the order of their names.
  /// - Parameters:
  ///   - folder: the folder, such as `registration/valid`.
  ///   - ending: the end of the files' names.
  /// - Throws: the file system's error.
  static func files(_ folder: String, ending: String = ".json") throws -> [[UInt8]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "schemas/examples/\(folder)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(ending) }.sorted()
      .map { [UInt8](try Data(contentsOf: folder.appending(path: $0))) }
  }
}
