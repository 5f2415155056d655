import Glibc

/// The permissions of the store's file, which contains push tokens and ids of devices.
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

  /// Returns whether users other than the owner can read or write a file; false if there is none.
  static func isOpenToOthers(_ path: String) -> Bool { (permissions(of: path) ?? 0) & 0o077 != 0 }

  /// Returns the permissions of a file, links followed; nil if there is none.
  private static func permissions(of path: String) -> mode_t? {
    var status = stat()
    // POSIX: both pointers are lent for the call, which fills `status` if it returns 0.
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}
