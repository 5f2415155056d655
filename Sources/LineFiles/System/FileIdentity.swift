import Glibc

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
