import ArgumentParser
import Foundation

/// Refuses a command line that names one file for two purposes. Outputs get their names when all is done: of two outputs
/// with one path, the second would replace the first, and an output could replace its own input.
enum DistinctFiles {
  /// A file on the command line.
  struct Named {
    /// The option as it is typed: `--decisions`.
    var option: String
    /// The path as given; nil if the option is not.
    var path: String?

    init(_ option: String, _ path: String?) {
      self.option = option
      self.path = path
    }
  }

  /// Checks that every output is another file than each input and each other output. Links to one file count as that file.
  /// Devices and pipes may be named more than once, and `-` is not looked at.
  /// - Parameters:
  ///   - inputs: The files that the command reads.
  ///   - outputs: The files that the command writes.
  /// - Throws: `ValidationError` with the two options and their paths.
  static func check(inputs: [Named], outputs: [Named]) throws {
    var taken: [(file: Named, path: String, identity: Identity)] = []
    for input in inputs { if let (path, identity) = identify(input) { taken.append((input, path, identity)) } }
    for output in outputs {
      guard let (path, identity) = identify(output) else { continue }
      if let other = taken.first(where: { $0.identity == identity }) {
        let paths = other.path == path ? path : "\(other.path) and \(path)"
        throw ValidationError(
          "\(other.file.option) and \(output.option) name one file, \(paths): name another for one of them")
      }
      taken.append((output, path, identity))
    }
  }

  /// The file that a path leads to.
  private enum Identity: Equatable {
    /// A file that exists, by device and inode.
    case file(device: Int, number: Int)
    /// A file that does not exist yet, by the full path without links.
    case path(String)
  }

  /// Returns nil for an option that is not given, `-`, and what is no regular file.
  private static func identify(_ file: Named) -> (path: String, identity: Identity)? {
    guard let path = file.path, path != "-" else { return nil }
    let url = URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath()
    // No attributes: there is no such file yet, or it cannot be reached. Opening it reports the reason.
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else {
      let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
      return (path, .path(folder.appendingPathComponent(url.lastPathComponent).path))
    }
    guard attributes[.type] as? FileAttributeType == .typeRegular, let device = attributes[.systemNumber] as? Int,
      let number = attributes[.systemFileNumber] as? Int
    else { return nil }
    return (path, .file(device: device, number: number))
  }
}
