import ArgumentParser
import Domain
import Foundation
import LineFiles
import Policies

/// Reads a policy document from a path, or from standard input for `-`, together with the profile that it names. Text
/// and hash are therefore the same as `rouse policy apply` writes into the log.
enum PolicyFile {
  /// - Parameter profile: the name or the path of a profile to take instead of the policy's own.
  /// - Throws: `PolicyError` for mistakes in the document or its profile, `LineFileError` when a file cannot be read,
  ///   `ValidationError` when no such profile exists.
  static func document(_ path: String, profile: String? = nil) throws -> PolicyDocument {
    let bytes = try bytes(path)
    let file = path == "-" ? "standard input" : path
    if let profile {
      return try PolicyDocument(bytes: bytes, file: file, profile: try self.profile(profile))
    }
    switch try PolicyDocument.profileReference(in: bytes, file: file) {
    case .follows, .builtIn: return try PolicyDocument(bytes: bytes, file: file)
    case .file(let name, let line, let column):
      // The path is relative to the policy, wherever the program was started.
      let target = path == "-" || name.hasPrefix("/") ? name : beside(path, name)
      guard Files.exists(target) else {
        throw PolicyError(problems: [
          PolicyProblem(
            severity: .error, file: file, line: line, column: column, path: "profile",
            message: "there is no file \(target); `rouse policy profiles show` prints one to begin with")
        ])
      }
      return try PolicyDocument(bytes: bytes, file: file, profile: try own(target))
    }
  }

  /// Returns the path of a file that another file names relative to itself: `b/p.yaml` for `./p.yaml` in
  /// `b/policy.yaml`.
  private static func beside(_ path: String, _ name: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return name }
    return String(path[...slash] + (name.hasPrefix("./") ? name.dropFirst(2) : name[...]))
  }

  private static func own(_ path: String) throws -> ProfileDocument {
    try PolicyProfiles.own(bytes: try bytes(path), file: path == "-" ? "standard input" : path)
  }

  private static func profile(_ name: String) throws -> ProfileDocument {
    if name == "-" || ProfileReference.isPath(name) { return try own(name) }
    return try builtIn(name, "--profile", or: ", or a file such as ./my-profile.yaml")
  }

  /// Returns a profile that comes with this version.
  /// - Parameters:
  ///   - name: the profile's name.
  ///   - option: the option that named it, for messages.
  ///   - others: other possibilities, for messages.
  /// - Throws: `ValidationError` when there is no such profile.
  static func builtIn(_ name: String, _ option: String, or others: String = "") throws -> ProfileDocument {
    if let profile = PolicyProfiles.named(name) { return profile }
    let known = PolicyProfiles.all.map(\.profile.name)
    let near = NearestName.of(name, among: known).map { " did you mean \($0)?" } ?? ""
    throw ValidationError("\(option): no profile \(name);\(near) known: \(known.joined(separator: ", "))\(others)")
  }

  /// Returns the bytes of a file as they are, because a policy's hash covers its bytes. The reader of a document checks
  /// its size, which has a smaller bound.
  private static func bytes(_ path: String) throws(LineFileError) -> [UInt8] {
    try WholeFile.bytes(path, bytesMax: 16 << 20)
  }
}
