import Glibc

// The unsafe code of this module is in this folder. Each pointer that is passed to the system or to zlib points into an array, is
// used only within the closure that lends it, and has its length checked against that array before.

/// Owns one file descriptor. The descriptors of the standard streams are borrowed and never closed.
final class Descriptor {
  /// The path for messages to people.
  let path: String
  private var number: Int32
  private let isBorrowed: Bool

  private init(path: String, number: Int32, isBorrowed: Bool = false) {
    self.path = path
    self.number = number
    self.isBorrowed = isBorrowed
  }

  deinit { _ = close() }

  /// Returns the descriptor that a path like `/dev/stdout` or `/dev/fd/3` names; nil for other paths. Such a path is used as the
  /// descriptor itself: opened by its path, it would begin at the first byte of a file again, and could not be appended to.
  static func inherited(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdin": return STDIN_FILENO
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default:
      for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
        return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
      }
      return nil
    }
  }

  /// Opens a file for reading; `-` is the standard input.
  static func reading(_ path: String) throws(LineFileError) -> Descriptor {
    if path == "-" { return Descriptor(path: "standard input", number: STDIN_FILENO, isBorrowed: true) }
    if let number = inherited(path) { return Descriptor(path: path, number: number, isBorrowed: true) }
    return try open(path, O_RDONLY)
  }

  /// Opens a device or a pipe, which cannot be replaced, for writing; `-` is the standard output.
  static func writing(_ path: String) throws(LineFileError) -> Descriptor {
    if path == "-" { return Descriptor(path: "standard output", number: STDOUT_FILENO, isBorrowed: true) }
    if let number = inherited(path) { return Descriptor(path: path, number: number, isBorrowed: true) }
    return try open(path, O_WRONLY)
  }

  /// Creates a temporary file in the folder of `target`, with the permissions of the file at `target` that it will
  /// replace.
  /// - Parameters:
  ///   - target: The final path.
  ///   - isPrivate: Whether a file that replaces none is for its owner alone, instead of as the umask says.
  static func temporary(beside target: String, isPrivate: Bool = false) throws(LineFileError) -> Descriptor {
    var attempt = 0
    while true {
      let name = "\(target).\(getpid())-\(attempt).partial"
      do throws(LineFileError) {
        let descriptor = try open(name, O_WRONLY | O_CREAT | O_EXCL, permissions: isPrivate ? 0o600 : 0o666)
        if let status = status(of: target) { _ = fchmod(descriptor.number, status.st_mode & 0o7777) }
        return descriptor
      } catch {
        guard case .system(_, _, let code) = error else { throw error }
        // Another writer of this process has the same target, or a killed process had the same id.
        attempt += 1
        if code != EEXIST || attempt == 1000 { throw .system(operation: .open, path: target, code: code) }
      }
    }
  }

  /// Returns the path at which a new file replaces the file at `path`: the path of an existing regular file with its
  /// links resolved, and a path at which there is no file as it is. `nil` for `-`, devices, pipes, folders and
  /// inherited descriptors, which cannot be replaced.
  static func replaceableFile(_ path: String) -> String? {
    if path == "-" || inherited(path) != nil { return nil }
    guard let status = status(of: path) else { return path }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private static func open(
    _ path: String, _ flags: Int32, permissions: mode_t = 0o666
  ) throws(LineFileError) -> Descriptor {
    while true {
      let number = unsafe Glibc.open(path, flags | O_CLOEXEC, permissions)
      if number >= 0 { return Descriptor(path: path, number: number) }
      if errno != EINTR { throw .system(operation: .open, path: path, code: errno) }
    }
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  /// The size of a regular file in bytes; `nil` for anything else.
  var regularFileBytes: Int64? {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Reads at most as many bytes as fit behind `offset` and returns their number; 0 at the end of the file.
  func read(into buffer: inout [UInt8], from offset: Int) throws(LineFileError) -> Int {
    precondition(offset >= 0 && offset < buffer.count, "no room to read into")
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe Glibc.read(number, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
      }
      if count >= 0 { return count }
      let code = errno
      if !waitIfTemporary(code, for: POLLIN) { throw .system(operation: .read, path: path, code: code) }
    }
  }

  /// Writes the first `count` bytes completely; returns 0 or the `errno`.
  func write(_ bytes: [UInt8], count: Int) -> Int32 {
    precondition(count <= bytes.count, "more to write than there is")
    var position = 0
    while position < count {
      let written = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(number, bytes.baseAddress.map { unsafe $0 + position }, count - position)
      }
      let code = errno
      if written >= 0 { position += written } else if !waitIfTemporary(code, for: POLLOUT) { return code }
    }
    return 0
  }

  /// Returns whether a call that failed with `code` should be repeated: at once after a signal, and for a non-blocking
  /// descriptor after this method has waited for `event`.
  private func waitIfTemporary(_ code: Int32, for event: Int32) -> Bool {
    if code == EINTR { return true }
    guard code == EAGAIN else { return false }
    var waiting = pollfd(fd: number, events: Int16(event), revents: 0)
    return unsafe poll(&waiting, 1, -1) >= 0 || errno == EINTR
  }

  /// Closes the descriptor; returns 0 or the `errno`. Does nothing the second time and for the standard streams.
  func close() -> Int32 {
    if isBorrowed || number < 0 { return 0 }
    // Linux frees the number even when close fails or is interrupted, so it is never closed twice.
    defer { number = -1 }
    return Glibc.close(number) == 0 || errno == EINTR ? 0 : errno
  }

  /// Renames a file; returns `nil` or the `errno`.
  static func rename(_ source: String, to target: String) -> Int32? {
    unsafe Glibc.rename(source, target) == 0 ? nil : errno
  }

  /// Removes a temporary file. A failure is ignored, because the file may be gone already.
  static func remove(_ path: String) { _ = unsafe unlink(path) }
}
