import Glibc

/// The signs by which a change of a file is seen: the time of its last change, its size and its number. A link, such as that of a mounted
/// secret, is followed.
public struct FileMark: Sendable, Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var bytes = 0
  private var number: UInt64 = 0

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
  }
}
