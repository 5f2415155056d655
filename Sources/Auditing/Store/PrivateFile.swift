import Glibc

/// The permissions of the store's files, which contain ids of devices and a key.
enum PrivateFile {
  /// Makes an empty file that only its owner can read and write, unless there is a file. SQLite gives the write-ahead log
  /// and its index the permissions of the file. A failure is ignored: SQLite then reports why it cannot open the file.
  /// - Parameter path: the path of the store. A link is followed.
  static func createIfMissing(_ path: String) {
    // An existing file is never opened here: closing it would release the locks of other connections of this process.
    guard permissions(of: path) == nil else { return }
    // POSIX: `path` is lent for the call. `open` sets the permissions when it makes the file; the umask can only narrow them.
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 { _ = Glibc.close(descriptor) }
  }

  /// Makes a file that only its owner can read and write, unless there is a file. No other process ever sees a part of the
  /// bytes. A failure is ignored: the caller then finds no file.
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - bytes: the contents.
  static func create(_ path: String, _ bytes: [UInt8]) {
    let draft = "\(path).\(UInt64.random(in: .min ... .max)).new"
    // POSIX: `draft` and `path` are lent for each call, and `write` reads `count` bytes of memory that lives as long as the
    // closure.
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    let isWhole = written == bytes.count && fsync(descriptor) == 0
    _ = Glibc.close(descriptor)
    if isWhole { _ = unsafe link(draft, path) }
    _ = unsafe unlink(draft)
  }

  /// Returns whether users other than the owner can read or write a file; false if there is none.
  static func isOpenToOthers(_ path: String) -> Bool { (permissions(of: path) ?? 0) & 0o077 != 0 }

  /// Returns the permissions of a file, links followed; nil if there is none.
  private static func permissions(of path: String) -> mode_t? {
    var status = stat()
    // POSIX: both pointers are lent for the call, which fills `status` if it returns 0.
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}
