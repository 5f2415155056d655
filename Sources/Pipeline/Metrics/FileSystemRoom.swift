import Foundation

/// The room of the file system of a file or folder.
package struct FileSystemRoom: Sendable, Equatable {
  /// The bytes that users without privileges may still take.
  package var freeBytes: Int64
  /// The size of the file system, without the blocks that only privileged users may take. Bytes.
  package var totalBytes: Int64

  /// States the room of a file system.
  ///
  /// - Parameters:
  ///   - freeBytes: The bytes that users without privileges may still take.
  ///   - totalBytes: The size of the file system for them.
  package init(freeBytes: Int64, totalBytes: Int64) {
    self.freeBytes = freeBytes
    self.totalBytes = totalBytes
  }

  /// Asks the system, which answers without reading the disk.
  ///
  /// - Parameter path: A file or a folder. If it does not exist yet, its parent counts.
  /// - Returns: The room; nil if neither exists, or the system does not tell.
  package init?(of path: String) {
    var status = statvfs()
    // POSIX: both pointers are lent for the call, which fills `status` if it returns 0.
    if unsafe statvfs(path, &status) != 0 {
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
      guard unsafe statvfs(parent, &status) == 0 else { return nil }
    }
    let block = Int64(clamping: status.f_frsize)
    let (free, used) = (Int64(clamping: status.f_bavail), Int64(clamping: status.f_blocks &- status.f_bfree))
    freeBytes = free.multipliedReportingOverflow(by: block).partialValue
    totalBytes = (free + max(0, used)).multipliedReportingOverflow(by: block).partialValue
  }

  /// Returns the size of a SQLite database on the disk: its file and its write-ahead log. Bytes.
  ///
  /// - Parameter path: The path of the database.
  /// - Returns: The size; nil if there is no file.
  package static func databaseBytes(_ path: String) -> Int64? {
    fileBytes(path).map { $0 + (fileBytes(path + "-wal") ?? 0) }
  }

  private static func fileBytes(_ path: String) -> Int64? {
    var status = stat()
    // POSIX: both pointers are lent for the call, which fills `status` if it returns 0.
    return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }
}
