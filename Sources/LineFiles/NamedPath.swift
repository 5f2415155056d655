import Glibc

/// A path, together with the option or argument that gave it, such as `--decisions`, for error messages.
public struct NamedPath: Sendable, Equatable {
  /// The name that error messages show: an option, an argument or a setting.
  public var name: String
  /// The path as it was given; `-` is the standard input or output.
  public var path: String

  /// Makes a path with its name.
  /// - Parameters:
  ///   - name: The option, argument or setting that gave the path.
  ///   - path: The path, which need not exist.
  public init(_ name: String, _ path: String) {
    self.name = name
    self.path = path
  }

  /// Checks that a run neither writes one file twice nor replaces a file that it reads.
  ///
  /// Two paths name the same file when they have the same device and inode, so symbolic and hard links are seen
  /// through. A file that does not exist yet is known by its folder and its name. An output `-` is the file that the
  /// standard output goes to. Only regular files count: devices, pipes and paths that cannot be opened anyway are never
  /// in conflict. Call this before the first ``LineWriter`` is made; files that are moved or linked afterwards are not
  /// noticed.
  /// - Parameters:
  ///   - outputs: The paths that will be written.
  ///   - inputs: The paths that will be read. Two inputs may be the same file.
  /// - Throws: ``LineFileError/sameFile(output:other:isInput:)`` for the first conflict, in the order of the arguments.
  public static func checkDistinct(outputs: [NamedPath], inputs: [NamedPath]) throws(LineFileError) {
    var taken: [(file: FileIdentity, name: NamedPath, isInput: Bool)] = []
    for input in inputs {
      if let file = FileIdentity(path: input.path) { taken.append((file, input, true)) }
    }
    for output in outputs {
      guard let file = output.path == "-" ? FileIdentity.standardOutput : FileIdentity(path: output.path) else {
        continue
      }
      if let other = taken.first(where: { $0.file == file }) {
        throw .sameFile(output: output, other: other.name, isInput: other.isInput)
      }
      taken.append((file, output, false))
    }
  }
}

/// The identity of a regular file, independent of the path that leads to it.
enum FileIdentity: Equatable {
  /// A file that exists.
  case existing(device: dev_t, inode: ino_t)
  /// A file that a writer would create, by its folder and its name there.
  case new(device: dev_t, folder: ino_t, name: String)

  /// Finds the file that a path names at the time of the call; `nil` for `-`, devices, pipes, folders, and files in
  /// folders that do not exist.
  init?(path: String) {
    guard path != "-" else { return nil }
    if let file = Self.status(of: path) {
      guard file.st_mode & S_IFMT == S_IFREG else { return nil }
      self = .existing(device: file.st_dev, inode: file.st_ino)
      return
    }
    // A link to nothing counts as its own name, because `LineWriter` replaces the link itself.
    let slash = path.lastIndex(of: "/")
    let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard !name.isEmpty, let status = Self.status(of: folder) else { return nil }
    self = .new(device: status.st_dev, folder: status.st_ino, name: name)
  }

  /// The file that the standard output goes to; `nil` if that is a terminal, a pipe or a device.
  static var standardOutput: FileIdentity? {
    var status = stat()
    // The system fills the structure or answers -1.
    guard unsafe fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return .existing(device: status.st_dev, inode: status.st_ino)
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    // The path is a NUL-terminated string for the call; the system fills the structure or answers -1.
    return unsafe stat(path, &status) == 0 ? status : nil
  }
}
