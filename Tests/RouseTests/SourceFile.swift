import Foundation

/// A file of Swift source, and the types that it declares.
struct SourceFile {
  /// Relative to the repository's root.
  let path: String
  let text: String

  /// A declaration of a type.
  struct TypeDeclaration {
    let name: String
    /// The name of the type around it; empty for one at the top level of a file.
    let owner: String
    let path: String
  }

  /// Reads all Swift files below a folder, in the order of their paths.
  /// - Parameter folder: relative to the repository's root.
  /// - Throws: when a file cannot be read.
  static func all(below folder: String) throws -> [SourceFile] {
    let root = DocumentationPage.root.appending(path: folder)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
    return try paths.sorted().map { path in
      SourceFile(path: "\(folder)/\(path)", text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }
  }

  /// The structures, enumerations, classes, actors and protocols of the file. Reads declarations that stand at the beginning of
  /// a line, which is where the formatter puts them.
  var types: [TypeDeclaration] {
    let declaration =
      #/
      \s* (?: @\w+ (?: \([^)]*\) )? \s+ )*
      (?: (?: public | package | private | fileprivate | indirect | final ) \s+ )*
      (struct | enum | class | actor | protocol | extension) \s+ ([A-Z][\w.]*)
      /#
    var found: [TypeDeclaration] = []
    var around: [(name: String, depth: Int)] = []
    var depth = 0
    var isText = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.contains("\"\"\"") {
        isText.toggle()
        continue
      }
      if isText { continue }
      let code = Self.code(line)
      if code.contains(where: \.isUppercase), let match = code.prefixMatch(of: declaration) {
        let name = String(match.2)
        if match.1 != "extension" {
          found.append(
            TypeDeclaration(name: name, owner: around.map(\.name).joined(separator: "."), path: path))
        }
        if code.contains("{") { around.append((name, depth)) }
      }
      depth += code.count { $0 == "{" } - code.count { $0 == "}" }
      while let last = around.last, depth <= last.depth { around.removeLast() }
    }
    return found
  }

  /// Returns a line without its texts and its comment.
  private static func code(_ line: Substring) -> Substring {
    guard line.contains("\"") || line.contains("//") else { return line }
    var code = Substring()
    var isText = false
    var last: Character = " "
    for character in line {
      if character == "\"", last != "\\" {
        isText.toggle()
      } else if !isText {
        if character == "/", last == "/" { break }
        code.append(character)
      }
      last = character
    }
    return code
  }
}
