import ArgumentParser
import Domain
import Foundation
import LineFiles
import Policies

/// A policy document from a path, or from standard input for `-`, together with the profile that it names: so its text
/// and its hash are those that `rouse policy apply` puts into the log.
enum PolicyFile {
  /// - Parameter profile: name or path of the profile to take instead of the policy's own.
  static func document(_ path: String, profile: String? = nil) throws -> PolicyDocument {
    try read(path, profile: profile).document
  }

  /// - Returns: the document, and the hash that releases put on decisions which did not add the profile to the policy;
  ///   nil where they could not have decided by it.
  static func read(_ path: String, profile override: String?) throws -> (document: PolicyDocument, formerHash: String?)
  {
    let bytes = try bytes(path)
    let file = path == "-" ? "standard input" : path
    if let override {
      return (try PolicyDocument(bytes: bytes, file: file, profile: try profile(override)), nil)
    }
    switch try PolicyDocument.profileReference(in: bytes, file: file) {
    case .follows: return (try PolicyDocument(bytes: bytes, file: file), nil)
    case .builtIn(let name):
      // Throws where there is no such profile.
      let alone = try PolicyDocument(bytes: bytes, file: file)
      guard let profile = PolicyProfiles.named(name) else { return (alone, nil) }
      return (try PolicyDocument(bytes: bytes, file: file, profile: profile), alone.policy.reference.hash)
    case .file(let name, let line, let column):
      // Relative to the policy, wherever the program was started.
      let target = path == "-" || name.hasPrefix("/") ? name : beside(path, name)
      guard Files.exists(target) else {
        throw PolicyError(problems: [
          PolicyProblem(
            severity: .error, file: file, line: line, column: column, path: "profile",
            message: "there is no file \(target); `rouse policy profiles show` prints one to begin with")
        ])
      }
      return (try PolicyDocument(bytes: bytes, file: file, profile: try own(target)), nil)
    }
  }

  /// `b/p.yaml` for `./p.yaml` in `b/policy.yaml`.
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

  /// A profile that comes with this version.
  static func builtIn(_ name: String, _ option: String, or others: String = "") throws -> ProfileDocument {
    if let profile = PolicyProfiles.named(name) { return profile }
    let known = PolicyProfiles.all.map(\.profile.name)
    let near = NearestName.of(name, among: known).map { " did you mean \($0)?" } ?? ""
    throw ValidationError("\(option): no profile \(name);\(near) known: \(known.joined(separator: ", "))\(others)")
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

/// `--profile`, the same for every command that reads one policy.
struct ProfileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The platform's limits, instead of those that the policy names.", valueName: "name|file"))
  var profile: String?
}
