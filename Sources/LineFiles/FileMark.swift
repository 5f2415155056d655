import Glibc

/// The signs by which a change of a file is seen: the time of its last change, its size, its number and its permissions. A link, such as
/// that of a mounted secret, is followed.
public struct FileMark: Sendable, Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var bytes = 0
  private var number: UInt64 = 0
  private var permissions: UInt32 = 0

  /// Whether every user of the host can read, write or run the file, as far as its folders let them; false for no file.
  public var isOpenToAll: Bool { permissions & 0o007 != 0 }

  /// Looks at a file.
  ///
  /// - Parameter path: The path. A file that cannot be looked at has the mark of no file.
  public init(_ path: String) {
    var found = stat()
    // POSIX: the path is lent for the call, which fills `found`.
    guard unsafe stat(path, &found) == 0 else { return }
    seconds = found.st_mtim.tv_sec
    nanoseconds = found.st_mtim.tv_nsec
    bytes = Int(found.st_size)
    number = UInt64(found.st_ino)
    permissions = UInt32(found.st_mode) & 0o7777
  }
}
