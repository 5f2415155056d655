import Foundation
import Synchronization

/// The first bytes of the file of a store, as they are on the disk. Source: "The Database Header" of SQLite's page on its file
/// format.
struct StoreHeader: Equatable {
  /// The size of a page, in bytes; 1 stands for 65,536.
  private let pageBytes: UInt32
  /// The random number of the store (`AuditSchema`); 0 until the first checkpoint.
  private let identity: UInt32
  /// The application id; 0 until the first checkpoint.
  private let application: UInt32

  private static let bytes = 100

  /// Reads the header of a file.
  /// - Parameter path: The path of a store that was opened for writing.
  /// - Returns: nil if the file cannot be read now: that says nothing about what is in it.
  /// - Throws: `AuditError` if the file begins with something else.
  init?(of path: String) throws(AuditError) {
    guard let read = HeldFiles.read(Self.bytes, of: path) else { return nil }
    let bytes = Array(read)
    guard bytes.count == Self.bytes, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw Self.overwritten(path)
    }
    func number(at place: Int, bytes count: Int = 4) -> UInt32 {
      bytes[place..<place + count].reduce(0) { $0 << 8 | UInt32($1) }
    }
    pageBytes = number(at: 16, bytes: 2)
    identity = number(at: 60)
    application = number(at: 68)
    guard application == 0 || Int64(application) == AuditSchema.applicationId else { throw Self.overwritten(path) }
  }

  /// Returns whether the file with this header can be the one that had an earlier header.
  func follows(_ earlier: StoreHeader) -> Bool {
    pageBytes == earlier.pageBytes
      && (identity == earlier.identity || earlier.identity == 0)
      && (application == earlier.application || earlier.application == 0)
  }

  /// Returns the error for a file that something else was written over.
  static func overwritten(_ path: String) -> AuditError {
    AuditError(
      kind: .overwritten, path: path, reason: "was overwritten while it was in use",
      advice: "move it away, together with its -wal and -shm; a new store is then filled from the topics")
  }
}

/// Descriptors of files, which are never closed: when a process closes any descriptor of a file, the system drops all locks that the
/// process has on that file, those of SQLite included. There is one for each file that a `StoreWatch` has looked at.
enum HeldFiles {
  private static let handles = Mutex<[StoreFileMark: FileHandle]>([:])

  /// Returns the first bytes of a file, fewer if it is shorter; nil if it cannot be read.
  static func read(_ count: Int, of path: String) -> Data? {
    guard let mark = StoreFileMark(of: path) else { return nil }
    return handles.withLock { handles in
      let handle = handles[mark] ?? FileHandle(forReadingAtPath: path)
      handles[mark] = handle
      do {
        try handle?.seek(toOffset: 0)
        return try handle?.read(upToCount: count) ?? (handle == nil ? nil : Data())
      } catch { return nil }
    }
  }
}
